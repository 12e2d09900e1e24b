/* SPDX-License-Identifier: MIT
 * An open request of the agent on the terminal: its title, its text and its questions. */
#ifndef CLI_ASKED_H
#define CLI_ASKED_H

#include <jansson.h>

#include <turncast/plugin.h>

#include "terminal/terminal.h"

/* All of the turn's memory. */
struct terminal_request {
    struct terminal_request *next;
    struct tc_turn *turn;
    const char *id, *ticket, *kind, *choices;
    const char *tool, *preview, *subject, *args, *reason, *message, *questions; /* each or NULL */
    int64_t expires_ms;
};

/* NULL: the request cannot be answered here, or no longer. */
struct terminal_request *terminal_request_new(struct tc_turn *turn, const struct tc_request *ev);
bool terminal_request_offers(const struct terminal_request *r, const char *choice);
/* Writes the whole call or question as the agent sent it, without bytes that act on the terminal.
 */
void terminal_request_put(const struct terminal_request *r, struct term *t);
/* Writes one question of the request, with its options numbered from 1. */
void terminal_request_put_question(const json_t *question, struct term *t);
/* Returns the text of an option; NULL: the option does not exist. Borrowed. */
const char *terminal_request_option(const json_t *question, size_t number);

#endif
