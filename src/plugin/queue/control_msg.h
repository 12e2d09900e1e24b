/* SPDX-License-Identifier: MIT
 * What comes to an instance beside events: replies, hits, frames. Nothing of it is joined or
 * dropped, so it waits in a list of its own: one thread puts without a lock, one takes. */
#ifndef PLUGIN_QUEUE_CONTROL_MSG_H
#define PLUGIN_QUEUE_CONTROL_MSG_H

#include <stdatomic.h>
#include <stdbool.h>

#include "plugin/channel.h"

enum mail_kind { MAIL_REPLY, MAIL_HIT, MAIL_FRAME };

struct mail {
    struct mail *next;
    enum mail_kind kind;
    union {
        struct {
            void *turn; /* NULL: the lobby */
            struct letter_reply *reply;
        };
        struct {
            uint64_t hit_id; /* of the line that brings the answer back */
            struct channel_hit *hit;
        };
        struct tc_frame frame; /* its text stands behind the mail */
    };
};

struct mailbox {
    _Alignas(64) _Atomic(struct mail *) newest; /* linked towards the oldest */
    struct mail *first;                         /* the consumer's: taken out, in order */
};

/* All take over what they are given. */
struct mail *mail_reply(void *turn, struct letter_reply *reply);
struct mail *mail_hit(uint64_t hit_id, struct channel_hit *hit);
struct mail *mail_frame(const struct tc_frame *frame); /* copied */
void mail_free(struct mail *m);
void mail_free_hit(struct channel_hit *hit);

/* An all-zero mailbox is empty. */
void mailbox_fini(struct mailbox *b);
/* Producer. */
void mailbox_put(struct mailbox *b, struct mail *m);
/* Consumer: the oldest, the caller's own; NULL: none. */
struct mail *mailbox_take(struct mailbox *b);
/* Consumer. */
static inline bool mailbox_is_empty(const struct mailbox *b)
{
    return !b->first && !atomic_load(&b->newest);
}

#endif
