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
    bool over;        /* another event followed */
    bool shown;       /* a stream has confirmed a part of it */
    bool gone;        /* a stream that confirmed a part of it was deleted */
};

void chat_said_fini(struct chat_said *s);
/* Begins a text of that message; message_id NULL: the message is not known. */
void chat_said_begin(struct chat_said *s, const char *message_id);
/* Whether narration of that message continues the text: no other event has come between. */
bool chat_said_continues(const struct chat_said *s, const char *message_id);
/* Whether the text belongs to that message. */
bool chat_said_is_of_message(const struct chat_said *s, const char *message_id);
/* Adds text. False: the text is too long. */
bool chat_said_add(struct chat_said *s, const char *text, size_t len);
/* Returns the next text for the stream: the complete rest (all), or the part of it that later
 * narration cannot change. The text then counts as sent. Valid until the next change. */
struct str chat_said_read_new(struct chat_said *s, bool all);
/* Returns the rest of the answer, which has not been sent. NULL: the text that was sent is not the
 * beginning of the answer, or was deleted. */
const char *chat_said_rest_of_answer(const struct chat_said *s, const char *answer);

#endif
