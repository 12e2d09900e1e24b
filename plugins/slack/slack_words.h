/* SPDX-License-Identifier: MIT
 * What this connector itself says to people, in the language of its instance. Pure. */
#ifndef SLACK_WORDS_H
#define SLACK_WORDS_H

#include <turncast/plugin.h>

#define WORD(id, en, de) SLACK_WORD_##id,
enum slack_word {
#include "slack_words.def"
};
#undef WORD

const char *slack_word(const struct tc_instance *inst, enum slack_word word);

#endif
