/* SPDX-License-Identifier: MIT
 * Owns the table of sentences, and how placeholders are replaced. */
#include "text/sentence/texts.h"

#include <inttypes.h>
#include <string.h>

#include "base/invariant.h"
#include "base/plural.h"

#define TEXT(id, text) [TEXT_##id] = {#id, NULL, NULL, text},
#define TEXT_PLURAL(id, count, one, other) [TEXT_##id] = {#id, count, one, other},
static const struct text_forms rows[TEXT_COUNT] = {
#include "text/sentence/texts.def"
};

const struct text_forms *texts_find_forms(enum text_id id)
{
    ASSERT(id < TEXT_COUNT);
    return &rows[id];
}

static const struct text_value *texts_find_value(const struct text_value *values, const char *name,
                                                 size_t len)
{
    for (; values && values->name; values++)
        if (strlen(values->name) == len && memcmp(values->name, name, len) == 0)
            return values;
    return NULL;
}

static const char *texts_choose_form(const struct text_forms *row, const struct text_value *values)
{
    if (!row->count)
        return row->other;
    const struct text_value *const n = texts_find_value(values, row->count, strlen(row->count));
    ASSERT(n && !n->text);
    return PLURAL(n->number, row->one, row->other);
}

static void texts_append_value(struct buf *out, const struct text_value *value)
{
    ASSERT(value);
    if (value->text)
        buf_add_str(out, value->text);
    else
        buf_printf(out, "%" PRId64, value->number);
}

void texts_append(struct buf *out, enum text_id id, const struct text_value *values)
{
    const char *at = texts_choose_form(texts_find_forms(id), values);
    for (const char *open; (open = strchr(at, '{')); at = strchr(open, '}') + 1) {
        const size_t len = strcspn(open + 1, "}");
        ASSERT(open[1 + len] == '}');
        buf_add(out, at, (size_t)(open - at));
        texts_append_value(out, texts_find_value(values, open + 1, len));
    }
    buf_add_str(out, at);
}

const char *texts_get(enum text_id id)
{
    const struct text_forms *const row = texts_find_forms(id);
    ASSERT(!row->count && !strchr(row->other, '{'));
    return row->other;
}
