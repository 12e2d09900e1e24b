/* SPDX-License-Identifier: MIT
 * What comes to an instance beside events: replies, hits, frames. Nothing of it is joined or
 * dropped, so it waits in a list of its own: one thread puts without a lock, one takes. */
#ifndef PLUGIN_QUEUE_CONTROL_MSG_H
#define PLUGIN_QUEUE_CONTROL_MSG_H

#include <stdatomic.h>
#include <stdbool.h>

#include "plugin/channel.h"

enum control_kind { CONTROL_REPLY, CONTROL_HIT, CONTROL_FRAME };

struct control_msg {
    struct control_msg *next;
    enum control_kind kind;
    union {
        struct {
            void *turn; /* NULL: the instance context */
            struct outbound_reply *reply;
        };
        struct {
            uint64_t hit_id; /* of the line that brings the answer back */
            struct channel_hit *hit;
        };
        struct tc_frame frame; /* its text stands behind the message */
    };
};

struct control_queue {
    _Alignas(64) _Atomic(struct control_msg *) newest; /* linked towards the oldest */
    struct control_msg *first;                         /* the consumer's: taken out, in order */
};

/* All take over what they are given. */
struct control_msg *control_msg_new_reply(void *turn, struct outbound_reply *reply);
struct control_msg *control_msg_new_hit(uint64_t hit_id, struct channel_hit *hit);
struct control_msg *control_msg_new_socket_text(const struct tc_frame *frame); /* copied */
void control_msg_free(struct control_msg *m);
void channel_hit_free(struct channel_hit *hit);

/* An all-zero queue is empty. */
void control_queue_fini(struct control_queue *b);
/* Producer. */
void control_queue_put(struct control_queue *b, struct control_msg *m);
/* Consumer: the oldest, the caller's own; NULL: none. */
struct control_msg *control_queue_take(struct control_queue *b);
/* Consumer. */
static inline bool control_queue_is_empty(const struct control_queue *b)
{
    return !b->first && !atomic_load(&b->newest);
}

#endif
