/* SPDX-License-Identifier: MIT
 * What can be filled in for a request: an input block for each question, and one for other words.
 * The blocks carry all that is needed to read them, so that any process can. */
#ifndef SLACK_FORM_INPUT_H
#define SLACK_FORM_INPUT_H

#include "form.h"

#define FORM_INPUTS 12 /* questions of one message; 50 blocks are its limit */

enum form_detail { FORM_FULL, FORM_SHORT, FORM_NONE }; /* with or without descriptions; no input */

/* False: it cannot be filled in here. */
bool form_input_add(struct tc_turn *turn, json_t *blocks, const struct tc_request *ev,
                    enum form_detail detail);
/* Whether what can be chosen fits into the input; else it is a list, and the answer is words. */
bool form_input_has_options(const json_t *question);
/* The list, as rich text. */
void form_input_list(struct tc_turn *turn, json_t *parts, const json_t *question);

#endif
