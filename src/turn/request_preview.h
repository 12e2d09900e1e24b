/* SPDX-License-Identifier: MIT
 * The text of an agent's request for people: complete, with invisible characters spelled out
 * (text/text_reveal.h). Every user interface shows this text, so none can show another command than
 * the one that will run. Pure. */
#ifndef TURN_REQUEST_PREVIEW_H
#define TURN_REQUEST_PREVIEW_H

#include <turncast/plugin.h>

#include "base/arena.h"

#define SHOW_BYTES ((size_t)256 << 10) /* limit of a preview; a longer one ends with a note */

/* Sets `preview` of an open request, and reveals its tool, subject, message, reason and questions
 * in place (ids of questions stay). `args` and `schema` stay as the agent sent them. Strings are in
 * the arena. No effect on a request that is resolved, or has a preview. */
void request_preview_request(struct arena *a, struct tc_request *r);

#endif
