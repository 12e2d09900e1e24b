/* SPDX-License-Identifier: MIT
 * Tables of the sentences that the host says to people in chats, one per language (texts.def,
 * texts_de.def): one id per sentence, named placeholders, plural forms.
 *
 * Each thread has a language in use, which is English outside of every TEXTS_IN. Whoever begins to
 * work for an instance, or for the turn of an instance, uses TEXTS_IN in the function that begins
 * it: when the function returns, the language is again the one of before. So no language reaches
 * the work for another instance on the same thread. */
#ifndef TEXT_SENTENCE_TEXTS_H
#define TEXT_SENTENCE_TEXTS_H

#include <stdint.h>

#include "base/bytes/buf.h"
#include "base/language.h"

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

/* The language in use of this thread. */
enum language texts_language(void);
/* For TEXTS_IN alone: changes it; the language of before. */
enum language texts_enter(enum language language);
void texts_leave(const enum language *before);
/* A statement: the language in use until the end of the block; once in nested blocks. */
#define TEXTS_IN(language_)                                                                        \
    __attribute__((__cleanup__(texts_leave), __unused__)) const enum language texts_before =       \
        texts_enter(language_)

/* Appends the sentence in the language in use. `values` has a value for each of its placeholders
 * (TEXT_VALUES); NULL: it has none. */
void texts_append(struct buf *out, enum text_id id, const struct text_value *values);
/* Appends a number with `digits` digits behind the decimal sign of the language in use. */
void texts_append_decimal(struct buf *out, double value, int digits);
/* A sentence without placeholders, in the language in use. */
const char *texts_get(enum text_id id);
/* The same in that language. */
const char *texts_get_in(enum language language, enum text_id id);
/* Appends the sentence that has this text in English, in the language in use, or the text itself if
 * no sentence has it. value: of its placeholder; or NULL: it has none. */
void texts_append_english(struct buf *out, const char *english, const char *value);

/* For tests: the forms of a sentence. */
struct text_forms {
    const char *id;
    const char *count; /* placeholder that chooses the form; NULL: there is one form, `other` */
    const char *one, *other;
};
const struct text_forms *texts_find_forms(enum language language, enum text_id id);

#endif
