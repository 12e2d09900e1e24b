/* SPDX-License-Identifier: MIT
 * Parses a list of chat messages (role, content) and flattens it into one prompt. Pure. */
#ifndef API_SHARED_CHAT_MESSAGES_H
#define API_SHARED_CHAT_MESSAGES_H

#include <jansson.h>

#include "base/bytes/buf.h"
#include "base/str.h"

struct chat_messages {
    struct buf earlier; /* "[role] content" lines of all before the last of a person */
    struct buf last;    /* that one's text */
};

/* NULL, or why the list is refused: it is none, nobody says anything, what is said last is not
 * text. To be freed either way. */
const char *chat_messages_parse(struct chat_messages *m, const json_t *list);
void chat_messages_fini(struct chat_messages *m);
/* Appends the whole, for an agent that knows nothing of it yet: a message that stands alone as it
 * is. `last` stands for the last one. */
void chat_messages_append_prompt(const struct chat_messages *m, struct buf *out, struct str last);

#endif
