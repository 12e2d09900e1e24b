/* SPDX-License-Identifier: MIT
 * Owns the tables of sentences, the current language of each thread, and the replacement of
 * placeholders. */
#include "text/sentence/texts.h"

#include <inttypes.h>
#include <string.h>

#include "base/invariant.h"
#include "base/plural.h"

#define TEXT(id, text) [TEXT_##id] = {#id, NULL, NULL, text},
#define TEXT_PLURAL(id, count, one, other) [TEXT_##id] = {#id, count, one, other},
static const struct text_forms tables[LANGUAGE_COUNT][TEXT_COUNT] = {
    [LANGUAGE_EN] =
        {
#include "text/sentence/texts.def"
        },
    [LANGUAGE_DE] =
        {
#include "text/sentence/texts_de.def"
        },
};
#undef TEXT
#undef TEXT_PLURAL

/* A German sentence that is missing, duplicated or misplaced does not compile; nor does an id that
 * English lacks. */
#define TEXT(id, text) GERMAN_##id,
#define TEXT_PLURAL(id, count, one, other) GERMAN_##id,
enum {
#include "text/sentence/texts_de.def"
    GERMAN_COUNT
};
#undef TEXT
#undef TEXT_PLURAL
#define TEXT(id, text)                                                                             \
    _Static_assert((int)GERMAN_##id == (int)TEXT_##id, #id " is elsewhere in texts_de.def");
#define TEXT_PLURAL(id, count, one, other) TEXT(id, other)
#include "text/sentence/texts.def"
_Static_assert((int)GERMAN_COUNT == (int)TEXT_COUNT, "texts_de.def has the ids of texts.def");

static _Thread_local enum language in_use;

enum language texts_language(void)
{
    return in_use;
}

enum language texts_enter(enum language language)
{
    ASSERT(language < LANGUAGE_COUNT);
    const enum language before = in_use;
    in_use = language;
    return before;
}

void texts_leave(const enum language *before)
{
    in_use = *before;
}

const struct text_forms *texts_find_forms(enum language language, enum text_id id)
{
    ASSERT(language < LANGUAGE_COUNT && id < TEXT_COUNT);
    return &tables[language][id];
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
    const char *at = texts_choose_form(texts_find_forms(in_use, id), values);
    for (const char *open; (open = strchr(at, '{')); at = strchr(open, '}') + 1) {
        const size_t len = strcspn(open + 1, "}");
        ASSERT(open[1 + len] == '}');
        buf_add(out, at, (size_t)(open - at));
        texts_append_value(out, texts_find_value(values, open + 1, len));
    }
    buf_add_str(out, at);
}

static const char *texts_translate(const char *english)
{
    for (size_t id = 0; id < TEXT_COUNT; id++)
        if (!tables[LANGUAGE_EN][id].count && strcmp(tables[LANGUAGE_EN][id].other, english) == 0)
            return tables[in_use][id].other;
    return english;
}

void texts_append_english(struct buf *out, const char *english, const char *value)
{
    const char *const text = texts_translate(english);
    const char *const open = value ? strchr(text, '{') : NULL;
    const char *const end = open ? strchr(open, '}') : NULL;
    buf_add(out, text, end ? (size_t)(open - text) : strlen(text));
    if (end) {
        buf_add_str(out, value);
        buf_add_str(out, end + 1);
    }
}

void texts_append_decimal(struct buf *out, double value, int digits)
{
    static const char signs[LANGUAGE_COUNT] = {[LANGUAGE_EN] = '.', [LANGUAGE_DE] = ','};
    const size_t at = out->len;
    buf_printf(out, "%.*f", digits, value);
    char *const sign = memchr(out->p + at, '.', out->len - at);
    if (sign)
        *sign = signs[in_use];
}

const char *texts_get_in(enum language language, enum text_id id)
{
    const struct text_forms *const row = texts_find_forms(language, id);
    ASSERT(!row->count && !strchr(row->other, '{'));
    return row->other;
}

const char *texts_get(enum text_id id)
{
    return texts_get_in(in_use, id);
}
