/* SPDX-License-Identifier: MIT
 * Queue of messages to an instance other than events: replies to requests, inbound HTTP requests,
 * websocket messages. They are never joined or dropped. Lock-free, one producer, one consumer. */
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
            uint64_t hit_id; /* returned with the response in the call queue */
            struct channel_hit *hit;
        };
        struct tc_frame frame; /* its text is stored after the message */
    };
};

struct control_queue {
    _Alignas(64) _Atomic(struct control_msg *) newest; /* linked towards the oldest */
    struct control_msg *first; /* used by the consumer: messages already removed, in order */
};

/* All take ownership of their arguments. */
struct control_msg *control_msg_new_reply(void *turn, struct outbound_reply *reply);
struct control_msg *control_msg_new_hit(uint64_t hit_id, struct channel_hit *hit);
struct control_msg *control_msg_new_socket_text(const struct tc_frame *frame); /* copied */
void control_msg_free(struct control_msg *m);
void channel_hit_free(struct channel_hit *hit);

/* An all-zero queue is empty. */
void control_queue_fini(struct control_queue *b);
/* Called by the producer. */
void control_queue_put(struct control_queue *b, struct control_msg *m);
/* Called by the consumer: the oldest, which it then owns; NULL: none. */
struct control_msg *control_queue_take(struct control_queue *b);
/* Called by the consumer. */
static inline bool control_queue_is_empty(const struct control_queue *b)
{
    return !b->first && !atomic_load(&b->newest);
}

#endif
