/* SPDX-License-Identifier: MIT
 * Table of the sentences that the host says to people in chats (texts.def): one id per sentence,
 * named placeholders, plural forms. Pure. */
#ifndef TEXT_SENTENCE_TEXTS_H
#define TEXT_SENTENCE_TEXTS_H

#include <stdint.h>

#include "base/bytes/buf.h"

#define TEXT(id, text) TEXT_##id,
#define TEXT_PLURAL(id, count, one, other) TEXT_##id,
enum text_id {
#include "text/sentence/texts.def"
    TEXT_COUNT
};
#undef TEXT
#undef TEXT_PLURAL

/* Value of a placeholder. */
struct text_value {
    const char *name; /* NULL ends a list */
    const char *text; /* NULL: the number */
    int64_t number;
};

#define TEXT_STR(name_, text_)                                                                     \
    {                                                                                              \
        .name = (name_), .text = (text_)                                                           \
    }
#define TEXT_INT(name_, number_)                                                                   \
    {                                                                                              \
        .name = (name_), .number = (int64_t)(number_)                                              \
    }
#define TEXT_VALUES(...) ((const struct text_value[]){__VA_ARGS__, {.name = NULL}})

/* Appends the sentence. `values` has a value for each of its placeholders (TEXT_VALUES); NULL: it
 * has none. */
void texts_append(struct buf *out, enum text_id id, const struct text_value *values);
/* A sentence without placeholders. */
const char *texts_get(enum text_id id);

/* For translations and tests: the forms of a sentence. */
struct text_forms {
    const char *id;
    const char *count; /* placeholder that chooses the form; NULL: there is one form, `other` */
    const char *one, *other;
};
const struct text_forms *texts_find_forms(enum text_id id);

#endif
