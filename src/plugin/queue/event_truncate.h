/* SPDX-License-Identifier: MIT
 * Truncation of large events: keeps head and tail of a long text with a marker between them.
 * Pure. */
#ifndef PLUGIN_QUEUE_EVENT_TRUNCATE_H
#define PLUGIN_QUEUE_EVENT_TRUNCATE_H

#include "base/bytes/buf.h"
#include "event/event.h"

#define TRIM_TOOL ((size_t)4096)       /* bytes kept of one text of a tool or message */
#define TRIM_NARRATION ((size_t)65536) /* bytes kept of narration above the hard limit */

/* Appends text; if it is longer than `keep`, its head and tail with "[… N bytes left out …]"
 * between. Cuts between characters; the result is at most a few dozen bytes longer than keep. */
void event_truncate_text(struct buf *out, struct str text, size_t keep);
/* A smaller copy of a tool_call, tool_result or message: arguments become
 * {"_truncated":head,"_bytes":N}, results get `truncated`. NULL: it has no long text. The caller
 * owns it. */
struct shared_event *event_truncate_tool(const struct event *ev);
/* Joins narration in the same way. */
struct shared_event *event_truncate_narration(const struct event *ev);

#endif
