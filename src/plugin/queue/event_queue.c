/* SPDX-License-Identifier: MIT
 * Lock of one instance's queue, and wake-ups between both sides.
 *
 * A contended lock and a wake-up cost more than an event. So the producer writes to a ring buffer,
 * and locks only to empty it when it is full (or if the instance has a pace, because due events
 * must be known at once). It wakes only a sleeping consumer: one that ran out of work in a burst
 * first naps for a moment, until the ring buffer is full or the moment is over; single events wake
 * it at once. The consumer rests on a futex, since a condition's lock would be one more call into
 * the kernel on the way. */
#include "plugin/queue/event_queue.h"

#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/invariant.h"
#include "base/sys/clock.h"
#include "plugin/queue/control_msg.h"
#include "plugin/queue/event_ring.h"

#define INBOX_PART ((size_t)2)     /* part of the limits that may be in the ring buffer */
#define GATHER_EVENTS ((size_t)64) /* maximum delay */
#define GATHER_BYTES ((size_t)64 << 10)
#define TAKE_MAX ((size_t)64)
#define NAP_NS ((int64_t)500000)
#define LONG_NAP_NS ((int64_t)2000000)
#define FLOOD_EVENTS ((size_t)128) /* with this many events in a nap, the next nap is long */
#define BRISK_NS ((int64_t)200000) /* a shorter sleep means that more events will arrive */
/* With this many events during a sleep, more events are expected. */
#define BRISK_EVENTS ((size_t)2)
/* A source that can be delayed does not fill a large queue, because events that wait long leave the
 * caches. */
#define AHEAD_EVENTS ((size_t)2048)
#define AHEAD_BYTES ((size_t)2 << 20)
#define NS_PER_MS ((int64_t)1000000)

enum consumer { AWAKE, NAPPING, ASLEEP };

struct event_queue {
    struct event_ring inbox;
    bool gathers; /* used by the producer */
    struct control_queue control;
    /* Set under the lock, cleared by any thread. */
    _Alignas(64) _Atomic enum consumer consumer;
    _Alignas(64) pthread_mutex_t lock;
    pthread_cond_t room;
    struct backlog backlog;
    bool brisk;           /* the consumer's next rest is a nap */
    size_t taken;         /* events taken by the consumer since its last rest */
    int64_t sleeps_until; /* clock_mono_ms for which it waits; INT64_MAX: the next event */
    bool closed, producer_waits;
    bool consumer_waits;          /* for the producer, see event_queue_release_producer */
    _Atomic size_t events, bytes; /* copies of the backlog's sizes, to be read without the lock */
};

_Static_assert(sizeof(_Atomic enum consumer) == sizeof(int), "a futex is an int");

static void init_cond(pthread_cond_t *cond)
{
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(cond, &attr);
    pthread_condattr_destroy(&attr);
}

/* The two ends of the ring buffer are on separate cache lines. */
static struct event_queue *make_queue(void)
{
    struct event_queue *const q =
        alloc_check(aligned_alloc(_Alignof(struct event_queue), sizeof *q), sizeof *q);
    *q = (struct event_queue){0};
    return q;
}

struct event_queue *event_queue_new(const struct backlog_limits *limits)
{
    struct event_queue *const q = make_queue();
    pthread_mutex_init(&q->lock, NULL);
    init_cond(&q->room);
    backlog_init(&q->backlog, limits);
    event_ring_init(&q->inbox, limits->events / INBOX_PART);
    return q;
}

void event_queue_free(struct event_queue *q)
{
    if (!q)
        return;
    ASSERT(!q->producer_waits && q->consumer == AWAKE);
    event_ring_fini(&q->inbox);
    control_queue_fini(&q->control);
    backlog_fini(&q->backlog);
    pthread_cond_destroy(&q->room);
    pthread_mutex_destroy(&q->lock);
    free(q);
}

static int64_t event_queue_monotonic_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 * NS_PER_MS + now.tv_nsec;
}

/* Waits on the condition for at most ns of real time, even with a fake clock. */
static void wait_ns(struct event_queue *q, pthread_cond_t *cond, int64_t ns)
{
    const int64_t end = event_queue_monotonic_ns() + ns;
    const struct timespec until = {
        .tv_sec = end / (1000 * NS_PER_MS),
        .tv_nsec = end % (1000 * NS_PER_MS),
    };
    pthread_cond_timedwait(cond, &q->lock, &until);
}

static bool has_new_items(const struct event_queue *q)
{
    return event_ring_count(&q->inbox) > 0 || !control_queue_is_empty(&q->control);
}

/* Under the lock, which may be released meanwhile. Events that arrived just before are found by a
 * second check (see event_ring_publish). */
static void event_queue_wait(struct event_queue *q, enum consumer how, int64_t ns)
{
    ASSERT(q->consumer == AWAKE);
    const struct timespec most = {.tv_sec = ns / (1000 * NS_PER_MS),
                                  .tv_nsec = ns % (1000 * NS_PER_MS)};
    q->consumer = how;
    if (!has_new_items(q)) {
        pthread_mutex_unlock(&q->lock);
        syscall(SYS_futex, &q->consumer, FUTEX_WAIT_PRIVATE, how, &most, NULL, 0);
        pthread_mutex_lock(&q->lock);
    }
    q->consumer = AWAKE;
}

static void wake(struct event_queue *q)
{
    if (atomic_exchange(&q->consumer, AWAKE) != AWAKE)
        syscall(SYS_futex, &q->consumer, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void event_queue_push_slots(struct event_queue *q, const struct event_ring_slot *slots,
                                   size_t n, int64_t now_ms)
{
    for (size_t i = 0; i < n; i++)
        backlog_push(&q->backlog, slots[i].turn_backlog, slots[i].shared, now_ms);
}

/* Under the lock: moves events of the ring buffer to the backlog. */
static void event_queue_drain_ring(struct event_queue *q, int64_t now_ms)
{
    struct event_ring_slot slots[TAKE_MAX];
    size_t left = event_ring_count(&q->inbox);
    while (left > 0) {
        const size_t n = event_ring_take(&q->inbox, slots, left < TAKE_MAX ? left : TAKE_MAX);
        event_queue_push_slots(q, slots, n, now_ms);
        left -= n;
    }
}

static void publish(struct event_queue *q)
{
    atomic_store_explicit(&q->events, q->backlog.stats.events, memory_order_relaxed);
    atomic_store_explicit(&q->bytes, q->backlog.stats.bytes, memory_order_relaxed);
}

static size_t count_events(const struct event_queue *q)
{
    return atomic_load_explicit(&q->events, memory_order_relaxed) + event_ring_count(&q->inbox);
}

static size_t count_bytes(const struct event_queue *q)
{
    return atomic_load_explicit(&q->bytes, memory_order_relaxed) + event_ring_bytes(&q->inbox);
}

double event_queue_fill_ratio(const struct event_queue *q)
{
    const double by_events = (double)count_events(q) / (double)q->backlog.limits.events;
    const double by_bytes = (double)count_bytes(q) / (double)q->backlog.limits.bytes;
    return by_events > by_bytes ? by_events : by_bytes;
}

struct turn_backlog *event_queue_open_turn(struct event_queue *q, void *turn)
{
    pthread_mutex_lock(&q->lock);
    struct turn_backlog *const turn_backlog = backlog_open_turn(&q->backlog, turn);
    pthread_mutex_unlock(&q->lock);
    return turn_backlog;
}

/* Under the lock. */
static bool event_queue_must_wake_consumer(const struct event_queue *q)
{
    return q->consumer != AWAKE &&
           (q->backlog.n_ready > 0 || backlog_next_due_ms(&q->backlog) < q->sleeps_until);
}

/* Empties the ring buffer, and wakes the consumer if there is work for it. */
static void event_queue_drain_and_wake(struct event_queue *q)
{
    pthread_mutex_lock(&q->lock);
    event_queue_drain_ring(q, clock_mono_ms());
    publish(q);
    const bool due = event_queue_must_wake_consumer(q);
    pthread_mutex_unlock(&q->lock);
    if (due)
        wake(q);
}

/* Makes staged events visible, and wakes a sleeping consumer. */
static void event_queue_publish(struct event_queue *q, bool is_full)
{
    event_ring_publish(&q->inbox);
    if (is_full || q->backlog.limits.pace_ms > 0 ||
        event_ring_bytes(&q->inbox) > q->backlog.limits.bytes / INBOX_PART)
        event_queue_drain_and_wake(q);
    else if (q->consumer == ASLEEP)
        wake(q);
}

void event_queue_push(struct event_queue *q, struct turn_backlog *turn_backlog,
                      struct shared_event *shared)
{
    const bool room = event_ring_stage(&q->inbox, (struct event_ring_slot){turn_backlog, shared},
                                       shared_event_size(shared));
    if (!room || !q->gathers || event_ring_staged_count(&q->inbox) >= GATHER_EVENTS ||
        event_ring_staged_bytes(&q->inbox) >= GATHER_BYTES)
        event_queue_publish(q, !room);
}

static void event_queue_publish_staged(struct event_queue *q)
{
    if (event_ring_staged_count(&q->inbox) > 0)
        event_queue_publish(q, false);
}

void event_queue_set_batching(struct event_queue *q, bool on)
{
    q->gathers = on;
    if (!on)
        event_queue_publish_staged(q);
}

void event_queue_put_control(struct event_queue *q, struct control_msg *m)
{
    control_queue_put(&q->control, m);
    wake(q);
}

bool event_queue_has_control(const struct event_queue *q)
{
    return !control_queue_is_empty(&q->control);
}

struct control_msg *event_queue_take_control(struct event_queue *q)
{
    return control_queue_take(&q->control);
}

void event_queue_release_producer(struct event_queue *q)
{
    pthread_mutex_lock(&q->lock);
    q->consumer_waits = true;
    pthread_cond_signal(&q->room);
    pthread_mutex_unlock(&q->lock);
}

void event_queue_close(struct event_queue *q)
{
    event_ring_publish(&q->inbox);
    pthread_mutex_lock(&q->lock);
    q->closed = true;
    backlog_stop_pacing(&q->backlog);
    pthread_cond_signal(&q->room);
    pthread_mutex_unlock(&q->lock);
    wake(q);
}

static size_t event_queue_smaller_size(size_t n, size_t most)
{
    return n < most ? n : most;
}

static bool event_queue_is_below_part(const struct event_queue *q, size_t part)
{
    const struct backlog_limits *const l = &q->backlog.limits;
    return count_events(q) <= event_queue_smaller_size(l->events, AHEAD_EVENTS) / part &&
           count_bytes(q) <= event_queue_smaller_size(l->bytes, AHEAD_BYTES) / part;
}

bool event_queue_wait_for_room(struct event_queue *q, int timeout_ms)
{
    event_queue_publish_staged(q);
    if (event_queue_is_below_part(q, 2))
        return true;
    const int64_t end = clock_mono_ms() + timeout_ms;
    pthread_mutex_lock(&q->lock);
    wake(q); /* no more events before it has taken the available ones */
    while (!event_queue_is_below_part(q, 4) && !q->closed && !q->consumer_waits) {
        const int64_t left = end - clock_mono_ms();
        if (left <= 0)
            break;
        q->producer_waits = true;
        wait_ns(q, &q->room, left * NS_PER_MS);
    }
    q->producer_waits = false;
    const bool room = event_queue_is_below_part(q, 2) || q->consumer_waits;
    pthread_mutex_unlock(&q->lock);
    return room;
}

static void event_queue_wait_briefly(struct event_queue *q)
{
    event_queue_wait(q, NAPPING, q->taken >= FLOOD_EVENTS ? LONG_NAP_NS : NAP_NS);
    q->taken = 0;
}

static void event_queue_sleep(struct event_queue *q, int64_t ms)
{
    const int64_t before = event_queue_monotonic_ns();
    event_queue_wait(q, ASLEEP, ms * NS_PER_MS);
    q->brisk = event_queue_monotonic_ns() - before < BRISK_NS;
    q->taken = BRISK_EVENTS;
}

/* Waits until an event is due, for at most ms. */
static void event_queue_wait_until_due(struct event_queue *q, int64_t now_ms, int64_t until_ms)
{
    const int64_t due = backlog_next_due_ms(&q->backlog);
    q->sleeps_until = due;
    if (q->brisk && q->taken >= BRISK_EVENTS)
        event_queue_wait_briefly(q);
    else
        event_queue_sleep(q, (due < until_ms ? due : until_ms) - now_ms);
}

/* Events of the ring buffer are passed directly to a consumer without backlog. */
static size_t event_queue_take(struct event_queue *q, struct backlog_item *items, size_t max,
                               int64_t now_ms)
{
    struct event_ring_slot slots[TAKE_MAX];
    const size_t there = event_ring_take(&q->inbox, slots, max < TAKE_MAX ? max : TAKE_MAX);
    size_t n = 0;
    while (n < there &&
           backlog_try_bypass(&q->backlog, slots[n].turn_backlog, slots[n].shared, &items[n]))
        n++;
    if (n < there) {
        event_queue_push_slots(q, slots + n, there - n, now_ms);
        event_queue_drain_ring(q, now_ms);
    }
    return n ? n : backlog_pop(&q->backlog, items, max, now_ms);
}

size_t event_queue_pop(struct event_queue *q, struct backlog_item *items, size_t max, int wait_ms,
                       bool *closed)
{
    ASSERT(max > 0);
    int64_t now_ms = clock_mono_ms();
    const int64_t until_ms = now_ms + wait_ms;
    size_t n;
    pthread_mutex_lock(&q->lock);
    q->consumer_waits = false;
    while ((n = event_queue_take(q, items, max, now_ms)) == 0 &&
           control_queue_is_empty(&q->control) && !q->closed && now_ms < until_ms) {
        event_queue_wait_until_due(q, now_ms, until_ms);
        now_ms = clock_mono_ms();
    }
    *closed = n == 0 && q->closed && control_queue_is_empty(&q->control);
    q->taken += n;
    publish(q);
    const bool tell = q->producer_waits && event_queue_is_below_part(q, 4);
    pthread_mutex_unlock(&q->lock);
    if (tell)
        pthread_cond_signal(&q->room);
    return n;
}

struct backlog_stats event_queue_stats(struct event_queue *q)
{
    event_ring_publish(&q->inbox);
    pthread_mutex_lock(&q->lock);
    event_queue_drain_ring(q, clock_mono_ms());
    publish(q);
    const struct backlog_stats stats = q->backlog.stats;
    pthread_mutex_unlock(&q->lock);
    return stats;
}
