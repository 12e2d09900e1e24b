/* SPDX-License-Identifier: MIT
 * What this connector itself says to people, in the language of its instance. Pure. */
#ifndef TEAMS_WORDS_H
#define TEAMS_WORDS_H

#include <turncast/plugin.h>

#define WORD(id, en, de) TEAMS_WORD_##id,
enum teams_word {
#include "teams_words.def"
};
#undef WORD

const char *teams_word(const struct tc_instance *inst, enum teams_word word);

#endif
