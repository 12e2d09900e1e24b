/* SPDX-License-Identifier: MIT
 * A request of the agent as blocks: what it is about, what can be chosen, what was filled in. Words
 * of the agent stand in rich text, where nothing is markup or mentions anybody, or are disarmed. */
#ifndef SLACK_FORM_H
#define SLACK_FORM_H

#include <jansson.h>
#include <stdbool.h>

#include <turncast/plugin.h>

/* Of what is to be allowed: a block holds it, and a person reads it. */
#define FORM_PREVIEW_UNITS 2400

/* A part of what does not fit into the blocks of the request, as blocks. */
json_t *form_part(const char *head, const struct tc_piece *piece);
/* "Approval needed: Bash". Of the callback. */
const char *form_title(struct tc_turn *turn, const struct tc_request *ev);
/* What it is about: an array of blocks, also after it was decided. */
json_t *form_about(struct tc_turn *turn, const struct tc_request *ev);
/* The same, with what can be filled in and a button for each choice. */
json_t *form_blocks(struct tc_turn *turn, const struct tc_request *ev, const char *ticket);
/* How it ended, as a block. */
json_t *form_end(const char *words);

#define FORM_CHOOSE "turncast_choose_" /* begins the action_id of a button of a choice */

/* The value of such a button; `ticket` and `choice` have room for 64. False: it is none of ours. */
bool form_read_choice(const char *value, char *ticket, char *choice);

struct form_filled {
    json_t *answers;  /* the question's id to a text or an array of texts; the caller's */
    const char *text; /* to what has no id; of the payload; or NULL */
    bool missing;     /* not all was filled in */
};
/* What a person filled in, from the payload of a button. */
struct form_filled form_read(const json_t *payload);

#endif
