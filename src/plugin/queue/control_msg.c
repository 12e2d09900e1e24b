/* SPDX-License-Identifier: MIT
 * Owns the copies that cross to the instance's thread, and their order. */
#include "plugin/queue/control_msg.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

struct mail *mail_reply(void *turn, struct letter_reply *reply)
{
    struct mail *const m = xcalloc(1, sizeof *m);
    *m = (struct mail){.kind = MAIL_REPLY, .turn = turn, .reply = reply};
    return m;
}

struct mail *mail_hit(uint64_t hit_id, struct channel_hit *hit)
{
    struct mail *const m = xcalloc(1, sizeof *m);
    *m = (struct mail){.kind = MAIL_HIT, .hit_id = hit_id, .hit = hit};
    return m;
}

struct mail *mail_frame(const struct tc_frame *frame)
{
    struct mail *const m = xcalloc(1, sizeof *m + frame->len + 1);
    char *const text = (char *)(m + 1);
    if (frame->len)
        memcpy(text, frame->text, frame->len);
    *m = (struct mail){.kind = MAIL_FRAME, .frame = *frame};
    m->frame.text = text;
    return m;
}

void mail_free_hit(struct channel_hit *hit)
{
    arena_fini(&hit->arena);
    free(hit);
}

void mail_free(struct mail *m)
{
    if (m->kind == MAIL_REPLY)
        letter_reply_free(m->reply);
    else if (m->kind == MAIL_HIT)
        mail_free_hit(m->hit);
    free(m);
}

void mailbox_fini(struct mailbox *b)
{
    for (struct mail *m; (m = mailbox_take(b));)
        mail_free(m);
}

/* In one order with the look at the consumer's state that follows (event_queue.c), as inbox_put. */
void mailbox_put(struct mailbox *b, struct mail *m)
{
    m->next = atomic_load(&b->newest);
    while (!atomic_compare_exchange_weak(&b->newest, &m->next, m))
        ;
}

/* All that has come since, turned round. */
static struct mail *collect(struct mailbox *b)
{
    struct mail *first = NULL, *next;
    for (struct mail *m = atomic_exchange(&b->newest, NULL); m; m = next) {
        next = m->next;
        m->next = first;
        first = m;
    }
    return first;
}

struct mail *mailbox_take(struct mailbox *b)
{
    if (mailbox_is_empty(b))
        return NULL;
    if (!b->first)
        b->first = collect(b);
    struct mail *const m = b->first;
    b->first = m->next;
    return m;
}
