/* SPDX-License-Identifier: MIT
 * Owns the send items of an instance and their timer. */
#include "io/send/sender.h"

#include <stdlib.h>
#include <sys/queue.h>

#include "base/alloc.h"
#include "base/invariant.h"
#include "base/sys/clock.h"

/* `item` is first: the scheduler returns its address. */
struct send_item {
    struct queued_request item; /* owns key */
    struct sender *sender;
    struct httpc_transfer *call; /* while in flight */
    LIST_ENTRY(send_item) next;  /* in the sender's list from its start until it is settled */
    void *arg;
    bool has_gone; /* start time */
};

struct sender {
    struct loop *loop;
    struct httpc *http;
    struct send_scheduler *scheduler;
    struct loop_timer *timer;
    struct sender_callbacks owner;
    LIST_HEAD(, send_item) open; /* started, and not settled yet */
    bool is_closing;
};

static void sender_on_ended(void *ctx, struct queued_request *item, enum send_result end)
{
    const struct sender *const c = ctx;
    struct send_item *const p = (struct send_item *)item;
    void *const arg = p->arg;
    free((char *)(uintptr_t)p->item.key); /* drops const: a copy owned by the sender */
    free(p);
    c->owner.ended(c->owner.ctx, arg, c->is_closing ? SEND_CLOSED : end);
}

static void sender_set_timer(struct sender *c)
{
    if (!c->is_closing)
        loop_timer_set(c->timer, send_scheduler_wait_ms(c->scheduler, clock_mono_ms()));
}

/* Whether the service is reachable concerns all conversations. Responses of a gateway do not
 * count. */
static void sender_update_reachability(struct sender *c, struct send_item *p,
                                       const struct httpc_reply *reply)
{
    if (reply->outcome == HTTPC_NOT_SENT)
        send_scheduler_handle_unreachable(c->scheduler, &p->item);
    else if (reply->status && reply->outcome != HTTPC_AMBIGUOUS)
        send_scheduler_handle_reachable(c->scheduler, clock_mono_ms());
}

static void on_reply(void *arg, const struct httpc_reply *reply)
{
    struct send_item *const p = arg;
    struct sender *const c = p->sender;
    ASSERT(p->call);
    p->call = NULL;
    sender_update_reachability(c, p, reply);
    if (!c->is_closing)
        c->owner.judge(c->owner.ctx, p, p->arg, reply);
    sender_set_timer(c);
}

static void sender_on_timer(void *arg)
{
    struct sender *const c = arg;
    struct queued_request *item;
    while ((item = send_scheduler_next(c->scheduler, clock_mono_ms()))) {
        struct send_item *const p = (struct send_item *)item;
        ASSERT(!p->call);
        LIST_INSERT_HEAD(&p->sender->open, p, next);
        p->has_gone = false;
        c->owner.start(c->owner.ctx, p, p->arg);
    }
    sender_set_timer(c);
}

struct sender *sender_new(struct loop *l, struct httpc *http, const struct send_rate *rates,
                          size_t rate_count, uint64_t seed, const struct sender_callbacks *owner)
{
    struct sender *const c = xcalloc(1, sizeof *c);
    *c = (struct sender){.loop = l, .http = http, .owner = *owner};
    c->scheduler = send_scheduler_new(&(struct send_scheduler_spec){.rates = rates,
                                                                    .rate_count = rate_count,
                                                                    .seed = seed,
                                                                    .ended = sender_on_ended,
                                                                    .ctx = c});
    c->timer = loop_timer_new(l, sender_on_timer, c);
    return c;
}

void sender_free(struct sender *c)
{
    if (!c)
        return;
    c->is_closing = true;
    for (struct send_item *p; (p = LIST_FIRST(&c->open));) {
        if (p->call)
            httpc_cancel(p->call);
        p->call = NULL;
        sender_settle(p, &(struct retry_decision){.again = false});
    }
    send_scheduler_close(c->scheduler);
    send_scheduler_free(c->scheduler);
    loop_timer_free(c->timer);
    free(c);
}

void sender_submit(struct sender *c, const struct send_spec *request)
{
    ASSERT(!c->is_closing);
    struct send_item *const p = xcalloc(1, sizeof *p);
    const int64_t now = clock_mono_ms();
    *p = (struct send_item){
        .item = {.priority = request->priority,
                 .rates = request->rates,
                 .key = xstrdup(request->key),
                 .deadline_ms = request->max_age_ms ? now + request->max_age_ms : 0,
                 .not_before_ms = request->delay_ms ? now + request->delay_ms : 0,
                 .is_ahead = request->is_ahead,
                 .spares_live = request->spares_live},
        .sender = c,
        .arg = request->arg,
    };
    send_scheduler_submit(c->scheduler, request->lane, &p->item, now);
    sender_set_timer(c);
}

void sender_record_attempt(struct send_item *p)
{
    ASSERT(!p->call);
    send_scheduler_record_send_time(p->sender->scheduler, &p->item, clock_mono_ms());
    p->has_gone = true;
}

void sender_start_attempt(struct send_item *p, const struct httpc_request *request)
{
    const struct sender *const c = p->sender;
    sender_record_attempt(p);
    p->call = httpc_start(c->http, request, on_reply, p);
}

void sender_settle(struct send_item *p, const struct retry_decision *v)
{
    ASSERT(!p->call);
    struct sender *const c = p->sender;
    ASSERT(*p->next.le_prev == p);
    LIST_REMOVE(p, next);
    if (p->has_gone)
        send_scheduler_record_send_time(c->scheduler, &p->item, clock_mono_ms());
    else
        send_scheduler_refund_attempt(c->scheduler, &p->item);
    send_scheduler_settle(c->scheduler, &p->item, v, clock_mono_ms());
    sender_set_timer(c);
}
