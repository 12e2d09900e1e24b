/* SPDX-License-Identifier: MIT
 * Internal interface between the files of the guard. */
#ifndef TURN_GUARD_INTERNAL_H
#define TURN_GUARD_INTERNAL_H

#include "turn/guard.h"

/* Fills in the host's part of meta, numbers the draft and emits it. */
void guard_emit(struct guard *g, struct event *ev);

/* Calls, progress, results, requests and steps: events that form pairs (guard_pairing.c). */
void guard_feed_paired(struct guard *g, struct event *ev);
/* Ends every open call and step and, with `requests`, withdraws open requests. */
void guard_close_items(struct guard *g, bool requests);

#endif
