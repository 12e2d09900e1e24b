/* SPDX-License-Identifier: MIT
 * What the host says to a person: the answers to commands, in plain text. Each appends. Pure but
 * for the clock. */
#ifndef CORE_CONVERSATION_HOST_REPLY_H
#define CORE_CONVERSATION_HOST_REPLY_H

#include "core/conversation/conversation.h"
#include "core/settings/visibility_store.h"

/* The conversation may be NULL: nothing waits or runs in it. */
void host_reply_queued(struct buf *out, const struct conversation *c, bool restarts);
void host_reply_full(struct buf *out, const struct conversation *c);
void host_reply_stopped(struct buf *out, bool ran, bool worked, size_t dropped);
void host_reply_cleared(struct buf *out, const struct taken_back *t);
/* `prefix` is what the person writes in front of commands. */
void host_reply_queue(struct buf *out, const struct conversation *c, char prefix);
/* What can be written here. */
void host_reply_help(struct buf *out, char prefix);
/* The lines of /status. */
void host_reply_running(struct buf *out, const struct conversation *c);
void host_reply_session(struct buf *out, const char *session);
void host_reply_visibility(struct buf *out, struct visibility v);
/* Nothing when it was. */
void host_reply_saved(struct buf *out, enum visibility_store_result saved);

#endif
