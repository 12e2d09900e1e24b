/* SPDX-License-Identifier: MIT
 * Internal interface between the files of the guard. */
#ifndef TURN_GUARD_INTERNAL_H
#define TURN_GUARD_INTERNAL_H

#include "turn/guard.h"

/* Fills in what the host knows, numbers the draft and hands it on. */
void guard_emit(struct guard *g, struct event *ev);

/* Calls, progress, results, requests and steps: what pairs comes in pairs (guard_pairing.c). */
void guard_feed_paired(struct guard *g, struct event *ev);
/* Ends every call and step that is open and, with `requests`, takes back open requests. */
void guard_close_items(struct guard *g, bool requests);

#endif
