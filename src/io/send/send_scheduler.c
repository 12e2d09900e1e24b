/* SPDX-License-Identifier: MIT
 * Owns the conversations of an instance and its token buckets, and chooses the next request. */
#include "io/send/send_scheduler.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/invariant.h"

/* Spread after a hold, so that conversations do not all resume at once. */
#define HOLD_JITTER_MS 100
#define HIT_JITTER_MS 1000 /* the same after an outage of the service */

/* A conversation and its rate limits. `queue` is first, because items point to it. */
struct send_conversation {
    struct request_queue queue;
    struct send_conversation *next;
    char *name; /* owned; NULL: for a single item */
    struct token_bucket hold, buckets[SEND_MAX_RATES];
    uint64_t served; /* number of the round in which it was last served, or created */
    /* One back-off for all items of the conversation: live items expire before it ends, and each
     * following one would start it anew. */
    unsigned misses;  /* attempts since the service was last reached */
    int64_t retry_ms; /* earliest next attempt */
};

struct send_scheduler {
    struct send_rate rates[SEND_MAX_RATES];
    size_t rate_count;
    void (*ended)(void *ctx, struct queued_request *item, enum send_result end);
    void *ctx;
    struct send_conversation *conversations;
    size_t count, sweep_at;
    struct token_bucket hold, buckets[SEND_MAX_RATES];
    uint64_t random, turn;
    bool is_away; /* requests have not reached the service since its last response */
};

static void init_buckets(const struct send_scheduler *s, struct token_bucket *hold,
                         struct token_bucket *buckets)
{
    token_bucket_init(hold, &(struct rate_limit){0});
    for (size_t i = 0; i < s->rate_count; i++)
        token_bucket_init(&buckets[i], &s->rates[i].rate);
}

struct send_scheduler *send_scheduler_new(const struct send_scheduler_spec *spec)
{
    struct send_scheduler *const s = xcalloc(1, sizeof *s);
    *s = (struct send_scheduler){
        .rate_count = spec->rate_count < SEND_MAX_RATES ? spec->rate_count : SEND_MAX_RATES,
        .ended = spec->ended,
        .ctx = spec->ctx,
        .sweep_at = 64,
        .random = spec->seed,
    };
    for (size_t i = 0; i < s->rate_count; i++)
        s->rates[i] = spec->rates[i];
    init_buckets(s, &s->hold, s->buckets);
    return s;
}

static void free_conversation(struct send_conversation *t)
{
    free(t->name);
    free(t);
}

void send_scheduler_free(struct send_scheduler *s)
{
    if (!s)
        return;
    struct send_conversation *next;
    for (struct send_conversation *t = s->conversations; t; t = next) {
        next = t->next;
        free_conversation(t);
    }
    free(s);
}

/* splitmix64 */
static uint64_t send_scheduler_next_random(struct send_scheduler *s)
{
    uint64_t z = s->random += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static void send_scheduler_end_items(struct send_scheduler *s, struct queued_request *chain,
                                     enum send_result end)
{
    struct queued_request *next;
    for (struct queued_request *item = chain; item; item = next) {
        next = item->next;
        item->next = NULL;
        s->ended(s->ctx, item, end);
    }
}

static bool send_scheduler_is_unused(const struct send_scheduler *s,
                                     const struct send_conversation *t, int64_t now_ms)
{
    if (!t->name)
        return request_queue_is_idle(&t->queue);
    bool full = request_queue_is_idle(&t->queue) && token_bucket_is_full(&t->hold, now_ms) &&
                t->retry_ms <= now_ms;
    for (size_t i = 0; i < s->rate_count && full; i++)
        full = token_bucket_is_full(&t->buckets[i], now_ms);
    return full;
}

/* Runs when the number of conversations has doubled since the last time: constant cost on
 * average. */
static void send_scheduler_free_unused(struct send_scheduler *s, int64_t now_ms)
{
    if (s->count < s->sweep_at)
        return;
    for (struct send_conversation **at = &s->conversations; *at;) {
        struct send_conversation *const t = *at;
        if (send_scheduler_is_unused(s, t, now_ms)) {
            *at = t->next;
            free_conversation(t);
            ASSERT(s->count > 0);
            s->count--;
        } else {
            at = &t->next;
        }
    }
    s->sweep_at = s->count * 2 > 64 ? s->count * 2 : 64;
}

static struct send_conversation *send_scheduler_find_conversation(struct send_scheduler *s,
                                                                  const char *name, int64_t now_ms)
{
    for (struct send_conversation *t = s->conversations; t && name; t = t->next)
        if (t->name && strcmp(t->name, name) == 0)
            return t;
    send_scheduler_free_unused(s, now_ms);
    struct send_conversation *const t = xcalloc(1, sizeof *t);
    *t = (struct send_conversation){
        .next = s->conversations, .name = xstrdup(name), .served = ++s->turn};
    request_queue_init(&t->queue);
    init_buckets(s, &t->hold, t->buckets);
    s->conversations = t;
    s->count++;
    return t;
}

void send_scheduler_submit(struct send_scheduler *s, const char *queue, struct queued_request *item,
                           int64_t now_ms)
{
    struct send_conversation *const t = send_scheduler_find_conversation(s, queue, now_ms);
    send_scheduler_end_items(s, request_queue_push(&t->queue, item), SEND_REPLACED);
}

static struct send_conversation *send_scheduler_conversation_of(const struct queued_request *item)
{
    return (struct send_conversation *)item->queue;
}

/* The bucket of rate i towards which the item counts, or NULL. */
static struct token_bucket *send_scheduler_find_bucket(struct send_scheduler *s,
                                                       const struct queued_request *item, size_t i)
{
    if (!(item->rates >> i & 1))
        return NULL;
    return s->rates[i].per_lane ? &send_scheduler_conversation_of(item)->buckets[i]
                                : &s->buckets[i];
}

static int64_t send_scheduler_later_time(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Delay until the head of a conversation may be sent. */
static int64_t send_scheduler_item_wait_ms(struct send_scheduler *s,
                                           const struct queued_request *item, int64_t now_ms)
{
    const struct send_conversation *const t = send_scheduler_conversation_of(item);
    int64_t wait = send_scheduler_later_time(item->not_before_ms - now_ms, 0);
    wait = send_scheduler_later_time(wait, t->retry_ms - now_ms);
    wait = send_scheduler_later_time(wait, token_bucket_wait_ms(&s->hold, now_ms));
    wait = send_scheduler_later_time(wait, token_bucket_wait_ms(&t->hold, now_ms));
    for (size_t i = 0; i < s->rate_count; i++) {
        const struct token_bucket *const b = send_scheduler_find_bucket(s, item, i);
        wait = b ? send_scheduler_later_time(wait, token_bucket_wait_ms(b, now_ms)) : wait;
    }
    return wait;
}

/* The higher priority is first; among equals, the conversation that has waited longest. */
static bool send_scheduler_precedes(const struct send_conversation *a,
                                    const struct send_conversation *b)
{
    ASSERT(request_queue_peek(&a->queue));
    if (!b)
        return true;
    const enum send_priority first = request_queue_peek(&a->queue)->priority;
    const enum send_priority second = request_queue_peek(&b->queue)->priority;
    return first != second ? first < second : a->served < b->served;
}

static struct send_conversation *send_scheduler_choose(struct send_scheduler *s, int64_t now_ms)
{
    struct send_conversation *best = NULL;
    for (struct send_conversation *t = s->conversations; t; t = t->next) {
        const struct queued_request *const head = request_queue_peek(&t->queue);
        if (head && send_scheduler_item_wait_ms(s, head, now_ms) == 0 &&
            send_scheduler_precedes(t, best))
            best = t;
    }
    return best;
}

static void send_scheduler_expire(struct send_scheduler *s, int64_t now_ms)
{
    struct queued_request *chain = NULL, **end = &chain;
    for (struct send_conversation *t = s->conversations; t; t = t->next) {
        *end = request_queue_expire(&t->queue, now_ms);
        while (*end)
            end = &(*end)->next;
    }
    send_scheduler_end_items(s, chain, SEND_EXPIRED);
}

struct queued_request *send_scheduler_next(struct send_scheduler *s, int64_t now_ms)
{
    send_scheduler_expire(s, now_ms);
    struct send_conversation *const t = send_scheduler_choose(s, now_ms);
    if (!t)
        return NULL;
    struct queued_request *const item = request_queue_start(&t->queue);
    ASSERT(item);
    item->taken_ms = now_ms;
    item->is_unsent = false;
    t->served = ++s->turn;
    for (size_t i = 0; i < s->rate_count; i++) {
        struct token_bucket *const b = send_scheduler_find_bucket(s, item, i);
        if (b)
            token_bucket_take(b, now_ms);
    }
    return item;
}

/* Counts the request from the time of its sending, not of its choice. Only for the conversation's
 * own rates: it has one request at a time, so an early token can be corrected. */
void send_scheduler_record_send_time(struct send_scheduler *s, struct queued_request *item,
                                     int64_t now_ms)
{
    for (size_t i = 0; i < s->rate_count; i++)
        if (item->rates >> i & 1 && s->rates[i].per_lane)
            token_bucket_postpone(&send_scheduler_conversation_of(item)->buckets[i],
                                  now_ms - item->taken_ms);
    item->taken_ms = now_ms;
}

static int64_t send_scheduler_earlier_wait(int64_t a, int64_t b)
{
    return a < 0 || (b >= 0 && b < a) ? b : a;
}

int64_t send_scheduler_wait_ms(struct send_scheduler *s, int64_t now_ms)
{
    int64_t wait = -1;
    for (const struct send_conversation *t = s->conversations; t; t = t->next) {
        const struct queued_request *const head = request_queue_peek(&t->queue);
        if (head)
            wait = send_scheduler_earlier_wait(wait, send_scheduler_item_wait_ms(s, head, now_ms));
        if (t->queue.next_deadline_ms)
            wait = send_scheduler_earlier_wait(
                wait, send_scheduler_later_time(t->queue.next_deadline_ms - now_ms, 0));
    }
    return wait;
}

static void send_scheduler_hold(struct send_scheduler *s, const struct queued_request *item,
                                enum retry_scope scope, int64_t until_ms)
{
    switch (scope) {
    case RETRY_CONVERSATION:
        token_bucket_block_until(&send_scheduler_conversation_of(item)->hold, until_ms);
        return;
    case RETRY_INSTANCE:
        token_bucket_block_until(&s->hold, until_ms);
        return;
    case RETRY_RATES:
        for (size_t i = 0; i < s->rate_count; i++)
            if (item->rates >> i & 1 && !s->rates[i].per_lane)
                token_bucket_block_until(&s->buckets[i], until_ms);
        return;
    }
}

/* The service was not reached: the whole conversation waits. */
static void send_scheduler_back_off_conversation(struct send_scheduler *s,
                                                 struct queued_request *item, int64_t now_ms)
{
    struct send_conversation *const t = send_scheduler_conversation_of(item);
    t->misses++;
    t->retry_ms = now_ms + retry_policy_backoff_ms(t->misses, send_scheduler_next_random(s));
    item->not_before_ms = t->retry_ms;
}

/* Makes the conversations in the scope of the hold wait. */
static void send_scheduler_apply_hold(struct send_scheduler *s, const struct queued_request *item,
                                      const struct retry_decision *v, int64_t now_ms)
{
    const int64_t jitter = (int64_t)(send_scheduler_next_random(s) % HOLD_JITTER_MS);
    if (v->hold_ms > 0)
        send_scheduler_hold(s, item, v->scope, now_ms + v->hold_ms + jitter);
}

/* Sets the earliest time of the next attempt. */
static void send_scheduler_delay_retry(struct send_scheduler *s, struct queued_request *item,
                                       const struct retry_decision *v, int64_t now_ms)
{
    if (v->hold_ms > 0) {
        send_scheduler_apply_hold(s, item, v, now_ms);
        item->not_before_ms = now_ms + v->hold_ms;
        item->is_unsent = false;
    } else {
        item->attempts++;
        if (item->is_unsent)
            send_scheduler_back_off_conversation(s, item, now_ms);
        else
            item->not_before_ms =
                now_ms + retry_policy_backoff_ms(item->attempts, send_scheduler_next_random(s));
    }
}

void send_scheduler_settle(struct send_scheduler *s, struct queued_request *item,
                           const struct retry_decision *v, int64_t now_ms)
{
    ASSERT(item->queue && item->queue->in_flight == item);
    if (!v->again) {
        send_scheduler_apply_hold(s, item, v, now_ms);
        request_queue_finish(item->queue);
        s->ended(s->ctx, item, SEND_DECIDED);
        return;
    }
    send_scheduler_delay_retry(s, item, v, now_ms);
    if (!request_queue_requeue(item->queue))
        s->ended(s->ctx, item, SEND_REPLACED);
}

void send_scheduler_refund_attempt(struct send_scheduler *s, const struct queued_request *item)
{
    for (size_t i = 0; i < s->rate_count; i++) {
        struct token_bucket *const b = send_scheduler_find_bucket(s, item, i);
        if (b)
            token_bucket_refund(b);
    }
}

void send_scheduler_handle_unreachable(struct send_scheduler *s, struct queued_request *item)
{
    item->is_unsent = s->is_away = true;
    send_scheduler_refund_attempt(s, item);
}

void send_scheduler_handle_reachable(struct send_scheduler *s, int64_t now_ms)
{
    for (struct send_conversation *t = s->conversations; t && s->is_away; t = t->next) {
        const int64_t until = now_ms + (int64_t)(send_scheduler_next_random(s) % HIT_JITTER_MS);
        request_queue_cap_delay(&t->queue, until);
        t->misses = 0;
        if (t->retry_ms > until)
            t->retry_ms = until;
    }
    s->is_away = false;
}

void send_scheduler_close(struct send_scheduler *s)
{
    struct queued_request *chain = NULL, **end = &chain;
    for (struct send_conversation *t = s->conversations; t; t = t->next) {
        *end = request_queue_clear(&t->queue);
        while (*end)
            end = &(*end)->next;
    }
    send_scheduler_end_items(s, chain, SEND_CLOSED);
}

size_t send_scheduler_count(const struct send_scheduler *s)
{
    return s->count;
}
