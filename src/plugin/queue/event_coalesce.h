/* SPDX-License-Identifier: MIT
 * Coalescing of neighbouring events of the same message or tool, without loss. Pure. */
#ifndef PLUGIN_QUEUE_EVENT_COALESCE_H
#define PLUGIN_QUEUE_EVENT_COALESCE_H

#include <stdbool.h>

#include "base/bytes/buf.h"
#include "event/event.h"

/* Whether both are narration, thinking, or progress with a piece of text, of the same message or
 * tool and the same sub-agent. `strict`: x must be equal, too. */
bool event_coalesce_is_allowed(const struct event *older, const struct event *newer, bool strict);
/* The text to join; p NULL: the event cannot be joined. */
struct str event_coalesce_text(const struct event *ev);
/* A copy of `newest` with the joined text, owned by the caller. */
struct shared_event *event_coalesce_build(const struct event *newest, const struct buf *text);

#endif
