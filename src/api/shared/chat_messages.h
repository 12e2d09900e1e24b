/* SPDX-License-Identifier: MIT
 * Parses a list of chat messages (role, content) and flattens it into one prompt. Pure. */
#ifndef API_SHARED_CHAT_MESSAGES_H
#define API_SHARED_CHAT_MESSAGES_H

#include <jansson.h>

#include "base/bytes/buf.h"
#include "base/str.h"

struct chat_messages {
    struct buf earlier; /* "[role] content" lines of all messages before the last one of a person */
    struct buf last;    /* text of the last message of a person */
};

/* NULL, or why the list is refused: not a list, no message of a person, or content of the last
 * message that is not text. Free it in both cases. */
const char *chat_messages_parse(struct chat_messages *m, const json_t *list);
void chat_messages_fini(struct chat_messages *m);
/* Appends the whole list, for an agent that does not know the conversation yet; a single message is
 * appended without a role. `last` replaces the last message. */
void chat_messages_append_prompt(const struct chat_messages *m, struct buf *out, struct str last);

#endif
