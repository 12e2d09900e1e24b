/* SPDX-License-Identifier: MIT
 * Checks the instance names given by a client. */
#include "api/turns/turn_instances.h"

#include <string.h>

#include "base/cleanup.h"
#include "core/dispatch/named_instance.h"
#include "event/json/json_writer.h"

#define INSTANCES_MAX 100

struct turn_instances_search {
    const char *name;
    bool found;
    struct buf all; /* lists the known names */
};

static void turn_instances_compare(void *ctx, const char *name)
{
    struct turn_instances_search *const s = ctx;
    s->found |= strcmp(s->name, name) == 0;
    buf_printf(&s->all, "%s%s", s->all.len ? ", " : "", name);
}

/* A name is known if its instance runs or is being started; any other instance would never receive
 * the turn. */
static void turn_instances_check_known(const struct dispatch *d, const char *name, struct buf *why)
{
    struct turn_instances_search s = {.name = name};
    dispatch_each_name(d, turn_instances_compare, &s);
    if (!s.found)
        buf_printf(why, "Unknown instance \"%s\" (running: %s).", name,
                   s.all.len ? s.all.p : "none");
    buf_fini(&s.all);
}

static void turn_instances_check_scope(const struct dispatch *d, const char *name,
                                       const struct conf_scope_turn *turn, struct buf *why)
{
    struct tc_err unused = {0};
    if (named_instance_check(d, name, turn, &unused) == NAMED_NOT_FOR_IT)
        buf_printf(why,
                   "Instance \"%s\" does not show turns of agent \"%s\" in conversation \"%s\".",
                   name, turn->agent, turn->conversation);
}

static void turn_instances_add(struct buf *names, const json_t *item, const struct dispatch *d,
                               const struct conf_scope_turn *turn, struct buf *why)
{
    const char *const name = json_string_value(item);
    if (!name || !*name || strlen(name) != json_string_length(item)) {
        buf_add_str(why, "instances must be a list of names.");
        return;
    }
    turn_instances_check_known(d, name, why);
    if (!why->len)
        turn_instances_check_scope(d, name, turn, why);
    if (!why->len)
        conf_scope_add_names(names, name);
}

char *turn_instances_read(const json_t *body, const struct dispatch *d,
                          const struct conf_scope_turn *turn, struct buf *why)
{
    const json_t *const list = json_object_get(body, "instances");
    CLEANUP_BUF struct buf names = {0};
    if (!list || json_is_null(list))
        return NULL;
    if (!json_is_array(list))
        buf_add_str(why, "instances must be a list of names.");
    else if (json_array_size(list) > INSTANCES_MAX)
        buf_printf(why, "instances has too many names (limit: %d).", INSTANCES_MAX);
    for (size_t i = 0; !why->len && i < json_array_size(list); i++)
        turn_instances_add(&names, json_array_get(list, i), d, turn, why);
    return why->len || !names.len ? NULL : buf_steal(&names);
}

void turn_instances_append_json(struct buf *out, const char *names)
{
    if (!names || !*names)
        return;
    jsonw_key(out, "instances");
    buf_add_char(out, '[');
    for (const char *at = names; *at;) {
        const size_t n = strcspn(at, "\n");
        if (at != names)
            buf_add_char(out, ',');
        jsonw_string(out, at, n);
        at += n + (at[n] != '\0');
    }
    buf_add_char(out, ']');
}
