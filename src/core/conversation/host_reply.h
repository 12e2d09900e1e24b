/* SPDX-License-Identifier: MIT
 * What the host says to a person: the answers to commands, in plain text. Each appends. Pure but
 * for the clock. */
#ifndef CORE_CONVERSATION_HOST_REPLY_H
#define CORE_CONVERSATION_HOST_REPLY_H

#include "core/conversation/conversation.h"
#include "core/settings/visibility_store.h"

/* The conversation may be NULL: nothing waits or runs in it. */
void answer_queued(struct buf *out, const struct conversation *c, bool restarts);
void answer_full(struct buf *out, const struct conversation *c);
void answer_stopped(struct buf *out, bool ran, bool worked, size_t dropped);
void answer_cleared(struct buf *out, const struct taken_back *t);
/* `prefix` is what the person writes in front of commands. */
void answer_queue(struct buf *out, const struct conversation *c, char prefix);
/* What can be written here. */
void answer_help(struct buf *out, char prefix);
/* The lines of /status. */
void answer_running(struct buf *out, const struct conversation *c);
void answer_session(struct buf *out, const char *session);
void answer_visibility(struct buf *out, struct visibility v);
/* Nothing when it was. */
void answer_saved(struct buf *out, enum sticky_saved saved);

#endif
