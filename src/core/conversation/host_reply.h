/* SPDX-License-Identifier: MIT
 * The replies of the host to a person: to commands, and to messages that have to wait. Each
 * function appends whole sentences in plain text. Pure but for the clock. */
#ifndef CORE_CONVERSATION_HOST_REPLY_H
#define CORE_CONVERSATION_HOST_REPLY_H

#include "core/conversation/conversation.h"
#include "core/settings/visibility_store.h"

/* restarts: turncast is shutting down, and the next one runs the message. */
void host_reply_queued(struct buf *out, const struct conversation *c, bool restarts);
/* The conversation is another host's; away: or it is not known whose, because Redis is away. */
void host_reply_unlocked(struct buf *out, const struct conversation *c, bool away);
/* limit: conversations.queue */
void host_reply_full(struct buf *out, int64_t limit);
/* ran: a turn; worked: the agent, in the background; dropped: queued messages. */
void host_reply_stopped(struct buf *out, bool ran, bool worked, size_t dropped);
void host_reply_cleared(struct buf *out, const struct taken_back *t);
/* The conversation may be NULL. `prefix` is what the person writes in front of commands. */
void host_reply_queue(struct buf *out, const struct conversation *c, char prefix);
/* The lines of /status. The conversation may be NULL: nothing is queued or running in it. */
void host_reply_running(struct buf *out, const struct conversation *c);
void host_reply_session(struct buf *out, const char *session);
void host_reply_visibility(struct buf *out, struct visibility v);
/* Appends nothing when the setting was saved where it belongs. */
void host_reply_saved(struct buf *out, enum visibility_store_result saved);

#endif
