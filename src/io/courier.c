/* SPDX-License-Identifier: MIT
 * Owns the letters of an instance and their timer. */
#include "io/courier.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"

/* A letter under way. `item` is first: the lanes hand it back. */
struct parcel {
    struct lane_item item;
    struct courier *courier;
    struct httpc_call *call; /* while in flight */
    struct parcel *prev, *next;
    struct httpc_request http; /* its strings are owned */
    void (*read)(void *arg, const struct httpc_reply *reply, struct verdict *v);
    void (*done)(void *arg, const struct courier_result *result);
    void *arg;
    /* of the attempts so far */
    unsigned attempts;
    enum httpc_outcome outcome;
    const struct httpc_reply *reply; /* during its callback */
};

struct courier {
    struct loop *loop;
    struct httpc *http;
    struct lanes *lanes;
    struct loop_timer *timer;
    struct parcel *in_flight;
    bool is_closing;
};

static char *copy(const char *s)
{
    return s ? xstrdup(s) : NULL;
}

static void copy_request(struct httpc_request *to, const struct httpc_request *from)
{
    *to = *from;
    to->method = xstrdup(from->method);
    to->url = xstrdup(from->url);
    to->content_type = copy(from->content_type);
    if (from->body.p)
        to->body.p = memcpy(xmalloc(from->body.len + 1), from->body.p, from->body.len);
    struct httpc_header *const headers = xcalloc(from->header_count + 1, sizeof *headers);
    for (size_t i = 0; i < from->header_count; i++)
        headers[i] =
            (struct httpc_header){xstrdup(from->headers[i].name), xstrdup(from->headers[i].value)};
    to->headers = headers;
}

/* Drops const: these strings are the copies made above. */
static void drop(const void *p)
{
    free((void *)(uintptr_t)p);
}

static void free_parcel(struct parcel *p)
{
    for (size_t i = 0; i < p->http.header_count; i++) {
        drop(p->http.headers[i].name);
        drop(p->http.headers[i].value);
    }
    drop(p->http.headers);
    drop(p->http.method);
    drop(p->http.url);
    drop(p->http.content_type);
    drop(p->http.body.p);
    drop(p->item.key);
    free(p);
}

static void on_ended(void *ctx, struct lane_item *item, enum lanes_end end)
{
    (void)ctx;
    struct parcel *const p = (struct parcel *)item;
    const struct courier_result result = {
        .end = end,
        .outcome = p->outcome,
        .attempts = p->attempts,
        .reply = end == LANES_DECIDED ? p->reply : NULL,
    };
    p->done(p->arg, &result);
    free_parcel(p);
}

static void arm(struct courier *c)
{
    if (!c->is_closing)
        loop_timer_set(c->timer, lanes_wait_ms(c->lanes, clock_mono_ms()));
}

static void set_in_flight(struct parcel *p)
{
    p->next = p->courier->in_flight;
    p->prev = NULL;
    if (p->next)
        p->next->prev = p;
    p->courier->in_flight = p;
}

static void clear_in_flight(struct parcel *p)
{
    p->call = NULL;
    if (p->prev)
        p->prev->next = p->next;
    else
        p->courier->in_flight = p->next;
    if (p->next)
        p->next->prev = p->prev;
}

static struct verdict judge(const struct parcel *p, const struct httpc_reply *reply)
{
    struct verdict v = verdict_of(reply, p->http.flags & HTTPC_IDEMPOTENT);
    if (reply->status && p->read)
        p->read(p->arg, reply, &v);
    if (p->courier->is_closing)
        v.again = false;
    return v;
}

/* A lost answer is not made good by a later attempt that was refused. */
static void note_outcome(struct parcel *p, const struct httpc_reply *reply, bool again)
{
    if (!again || p->outcome != HTTPC_AMBIGUOUS)
        p->outcome = reply->outcome;
}

static void on_reply(void *arg, const struct httpc_reply *reply)
{
    struct parcel *const p = arg;
    struct courier *const c = p->courier;
    clear_in_flight(p);
    const struct verdict v = judge(p, reply);
    p->attempts++;
    note_outcome(p, reply, v.again);
    p->reply = reply;
    lanes_decide(c->lanes, &p->item, &v, clock_mono_ms());
    arm(c);
}

static void on_time(void *arg)
{
    struct courier *const c = arg;
    struct lane_item *item;
    while ((item = lanes_next(c->lanes, clock_mono_ms()))) {
        struct parcel *const p = (struct parcel *)item;
        set_in_flight(p);
        p->call = httpc_start(c->http, &p->http, on_reply, p);
    }
    arm(c);
}

struct courier *courier_new(struct loop *l, struct httpc *http, const struct lanes_rate *rates,
                            size_t rate_count, uint64_t seed)
{
    struct courier *const c = xcalloc(1, sizeof *c);
    *c = (struct courier){.loop = l, .http = http};
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
    while (c->in_flight)
        httpc_cancel(c->in_flight->call);
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
                 .key = copy(letter->key),
                 .deadline_ms = letter->max_age_ms ? now + letter->max_age_ms : 0},
        .courier = c,
        .read = letter->read,
        .done = letter->done,
        .arg = letter->arg,
        .outcome = HTTPC_NOT_SENT,
    };
    copy_request(&p->http, &letter->http);
    lanes_submit(c->lanes, letter->lane, &p->item, now);
    arm(c);
}
