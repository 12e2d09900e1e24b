/* SPDX-License-Identifier: MIT
 * Canonical JSON line of an event: encoder and strict decoder, both driven by the field tables.
 * Unknown members are preserved in meta.x. */
#ifndef EVENT_CODEC_H
#define EVENT_CODEC_H

#include "base/attr.h"
#include "base/bytes/buf.h"
#include "event/event.h"

/* Appends the line, no newline. Strings are valid UTF-8, JSON members valid JSON already. */
void codec_encode(struct buf *out, const struct event *ev);
/* Appends the payload object only. */
void codec_encode_payload(struct buf *out, const struct event *ev);
/* Decodes a line; strings are allocated in the arena. Unknown payload keys, and optional ones of a
 * wrong type, go to meta.x, behind the members of an existing "x". null means absent; absent flags
 * are false. -1: not a canonical event (not JSON, unknown type, a required key missing or of the
 * wrong type); *why (may be NULL) has the reason, a static string or one in the arena. */
int codec_decode(struct event *ev, struct arena *a, const char *line, size_t len,
                 const char **why) MUST_CHECK;

#endif
