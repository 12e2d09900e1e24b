/* SPDX-License-Identifier: MIT
 * The newest narration of the main agent: the text between two other events, how much of it has
 * been sent to a native stream, and whether it is the beginning of an answer. Pure. */
#ifndef CHAT_STREAM_CHAT_SAID_H
#define CHAT_STREAM_CHAT_SAID_H

#include <stdbool.h>
#include <stddef.h>

#include "base/bytes/buf.h"
#include "base/str.h"
#include "chat/show/chat_view.h"

/* An all-zero struct is valid and empty. */
struct chat_said {
    struct buf text; /* Markdown */
    char message_id[CHAT_VIEW_ID];
    size_t told;      /* bytes that have been sent to a stream */
    size_t sending;   /* those of them that are in requests, confirmed or under way */
    size_t confirmed; /* those of them that the service has confirmed */
    bool over;        /* something else followed */
    bool shown;       /* a stream has confirmed a part of it */
    bool gone;        /* such a stream is gone */
};

void chat_said_fini(struct chat_said *s);
/* A text of that message begins; message_id NULL: of one that is not known. */
void chat_said_begin(struct chat_said *s, const char *message_id);
/* Whether narration of that message continues the text: no other event has come between. */
bool chat_said_goes_on(const struct chat_said *s, const char *message_id);
/* The text belongs to that message. */
bool chat_said_is_of(const struct chat_said *s, const char *message_id);
/* False: too much text. */
bool chat_said_add(struct chat_said *s, const char *text, size_t len);
/* The next text for the stream: all that has not been told (all), or the part of it that later
 * narration cannot change. Counts as told from here on. Valid until the next change. */
struct str chat_said_tell(struct chat_said *s, bool all);
/* The rest of the answer, which has not been told. NULL: the text that was told is not the
 * beginning of the answer, or was deleted. */
const char *chat_said_rest(const struct chat_said *s, const char *answer);

#endif
