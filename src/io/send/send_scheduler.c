/* SPDX-License-Identifier: MIT
 * Owns the lanes of an instance, its buckets, and the choice of what goes next. */
#include "io/send/send_scheduler.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define HOLD_JITTER_MS 100 /* behind a hold: not all lanes at the same moment */
#define HIT_JITTER_MS 1000 /* nor when the service is back */

/* A lane and its pace. `lane` is first: items point at it. */
struct track {
    struct lane lane;
    struct track *next;
    char *name; /* owned; NULL: of one item */
    struct bucket hold, buckets[LANE_MAX_RATES];
    uint64_t served; /* the turn at which it was served last, or made */
    /* One back-off for all items of the lane: live items expire sooner than it ends, and each that
     * follows would begin it anew. */
    unsigned misses;  /* attempts since the service was reached last */
    int64_t retry_ms; /* no attempt before */
};

struct lanes {
    struct lanes_rate rates[LANE_MAX_RATES];
    size_t rate_count;
    void (*ended)(void *ctx, struct lane_item *item, enum lanes_end end);
    void *ctx;
    struct track *tracks;
    size_t count, sweep_at;
    struct bucket hold, buckets[LANE_MAX_RATES];
    uint64_t random, turn;
    bool is_away; /* something has not reached the service since it answered last */
};

static void init_buckets(const struct lanes *s, struct bucket *hold, struct bucket *buckets)
{
    bucket_init(hold, &(struct bucket_rate){0});
    for (size_t i = 0; i < s->rate_count; i++)
        bucket_init(&buckets[i], &s->rates[i].rate);
}

struct lanes *lanes_new(const struct lanes_spec *spec)
{
    struct lanes *const s = xcalloc(1, sizeof *s);
    *s = (struct lanes){
        .rate_count = spec->rate_count < LANE_MAX_RATES ? spec->rate_count : LANE_MAX_RATES,
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

static void free_track(struct track *t)
{
    free(t->name);
    free(t);
}

void lanes_free(struct lanes *s)
{
    if (!s)
        return;
    struct track *next;
    for (struct track *t = s->tracks; t; t = next) {
        next = t->next;
        free_track(t);
    }
    free(s);
}

/* splitmix64 */
static uint64_t draw(struct lanes *s)
{
    uint64_t z = s->random += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static void end_chain(struct lanes *s, struct lane_item *chain, enum lanes_end end)
{
    struct lane_item *next;
    for (struct lane_item *item = chain; item; item = next) {
        next = item->next;
        item->next = NULL;
        s->ended(s->ctx, item, end);
    }
}

static bool is_forgettable(const struct lanes *s, const struct track *t, int64_t now_ms)
{
    if (!t->name)
        return lane_is_idle(&t->lane);
    bool full = lane_is_idle(&t->lane) && bucket_is_full(&t->hold, now_ms) && t->retry_ms <= now_ms;
    for (size_t i = 0; i < s->rate_count && full; i++)
        full = bucket_is_full(&t->buckets[i], now_ms);
    return full;
}

/* Runs when the lanes have doubled since the last time, so it costs nothing on average. */
static void sweep(struct lanes *s, int64_t now_ms)
{
    if (s->count < s->sweep_at)
        return;
    for (struct track **at = &s->tracks; *at;) {
        struct track *const t = *at;
        if (is_forgettable(s, t, now_ms)) {
            *at = t->next;
            free_track(t);
            s->count--;
        } else {
            at = &t->next;
        }
    }
    s->sweep_at = s->count * 2 > 64 ? s->count * 2 : 64;
}

static struct track *find_track(struct lanes *s, const char *name, int64_t now_ms)
{
    for (struct track *t = s->tracks; t && name; t = t->next)
        if (t->name && strcmp(t->name, name) == 0)
            return t;
    sweep(s, now_ms);
    struct track *const t = xcalloc(1, sizeof *t);
    *t = (struct track){.next = s->tracks, .name = xstrdup(name), .served = ++s->turn};
    lane_init(&t->lane);
    init_buckets(s, &t->hold, t->buckets);
    s->tracks = t;
    s->count++;
    return t;
}

void lanes_submit(struct lanes *s, const char *lane, struct lane_item *item, int64_t now_ms)
{
    struct track *const t = find_track(s, lane, now_ms);
    end_chain(s, lane_push(&t->lane, item), LANES_REPLACED);
}

static struct track *track_of(const struct lane_item *item)
{
    return (struct track *)item->lane;
}

/* The bucket of rate i that the item counts on, or NULL. */
static struct bucket *bucket_for(struct lanes *s, const struct lane_item *item, size_t i)
{
    if (!(item->rates >> i & 1))
        return NULL;
    return s->rates[i].per_lane ? &track_of(item)->buckets[i] : &s->buckets[i];
}

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* How long until the head of a lane may go. */
static int64_t item_wait_ms(struct lanes *s, const struct lane_item *item, int64_t now_ms)
{
    const struct track *const t = track_of(item);
    int64_t wait = later(item->not_before_ms - now_ms, 0);
    wait = later(wait, t->retry_ms - now_ms);
    wait = later(wait, bucket_wait_ms(&s->hold, now_ms));
    wait = later(wait, bucket_wait_ms(&t->hold, now_ms));
    for (size_t i = 0; i < s->rate_count; i++) {
        const struct bucket *const b = bucket_for(s, item, i);
        wait = b ? later(wait, bucket_wait_ms(b, now_ms)) : wait;
    }
    return wait;
}

/* The better priority goes first; among equals the lane that has waited longest. */
static bool is_before(const struct track *a, const struct track *b)
{
    if (!b)
        return true;
    const enum lane_priority first = lane_head(&a->lane)->priority;
    const enum lane_priority second = lane_head(&b->lane)->priority;
    return first != second ? first < second : a->served < b->served;
}

static struct track *choose(struct lanes *s, int64_t now_ms)
{
    struct track *best = NULL;
    for (struct track *t = s->tracks; t; t = t->next) {
        const struct lane_item *const head = lane_head(&t->lane);
        if (head && item_wait_ms(s, head, now_ms) == 0 && is_before(t, best))
            best = t;
    }
    return best;
}

static void expire(struct lanes *s, int64_t now_ms)
{
    struct lane_item *chain = NULL, **end = &chain;
    for (struct track *t = s->tracks; t; t = t->next) {
        *end = lane_expire(&t->lane, now_ms);
        while (*end)
            end = &(*end)->next;
    }
    end_chain(s, chain, LANES_EXPIRED);
}

struct lane_item *lanes_next(struct lanes *s, int64_t now_ms)
{
    expire(s, now_ms);
    struct track *const t = choose(s, now_ms);
    if (!t)
        return NULL;
    struct lane_item *const item = lane_take(&t->lane);
    item->taken_ms = now_ms;
    item->is_unsent = false;
    t->served = ++s->turn;
    for (size_t i = 0; i < s->rate_count; i++) {
        struct bucket *const b = bucket_for(s, item, i);
        if (b)
            bucket_take(b, now_ms);
    }
    return item;
}

/* Of the lane's own pace only: there is one request of it at a time, so what was taken early can
 * be made good. */
void lanes_depart(struct lanes *s, struct lane_item *item, int64_t now_ms)
{
    for (size_t i = 0; i < s->rate_count; i++)
        if (item->rates >> i & 1 && s->rates[i].per_lane)
            bucket_delay(&track_of(item)->buckets[i], now_ms - item->taken_ms);
    item->taken_ms = now_ms;
}

static int64_t sooner(int64_t a, int64_t b)
{
    return a < 0 || (b >= 0 && b < a) ? b : a;
}

int64_t lanes_wait_ms(struct lanes *s, int64_t now_ms)
{
    int64_t wait = -1;
    for (const struct track *t = s->tracks; t; t = t->next) {
        const struct lane_item *const head = lane_head(&t->lane);
        if (head)
            wait = sooner(wait, item_wait_ms(s, head, now_ms));
        if (t->lane.next_deadline_ms)
            wait = sooner(wait, later(t->lane.next_deadline_ms - now_ms, 0));
    }
    return wait;
}

static void hold(struct lanes *s, const struct lane_item *item, enum verdict_scope scope,
                 int64_t until_ms)
{
    switch (scope) {
    case VERDICT_LANE:
        bucket_hold(&track_of(item)->hold, until_ms);
        return;
    case VERDICT_INSTANCE:
        bucket_hold(&s->hold, until_ms);
        return;
    case VERDICT_RATES:
        for (size_t i = 0; i < s->rate_count; i++)
            if (item->rates >> i & 1 && !s->rates[i].per_lane)
                bucket_hold(&s->buckets[i], until_ms);
        return;
    }
}

/* The service was not reached: the whole lane waits. */
static void back_off_lane(struct lanes *s, struct lane_item *item, int64_t now_ms)
{
    struct track *const t = track_of(item);
    t->misses++;
    t->retry_ms = now_ms + verdict_backoff_ms(t->misses, draw(s));
    item->not_before_ms = t->retry_ms;
}

/* When the next attempt may start. */
static void postpone(struct lanes *s, struct lane_item *item, const struct verdict *v,
                     int64_t now_ms)
{
    if (v->hold_ms > 0) {
        const int64_t jitter = (int64_t)(draw(s) % HOLD_JITTER_MS);
        hold(s, item, v->scope, now_ms + v->hold_ms + jitter);
        item->not_before_ms = now_ms + v->hold_ms;
        item->is_unsent = false;
    } else {
        item->attempts++;
        if (item->is_unsent)
            back_off_lane(s, item, now_ms);
        else
            item->not_before_ms = now_ms + verdict_backoff_ms(item->attempts, draw(s));
    }
}

void lanes_decide(struct lanes *s, struct lane_item *item, const struct verdict *v, int64_t now_ms)
{
    if (!v->again) {
        lane_land(item->lane);
        s->ended(s->ctx, item, LANES_DECIDED);
        return;
    }
    postpone(s, item, v, now_ms);
    if (!lane_return(item->lane))
        s->ended(s->ctx, item, LANES_REPLACED);
}

void lanes_spare(struct lanes *s, const struct lane_item *item)
{
    for (size_t i = 0; i < s->rate_count; i++) {
        struct bucket *const b = bucket_for(s, item, i);
        if (b)
            bucket_return(b);
    }
}

void lanes_miss(struct lanes *s, struct lane_item *item)
{
    item->is_unsent = s->is_away = true;
    lanes_spare(s, item);
}

void lanes_hit(struct lanes *s, int64_t now_ms)
{
    for (struct track *t = s->tracks; t && s->is_away; t = t->next) {
        const int64_t until = now_ms + (int64_t)(draw(s) % HIT_JITTER_MS);
        lane_hurry(&t->lane, until);
        t->misses = 0;
        if (t->retry_ms > until)
            t->retry_ms = until;
    }
    s->is_away = false;
}

void lanes_close(struct lanes *s)
{
    struct lane_item *chain = NULL, **end = &chain;
    for (struct track *t = s->tracks; t; t = t->next) {
        *end = lane_clear(&t->lane);
        while (*end)
            end = &(*end)->next;
    }
    end_chain(s, chain, LANES_CLOSED);
}

size_t lanes_count(const struct lanes *s)
{
    return s->count;
}
