/* SPDX-License-Identifier: MIT
 * Tables of the sentences that the host says to people in chats, one per language (texts.def,
 * texts_de.def): one id per sentence, named placeholders, plural forms.
 *
 * Each thread has a current language, which is English outside of every TEXTS_IN. A function that
 * starts work for an instance, or for a turn of an instance, uses TEXTS_IN: when the function
 * returns, the previous language is restored. So the language of one instance never affects work
 * for another on the same thread. */
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
    const char *text; /* NULL: the number is the value */
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

/* The current language of this thread. */
enum language texts_language(void);
/* For TEXTS_IN only: sets the language; returns the previous one. */
enum language texts_enter(enum language language);
void texts_leave(const enum language *before);
/* A statement: sets the language until the end of the block; once per block. */
#define TEXTS_IN(language_)                                                                        \
    __attribute__((__cleanup__(texts_leave), __unused__)) const enum language texts_before =       \
        texts_enter(language_)

/* Appends the sentence in the current language. `values` has a value for each placeholder
 * (TEXT_VALUES); NULL: the sentence has none. */
void texts_append(struct buf *out, enum text_id id, const struct text_value *values);
/* Appends a number with `digits` digits behind the decimal sign of the current language. */
void texts_append_decimal(struct buf *out, double value, int digits);
/* A sentence without placeholders, in the current language. */
const char *texts_get(enum text_id id);
/* The same in that language. */
const char *texts_get_in(enum language language, enum text_id id);
/* Appends, in the current language, the sentence that has this text in English, or the text itself
 * if no sentence has it. value: of its placeholder; NULL: it has none. */
void texts_append_english(struct buf *out, const char *english, const char *value);

/* The forms of a sentence, for tests. */
struct text_forms {
    const char *id;
    const char *count; /* placeholder that selects the form; NULL: there is one form, `other` */
    const char *one, *other;
};
const struct text_forms *texts_find_forms(enum language language, enum text_id id);

#endif
