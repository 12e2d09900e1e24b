/* SPDX-License-Identifier: MIT
 * Owns the table of words. */
#include "slack_words.h"

#include <string.h>

#define WORD(id, en, de) [SLACK_WORD_##id] = {en, de},
static const struct slack_word_row {
    const char *en, *de;
} rows[] = {
#include "slack_words.def"
};
#undef WORD

const char *slack_word(const struct tc_instance *inst, enum slack_word word)
{
    return strcmp(inst->language, "de") == 0 ? rows[word].de : rows[word].en;
}
