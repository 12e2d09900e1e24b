/* SPDX-License-Identifier: MIT
 * What people read of an agent's request, made from what the agent sent: revealed
 * (text/text_reveal.h), and whole. Every surface shows this text, so none can show another command
 * than the one that will run. Pure. */
#ifndef TURN_REQUEST_PREVIEW_H
#define TURN_REQUEST_PREVIEW_H

#include <turncast/plugin.h>

#include "base/arena.h"

#define SHOW_BYTES ((size_t)256 << 10) /* of a preview; a longer one ends by saying so */

/* Sets `preview` of an open request, and reveals its tool, subject, message, reason and questions
 * in place (ids of questions stay). `args` and `schema` stay as the agent sent them. Strings are
 * the arena's. Does nothing to a request that is resolved, or has a preview. */
void request_preview_request(struct arena *a, struct tc_request *r);

#endif
