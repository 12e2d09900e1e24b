/* SPDX-License-Identifier: MIT
 * Replies of the host to people: to commands, and to queued messages. Each function appends whole
 * sentences in plain text. Pure except for the clock. */
#ifndef CORE_CONVERSATION_HOST_REPLY_H
#define CORE_CONVERSATION_HOST_REPLY_H

#include "core/conversation/conversation.h"
#include "core/lock/turn_lock.h"
#include "core/settings/visibility_store.h"

/* restarts: turncast is shutting down, and runs the message after the restart. */
void host_reply_queued(struct buf *out, const struct conversation *c, bool restarts);
/* Another host has the conversation; or the holder is unknown, because the locks (core/lock) are
 * unavailable. */
void host_reply_unlocked(struct buf *out, const struct conversation *c,
                         const struct turn_locks *locks);
/* limit: conversations.queue */
void host_reply_full(struct buf *out, int64_t limit);
/* ran: a turn; worked: the agent, in the background; dropped: queued messages. */
void host_reply_stopped(struct buf *out, bool ran, bool worked, size_t dropped);
void host_reply_cleared(struct buf *out, const struct taken_back *t);
/* The conversation may be NULL. `prefix` is the character that the person writes before
 * commands. */
void host_reply_queue(struct buf *out, const struct conversation *c, char prefix);
/* The lines of /status. conversation NULL: nothing is queued or running. */
void host_reply_running(struct buf *out, const struct conversation *c);
void host_reply_session(struct buf *out, const char *session);
void host_reply_visibility(struct buf *out, struct visibility v);
/* Appends nothing if the setting was saved in its proper place. */
void host_reply_saved(struct buf *out, enum visibility_store_result saved);

#endif
