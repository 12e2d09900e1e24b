/* SPDX-License-Identifier: MIT
 * Owns the table of words. */
#include "teams_words.h"

#include <string.h>

#define WORD(id, en, de) [TEAMS_WORD_##id] = {en, de},
static const struct teams_word_row {
    const char *en, *de;
} rows[] = {
#include "teams_words.def"
};
#undef WORD

const char *teams_word(const struct tc_instance *inst, enum teams_word word)
{
    return strcmp(inst->language, "de") == 0 ? rows[word].de : rows[word].en;
}
