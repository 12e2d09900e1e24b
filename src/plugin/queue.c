/* SPDX-License-Identifier: MIT
 * Owns the lock of one instance's queue, and when which side is woken.
 *
 * A wake-up costs more than the event it tells of. So the producer signals only a consumer that
 * sleeps; and a consumer that ran out of work naps for a moment first, in which the producer
 * wakes it for a whole batch only. In a burst there is one wake-up per batch, and an event that
 * comes alone is told at once. */
#include "plugin/queue.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "base/alloc.h"
#include "base/clock.h"

#define NAP_NS ((int64_t)100000)
#define NAP_BATCH ((size_t)64) /* events that end a nap */
#define NS_PER_MS ((int64_t)1000000)

enum consumer { AWAKE, NAPPING, ASLEEP };

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t work, room;
    struct backlog backlog;
    enum consumer consumer;
    int64_t sleeps_until; /* clock_mono_ms of what it waits for; INT64_MAX: the next event */
    bool closed, producer_waits;
    _Atomic size_t events, bytes; /* of the backlog, to be read without the lock */
};

static void init_cond(pthread_cond_t *cond)
{
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(cond, &attr);
    pthread_condattr_destroy(&attr);
}

struct queue *queue_new(const struct backlog_limits *limits)
{
    struct queue *const q = xcalloc(1, sizeof *q);
    pthread_mutex_init(&q->lock, NULL);
    init_cond(&q->work);
    init_cond(&q->room);
    backlog_init(&q->backlog, limits);
    return q;
}

void queue_free(struct queue *q)
{
    if (!q)
        return;
    backlog_fini(&q->backlog);
    pthread_cond_destroy(&q->work);
    pthread_cond_destroy(&q->room);
    pthread_mutex_destroy(&q->lock);
    free(q);
}

/* Waits on the condition for at most ns; real time, whatever the clock of the tests says. */
static void wait_ns(struct queue *q, pthread_cond_t *cond, int64_t ns)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    const int64_t nsec = until.tv_nsec + ns;
    until.tv_sec += nsec / (1000 * NS_PER_MS);
    until.tv_nsec = nsec % (1000 * NS_PER_MS);
    pthread_cond_timedwait(cond, &q->lock, &until);
}

static void publish(struct queue *q)
{
    atomic_store_explicit(&q->events, q->backlog.stats.events, memory_order_relaxed);
    atomic_store_explicit(&q->bytes, q->backlog.stats.bytes, memory_order_relaxed);
}

double queue_fill(const struct queue *q)
{
    const size_t events = atomic_load_explicit(&q->events, memory_order_relaxed);
    const size_t bytes = atomic_load_explicit(&q->bytes, memory_order_relaxed);
    const double by_events = (double)events / (double)q->backlog.limits.events;
    const double by_bytes = (double)bytes / (double)q->backlog.limits.bytes;
    return by_events > by_bytes ? by_events : by_bytes;
}

struct lane *queue_open(struct queue *q, void *turn)
{
    pthread_mutex_lock(&q->lock);
    struct lane *const lane = backlog_open(&q->backlog, turn);
    pthread_mutex_unlock(&q->lock);
    return lane;
}

static bool must_wake(const struct queue *q)
{
    switch (q->consumer) {
    case AWAKE:
        return false;
    case NAPPING:
        return q->backlog.n_ready >= NAP_BATCH;
    case ASLEEP:
        return q->backlog.n_ready > 0 || backlog_due(&q->backlog) < q->sleeps_until;
    }
    return false;
}

void queue_push(struct queue *q, struct lane *lane, struct event_box *box)
{
    const int64_t now_ms = q->backlog.limits.pace_ms ? clock_mono_ms() : 0;
    pthread_mutex_lock(&q->lock);
    backlog_push(&q->backlog, lane, box, now_ms);
    publish(q);
    const bool wake = must_wake(q);
    if (wake)
        q->consumer = AWAKE;
    pthread_mutex_unlock(&q->lock);
    if (wake)
        pthread_cond_signal(&q->work);
}

void queue_close(struct queue *q)
{
    pthread_mutex_lock(&q->lock);
    q->closed = true;
    backlog_release(&q->backlog);
    q->consumer = AWAKE;
    pthread_cond_signal(&q->work);
    pthread_cond_signal(&q->room);
    pthread_mutex_unlock(&q->lock);
}

static bool below(const struct queue *q, size_t part)
{
    return atomic_load_explicit(&q->events, memory_order_relaxed) <=
               q->backlog.limits.events / part &&
           atomic_load_explicit(&q->bytes, memory_order_relaxed) <= q->backlog.limits.bytes / part;
}

bool queue_wait_room(struct queue *q, int timeout_ms)
{
    if (below(q, 2))
        return true;
    const int64_t end = clock_mono_ms() + timeout_ms;
    pthread_mutex_lock(&q->lock);
    while (!below(q, 4) && !q->closed) {
        const int64_t left = end - clock_mono_ms();
        if (left <= 0)
            break;
        q->producer_waits = true;
        wait_ns(q, &q->room, left * NS_PER_MS);
    }
    q->producer_waits = false;
    const bool room = below(q, 2);
    pthread_mutex_unlock(&q->lock);
    return room;
}

/* Naps once per pop, then sleeps until something is due or until_ms. */
static void rest(struct queue *q, bool *napped, int64_t now_ms, int64_t until_ms)
{
    const int64_t due = backlog_due(&q->backlog);
    const int64_t wake_ms = due < until_ms ? due : until_ms;
    const bool nap = !*napped;
    *napped = true;
    q->sleeps_until = due;
    q->consumer = nap ? NAPPING : ASLEEP;
    wait_ns(q, &q->work, nap ? NAP_NS : (wake_ms - now_ms) * NS_PER_MS);
    q->consumer = AWAKE;
}

size_t queue_pop(struct queue *q, struct backlog_item *items, size_t max, int wait_ms, bool *closed)
{
    int64_t now_ms = clock_mono_ms();
    const int64_t until_ms = now_ms + wait_ms;
    bool napped = false;
    size_t n;
    pthread_mutex_lock(&q->lock);
    while ((n = backlog_pop(&q->backlog, items, max, now_ms)) == 0 && !q->closed &&
           now_ms < until_ms) {
        rest(q, &napped, now_ms, until_ms);
        now_ms = clock_mono_ms();
    }
    *closed = n == 0 && q->closed;
    publish(q);
    const bool tell = q->producer_waits && below(q, 4);
    pthread_mutex_unlock(&q->lock);
    if (tell)
        pthread_cond_signal(&q->room);
    return n;
}

struct backlog_stats queue_stats(struct queue *q)
{
    pthread_mutex_lock(&q->lock);
    const struct backlog_stats stats = q->backlog.stats;
    pthread_mutex_unlock(&q->lock);
    return stats;
}
