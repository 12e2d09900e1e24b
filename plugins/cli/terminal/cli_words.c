/* SPDX-License-Identifier: MIT
 * Table of words. */
#include "cli_words.h"

#include <stdio.h>
#include <string.h>

enum { ENGLISH, GERMAN };

#define WORD(id, en, de) [CLI_WORD_##id] = {[ENGLISH] = (en), [GERMAN] = (de)},
static const char *const rows[][2] = {
#include "cli_words.def"
};
#undef WORD

unsigned cli_words_language(const struct term *t, const char *language)
{
    return !t->ascii && strcmp(language, "de") == 0 ? GERMAN : ENGLISH;
}

const char *cli_word(const struct term *t, enum cli_word word)
{
    return rows[word][t->language];
}

void cli_words_set_decimal(const struct term *t, char *number)
{
    char *const point = strchr(number, '.');
    if (point && t->language == GERMAN)
        *point = ',';
}

void cli_words_format_cost(char out[32], const struct term *t, double usd)
{
    const bool german = t->language == GERMAN;
    snprintf(out, 32, "%s%.4f%s", german ? "" : "$", usd, german ? " $" : "");
    cli_words_set_decimal(t, out);
}
