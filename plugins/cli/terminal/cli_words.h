/* SPDX-License-Identifier: MIT
 * Words of this connector on a terminal, in the language of its instance. Pure. */
#ifndef CLI_WORDS_H
#define CLI_WORDS_H

#include "terminal.h"

#define WORD(id, en, de) CLI_WORD_##id,
enum cli_word {
#include "cli_words.def"
};
#undef WORD

/* The column of the table for term.language, from the language of the instance. English for a
 * terminal that shows only ASCII. */
unsigned cli_words_language(const struct term *t, const char *language);
const char *cli_word(const struct term *t, enum cli_word word);
/* "$0.0142" */
void cli_words_format_cost(char out[32], const struct term *t, double usd);
/* Replaces the decimal point of a number by the sign of the language. */
void cli_words_set_decimal(const struct term *t, char *number);

#endif
