/* SPDX-License-Identifier: MIT
 * Owns the parcels of an instance and their timer. */
#include "io/send/sender.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/sys/clock.h"

/* `item` is first: the lanes hand it back. */
struct parcel {
    struct lane_item item; /* key owned */
    struct courier *courier;
    struct httpc_call *call;   /* while in flight */
    struct parcel *next, **at; /* the courier's list, from its turn until it was decided */
    void *arg;
    bool has_gone; /* at this turn */
};

struct courier {
    struct loop *loop;
    struct httpc *http;
    struct lanes *lanes;
    struct loop_timer *timer;
    struct courier_owner owner;
    struct parcel *open; /* it was their turn, and they are not decided yet */
    bool is_closing;
};

static void open_parcel(struct parcel *p)
{
    p->next = p->courier->open;
    p->at = &p->courier->open;
    if (p->next)
        p->next->at = &p->next;
    p->courier->open = p;
}

static void shut_parcel(struct parcel *p)
{
    *p->at = p->next;
    if (p->next)
        p->next->at = p->at;
}

static void on_ended(void *ctx, struct lane_item *item, enum lanes_end end)
{
    const struct courier *const c = ctx;
    struct parcel *const p = (struct parcel *)item;
    void *const arg = p->arg;
    free((char *)(uintptr_t)p->item.key); /* drops const: a copy of our own */
    free(p);
    c->owner.ended(c->owner.ctx, arg, c->is_closing ? LANES_CLOSED : end);
}

static void arm(struct courier *c)
{
    if (!c->is_closing)
        loop_timer_set(c->timer, lanes_wait_ms(c->lanes, clock_mono_ms()));
}

/* Whether the service is there concerns all lanes. What a gateway says for it does not count. */
static void note_reach(struct courier *c, struct parcel *p, const struct httpc_reply *reply)
{
    if (reply->outcome == HTTPC_NOT_SENT)
        lanes_miss(c->lanes, &p->item);
    else if (reply->status && reply->outcome != HTTPC_AMBIGUOUS)
        lanes_hit(c->lanes, clock_mono_ms());
}

static void on_reply(void *arg, const struct httpc_reply *reply)
{
    struct parcel *const p = arg;
    struct courier *const c = p->courier;
    p->call = NULL;
    note_reach(c, p, reply);
    if (!c->is_closing)
        c->owner.judge(c->owner.ctx, p, p->arg, reply);
    arm(c);
}

static void on_time(void *arg)
{
    struct courier *const c = arg;
    struct lane_item *item;
    while ((item = lanes_next(c->lanes, clock_mono_ms()))) {
        struct parcel *const p = (struct parcel *)item;
        open_parcel(p);
        p->has_gone = false;
        c->owner.start(c->owner.ctx, p, p->arg);
    }
    arm(c);
}

struct courier *courier_new(struct loop *l, struct httpc *http, const struct lanes_rate *rates,
                            size_t rate_count, uint64_t seed, const struct courier_owner *owner)
{
    struct courier *const c = xcalloc(1, sizeof *c);
    *c = (struct courier){.loop = l, .http = http, .owner = *owner};
    c->lanes = lanes_new(&(struct lanes_spec){
        .rates = rates, .rate_count = rate_count, .seed = seed, .ended = on_ended, .ctx = c});
    c->timer = loop_timer_new(l, on_time, c);
    return c;
}

void courier_free(struct courier *c)
{
    if (!c)
        return;
    c->is_closing = true;
    while (c->open) {
        if (c->open->call)
            httpc_cancel(c->open->call);
        courier_decide(c->open, &(struct verdict){.again = false});
    }
    lanes_close(c->lanes);
    lanes_free(c->lanes);
    loop_timer_free(c->timer);
    free(c);
}

void courier_send(struct courier *c, const struct courier_letter *letter)
{
    struct parcel *const p = xcalloc(1, sizeof *p);
    const int64_t now = clock_mono_ms();
    *p = (struct parcel){
        .item = {.priority = letter->priority,
                 .rates = letter->rates,
                 .key = xstrdup(letter->key),
                 .deadline_ms = letter->max_age_ms ? now + letter->max_age_ms : 0,
                 .not_before_ms = letter->delay_ms ? now + letter->delay_ms : 0,
                 .is_ahead = letter->is_ahead,
                 .spares_live = letter->spares_live},
        .courier = c,
        .arg = letter->arg,
    };
    lanes_submit(c->lanes, letter->lane, &p->item, now);
    arm(c);
}

void courier_go(struct parcel *p, const struct httpc_request *request)
{
    struct courier *const c = p->courier;
    lanes_depart(c->lanes, &p->item, clock_mono_ms());
    p->has_gone = true;
    p->call = httpc_start(c->http, request, on_reply, p);
}

void courier_decide(struct parcel *p, const struct verdict *v)
{
    struct courier *const c = p->courier;
    shut_parcel(p);
    if (p->has_gone)
        lanes_depart(c->lanes, &p->item, clock_mono_ms());
    else
        lanes_spare(c->lanes, &p->item);
    lanes_decide(c->lanes, &p->item, v, clock_mono_ms());
    arm(c);
}
