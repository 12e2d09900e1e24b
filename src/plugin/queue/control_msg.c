/* SPDX-License-Identifier: MIT
 * Copies messages for the instance's thread, and keeps their order. */
#include "plugin/queue/control_msg.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/invariant.h"

struct control_msg *control_msg_new_reply(void *turn, struct outbound_reply *reply)
{
    struct control_msg *const m = xcalloc(1, sizeof *m);
    *m = (struct control_msg){.kind = CONTROL_REPLY, .turn = turn, .reply = reply};
    return m;
}

struct control_msg *control_msg_new_hit(uint64_t hit_id, struct channel_hit *hit)
{
    struct control_msg *const m = xcalloc(1, sizeof *m);
    *m = (struct control_msg){.kind = CONTROL_HIT, .hit_id = hit_id, .hit = hit};
    return m;
}

struct control_msg *control_msg_new_socket_text(const struct tc_frame *frame)
{
    struct control_msg *const m = xcalloc(1, sizeof *m + frame->len + 1);
    char *const text = (char *)(m + 1);
    if (frame->len)
        memcpy(text, frame->text, frame->len);
    *m = (struct control_msg){.kind = CONTROL_FRAME, .frame = *frame};
    m->frame.text = text;
    return m;
}

void channel_hit_free(struct channel_hit *hit)
{
    arena_fini(&hit->arena);
    free(hit);
}

void control_msg_free(struct control_msg *m)
{
    if (m->kind == CONTROL_REPLY)
        outbound_reply_free(m->reply);
    else if (m->kind == CONTROL_HIT)
        channel_hit_free(m->hit);
    free(m);
}

void control_queue_fini(struct control_queue *b)
{
    for (struct control_msg *m; (m = control_queue_take(b));)
        control_msg_free(m);
}

/* Memory order: the producer checks the consumer's state afterwards (event_queue.c), as in
 * event_ring_stage. */
void control_queue_put(struct control_queue *b, struct control_msg *m)
{
    m->next = atomic_load(&b->newest);
    while (!atomic_compare_exchange_weak(&b->newest, &m->next, m))
        ;
}

/* All messages since the last call, in the reversed order. */
static struct control_msg *control_queue_collect(struct control_queue *b)
{
    struct control_msg *first = NULL, *next;
    for (struct control_msg *m = atomic_exchange(&b->newest, NULL); m; m = next) {
        next = m->next;
        m->next = first;
        first = m;
    }
    return first;
}

struct control_msg *control_queue_take(struct control_queue *b)
{
    if (control_queue_is_empty(b))
        return NULL;
    if (!b->first)
        b->first = control_queue_collect(b);
    struct control_msg *const m = b->first;
    ASSERT(m);
    b->first = m->next;
    return m;
}
