/* SPDX-License-Identifier: MIT
 * Encodes both forms of an entry, and compares versions. */
#include "core/shared/shared_entry.h"

#include <string.h>

#include "base/alloc.h"
#include "event/json/json_reader.h"
#include "event/json/json_writer.h"

/* ---- the rule ---- */

static bool shared_entry_is_same(const struct shared_copy *own, const struct shared_entry *other)
{
    return own->value && other->value.p ? str_is(other->value, own->value)
                                        : !own->value && !other->value.p;
}

/* Concurrent changes: neither side knew of the other's. */
static enum shared_choice shared_entry_choose_at_once(const struct shared_copy *own,
                                                      const struct shared_entry *other)
{
    return own->value && !other->value.p ? SHARED_TAKE : SHARED_KEEP;
}

enum shared_choice shared_entry_choose(const struct shared_copy *own,
                                       const struct shared_entry *other)
{
    if (!own->n)
        return SHARED_TAKE;
    if (shared_entry_is_same(own, other))
        return SHARED_SAME;
    if (own->is_changed)
        return bus_origin_equal(&own->base, &other->from) ? SHARED_KEEP
                                                          : shared_entry_choose_at_once(own, other);
    if (own->n != other->n)
        return other->n > own->n ? SHARED_TAKE : SHARED_KEEP;
    return own->value ? SHARED_TAKE : SHARED_KEEP;
}

/* ---- forms ---- */

void shared_entry_write(struct buf *out, const struct bus_origin *from,
                        const struct shared_copy *own)
{
    buf_add_char(out, '{');
    bus_origin_write(out, from);
    jsonw_member_int(out, "changes", own->n);
    jsonw_member_json(out, "value", own->value);
    buf_add_char(out, '}');
}

int shared_entry_read(struct str message, struct shared_entry *e)
{
    *e = (struct shared_entry){.value = {NULL, 0}};
    if (!json_reader_is_valid(message) || bus_origin_read(message, &e->from) < 0)
        return -1;
    e->n = bus_message_number(message, "/changes");
    e->value = json_reader_pointer(message, "/value");
    return 0;
}

void shared_copy_write(struct buf *out, const struct shared_copy *own)
{
    shared_entry_write(out, &own->base, own);
    if (!own->is_changed)
        return;
    out->len--;
    jsonw_member_bool(out, "changed", true);
    buf_add_char(out, '}');
}

int shared_copy_read(struct str text, struct shared_copy *own)
{
    *own = (struct shared_copy){.value = NULL};
    if (!json_reader_is_valid(text))
        return -1;
    if (bus_origin_read(text, &own->base) < 0)
        own->base = (struct bus_origin){0}; /* the servers never had a version */
    const struct str value = json_reader_pointer(text, "/value");
    own->n = bus_message_number(text, "/changes");
    own->value = value.p ? xstrndup(value.p, value.len) : NULL;
    own->is_changed = str_is(json_reader_pointer(text, "/changed"), "true");
    return 0;
}
