/* SPDX-License-Identifier: MIT
 * Coalescing of neighbouring events of the same message or tool, without loss. Pure. */
#ifndef PLUGIN_QUEUE_EVENT_COALESCE_H
#define PLUGIN_QUEUE_EVENT_COALESCE_H

#include <stdbool.h>

#include "base/bytes/buf.h"
#include "event/event.h"

/* Narration, thinking, or progress with a piece of text, of the same message or tool and the same
 * place in the tree of agents. `strict`: also what stands in x must be the same. */
bool event_coalesce_is_allowed(const struct event *older, const struct event *newer, bool strict);
/* The text that is joined; p NULL: this event cannot be joined with any. */
struct str event_coalesce_text(const struct event *ev);
/* A copy of `newest` with the joined text. The caller owns it. */
struct shared_event *event_coalesce_build(const struct event *newest, const struct buf *text);

#endif
