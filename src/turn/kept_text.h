/* SPDX-License-Identifier: MIT
 * The agent's text since its last tool call: the answer of a turn that is stopped before the agent
 * has given one. Keeps the first KEPT_MAX bytes. No I/O; any thread. */
#ifndef TURN_KEPT_TEXT_H
#define TURN_KEPT_TEXT_H

#include "base/bytes/buf.h"
#include "event/event.h"

#define KEPT_MAX ((size_t)256 << 10)

struct kept {
    struct buf text;
    struct buf message_id; /* message of that text; empty: unknown */
};

void kept_text_fini(struct kept *k);
/* Takes an event that is not from a sub-agent. */
void kept_text_see(struct kept *k, const struct event *ev);
/* Fills in a final; borrows from k. No effect without text. */
void kept_text_fill(const struct kept *k, struct tc_final *final);

#endif
