/* SPDX-License-Identifier: MIT
 * Tests of plugin/queue/event_queue.h: threads, waiting, and random runs that check the guarantees
 * of backlog.h. */
#include "plugin/queue/event_queue.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/bytes/buf.h"
#include "base/sys/clock.h"
#include "plugin/events.h"
#include "tap/tap.h"

/* ---- random runs that check the guarantees ---- */

#define LANES 3
#define DEADLINE_MS 20000

/* The events that one turn has sent and received. */
struct side {
    struct turn_backlog *turn_backlog;
    uint64_t seq, last_seq;
    struct buf sent, received; /* narration */
    uint64_t reserved_told, reserved_heard, calls_told, calls_heard, dropped_heard;
    bool started, done;
    bool bare;    /* beyond the hard limit, where calls are dropped, too */
    char why[96]; /* the first violated guarantee */
};

static unsigned random_below(unsigned *state, unsigned n)
{
    *state = *state * 1103515245u + 12345u;
    return (*state >> 16) % n;
}

static void fail_side(struct side *s, const char *why)
{
    if (!s->why[0])
        snprintf(s->why, sizeof s->why, "%s", why);
}

static struct shared_event *random_event(struct side *s, unsigned *state)
{
    static const char *const ids[] = {"m1", "m2", NULL};
    char text[32];
    s->seq++;
    snprintf(text, sizeof text, "<%llu>", (unsigned long long)s->seq);
    switch (random_below(state, 12)) {
    case 0:
        s->calls_told++;
        return tool_call(s->seq, "{\"a\":1}");
    case 1:
        s->calls_told++;
        return tool_result(s->seq, text);
    case 2:
        s->reserved_told++;
        return box_of(random_below(state, 2) ? TC_USAGE : TC_REQUEST, s->seq);
    case 3:
        return thinking(s->seq, text);
    case 4:
        return progress(s->seq, random_below(state, 2) ? "u1" : "u2", text);
    case 5:
        return output(s->seq, "u1", text);
    case 6:
        return box_of(random_below(state, 2) ? TC_NOTICE : TC_STEP, s->seq);
    default:
        buf_add_str(&s->sent, text);
        return narration(s->seq, text, ids[random_below(state, 3)]);
    }
}

static void receive(struct side *s, const struct event *ev)
{
    if (s->done)
        fail_side(s, "an event after done");
    if (ev->meta.seq <= s->last_seq)
        fail_side(s, "seq does not increase");
    if (!s->started && ev->kind != TC_START)
        fail_side(s, "an event before start");
    s->last_seq = ev->meta.seq;
    s->started = true;
    s->done = ev->kind == TC_DONE;
    s->reserved_heard += kind_overflow(ev->kind) == OVERFLOW_KEEP;
    s->calls_heard += ev->kind == TC_TOOL_CALL || ev->kind == TC_TOOL_RESULT;
    if (ev->kind == TC_NARRATION)
        buf_add(&s->received, ev->u.narration.text, ev->u.narration.text_len);
    if (ev->kind == TC_NOTICE && ev->meta.x)
        s->dropped_heard += strtoull(ev->meta.x + strlen("{\"count\":"), NULL, 10);
}

static void take_items(struct backlog *b, size_t max, int64_t now)
{
    struct backlog_item items[64];
    const size_t n = backlog_pop(b, items, max, now);
    for (size_t i = 0; i < n; i++) {
        receive(items[i].turn, shared_event_get(items[i].shared));
        shared_event_unref(items[i].shared);
    }
}

static void finish_sides(struct backlog *b, struct side *sides, int64_t now)
{
    for (size_t i = 0; i < LANES; i++) {
        sides[i].reserved_told += 3;
        backlog_push(b, sides[i].turn_backlog, box_of(TC_FINAL, ++sides[i].seq), now);
        backlog_push(b, sides[i].turn_backlog, box_of(TC_DONE, ++sides[i].seq), now);
    }
}

/* Returns the first guarantee that a random run violates, or NULL. */
static const char *check_run(unsigned seed, char *why, size_t room)
{
    unsigned state = seed;
    struct side sides[LANES] = {{0}};
    struct backlog b;
    const size_t limit = 8 + random_below(&state, 60);
    backlog_init(&b, &(struct backlog_limits){limit, 1 << 20, random_below(&state, 2) * 20});
    int64_t now = 0;
    for (size_t i = 0; i < LANES; i++) {
        sides[i].turn_backlog = backlog_open_turn(&b, &sides[i]);
        backlog_push(&b, sides[i].turn_backlog, box_of(TC_START, ++sides[i].seq), now);
    }
    const unsigned appetite = random_below(&state, 5);
    for (unsigned i = 0; i < 400; i++, now += random_below(&state, 4)) {
        struct side *const s = &sides[random_below(&state, LANES)];
        backlog_push(&b, s->turn_backlog, random_event(s, &state), now);
        for (size_t k = 0; k < LANES; k++)
            sides[k].bare = sides[k].turn_backlog->bare;
        if (random_below(&state, 8) < appetite)
            take_items(&b, 1 + random_below(&state, 16), now);
    }
    finish_sides(&b, sides, now);
    for (size_t k = 0; k < LANES; k++)
        sides[k].bare = sides[k].turn_backlog->bare;
    while (b.turn_backlogs)
        take_items(&b, 64, now += 20);
    const struct backlog_stats stats = b.stats;
    backlog_fini(&b);

    uint64_t sent = 0;
    why[0] = '\0';
    for (size_t i = 0; i < LANES; i++) {
        struct side *const s = &sides[i];
        if (!s->done)
            fail_side(s, "done is missing");
        if (s->reserved_heard != s->reserved_told)
            fail_side(s, "a reserved event is missing");
        if (!s->bare && s->calls_heard != s->calls_told)
            fail_side(s, "a tool call or result is missing");
        if (s->sent.len != s->received.len ||
            (s->sent.len && memcmp(s->sent.p, s->received.p, s->sent.len) != 0))
            fail_side(s, "narration differs");
        sent += s->dropped_heard;
        if (s->why[0] && !why[0])
            snprintf(why, room, "%s", s->why);
        buf_fini(&s->sent);
        buf_fini(&s->received);
    }
    if (!why[0] && sent != stats.dropped)
        snprintf(why, room, "%llu dropped, %llu reported", (unsigned long long)stats.dropped,
                 (unsigned long long)sent);
    if (!why[0] && (stats.events || stats.bytes))
        snprintf(why, room, "the counters do not end at zero");
    return why[0] ? why : NULL;
}

static void test_random(void)
{
    unsigned broken = 0;
    for (unsigned seed = 1; seed <= 1500 && broken < 3; seed++) {
        char why[96];
        if (check_run(seed, why, sizeof why)) {
            diag("seed %u: %s", seed, why);
            broken++;
        }
    }
    ok(broken == 0, "1500 random runs: order, narration, reserved events, counts");
}

/* ---- threads ---- */

struct consumer {
    struct event_queue *queue;
    struct turn_backlog *turn_backlog;
    _Atomic uint64_t received, wrong;
    uint64_t last_seq;
    unsigned delay_every; /* pauses after this number of events */
};

static void *consume(void *arg)
{
    struct consumer *const c = arg;
    struct backlog_item items[64];
    bool closed = false;
    while (!closed) {
        const size_t n = event_queue_pop(c->queue, items, 64, DEADLINE_MS, &closed);
        for (size_t i = 0; i < n; i++) {
            const struct event *const ev = shared_event_get(items[i].shared);
            if (ev->meta.seq != c->last_seq + 1)
                atomic_fetch_add(&c->wrong, 1);
            c->last_seq = ev->meta.seq;
            const uint64_t received = atomic_fetch_add(&c->received, 1) + 1;
            shared_event_unref(items[i].shared);
            if (c->delay_every && received % c->delay_every == 0)
                sched_yield();
        }
    }
    return NULL;
}

static void test_threads(unsigned delay_every)
{
    enum { EVENTS = 20000 };
    struct consumer c = {.delay_every = delay_every};
    c.queue = event_queue_new(&(struct backlog_limits){256, 1 << 20, 0});
    c.turn_backlog = event_queue_open_turn(c.queue, &c);
    pthread_t thread;
    pthread_create(&thread, NULL, consume, &c);
    bool room = true;
    for (uint64_t seq = 1; seq <= EVENTS && room; seq++) {
        event_queue_push(c.queue, c.turn_backlog,
                         seq < EVENTS ? narration(seq, "x", "m") : box_of(TC_DONE, seq));
        room = event_queue_wait_for_room(c.queue, DEADLINE_MS);
    }
    ok(room, "waiting for room always succeeds");
    event_queue_close(c.queue);
    pthread_join(thread, NULL);
    is_int((long long)c.received, EVENTS, "a producer that waits for room loses no event");
    is_int((long long)c.wrong, 0, "no events are joined, and all are in order");
    is_int((long long)event_queue_stats(c.queue).joined, 0, "the queue counts no joined events");
    event_queue_free(c.queue);
}

/* Bursts of events of any length, published together or separately. */
static void test_bursts(void)
{
    enum { EVENTS = 20000 };
    struct consumer c = {0};
    c.queue = event_queue_new(&(struct backlog_limits){1024, 1 << 20, 0});
    c.turn_backlog = event_queue_open_turn(c.queue, &c);
    pthread_t thread;
    pthread_create(&thread, NULL, consume, &c);
    unsigned state = 7;
    bool room = true;
    for (uint64_t seq = 1; seq <= EVENTS && room;) {
        event_queue_set_batching(c.queue, true);
        for (unsigned n = random_below(&state, 300); n > 0 && seq <= EVENTS; n--, seq++) {
            room = room && event_queue_wait_for_room(c.queue, DEADLINE_MS);
            event_queue_push(c.queue, c.turn_backlog,
                             seq < EVENTS ? narration(seq, "x", "m") : box_of(TC_DONE, seq));
        }
        event_queue_set_batching(c.queue, false);
    }
    ok(room, "bursts: waiting for room always succeeds");
    event_queue_close(c.queue);
    pthread_join(thread, NULL);
    is_int((long long)c.received, EVENTS, "bursts: no event is lost");
    is_int((long long)c.wrong, 0, "bursts: no events are joined, and all are in order");
    event_queue_free(c.queue);
}

static void test_gathers(void)
{
    struct event_queue *const q = event_queue_new(&(struct backlog_limits){1024, 1 << 20, 0});
    struct turn_backlog *const turn_backlog = event_queue_open_turn(q, q);
    struct backlog_item items[128];
    bool closed;
    uint64_t seq = 0;
    event_queue_set_batching(q, true);
    event_queue_push(q, turn_backlog, narration(++seq, "x", "m"));
    is_int((long long)event_queue_pop(q, items, 128, 0, &closed), 0,
           "a single event of a burst is not published yet");
    while (seq < 64)
        event_queue_push(q, turn_backlog, narration(++seq, "x", "m"));
    is_int((long long)event_queue_pop(q, items, 128, 0, &closed), 64,
           "64 events of a burst are published");
    for (size_t i = 0; i < 64; i++)
        shared_event_unref(items[i].shared);
    event_queue_push(q, turn_backlog, narration(++seq, "x", "m"));
    event_queue_set_batching(q, false);
    is_int((long long)event_queue_pop(q, items, 128, 0, &closed), 1,
           "the last event is published at the end of the burst");
    shared_event_unref(items[0].shared);
    event_queue_set_batching(q, true);
    event_queue_push(q, turn_backlog, narration(++seq, "x", "m"));
    is_int((long long)event_queue_stats(q).events, 1, "unpublished events are counted");
    event_queue_push(q, turn_backlog, narration(++seq, "x", "m"));
    event_queue_close(q);
    is_int((long long)event_queue_pop(q, items, 128, 0, &closed), 2,
           "closing publishes the remaining events");
    shared_event_unref(items[0].shared);
    shared_event_unref(items[1].shared);
    event_queue_set_batching(q, true);
    event_queue_push(q, turn_backlog, narration(++seq, "x", "m"));
    event_queue_free(q);
}

static bool has_received_all(void *arg)
{
    const struct consumer *const c = arg;
    return c->received == c->last_seq && c->received > 0;
}

static bool has_received_one(void *arg)
{
    return ((struct consumer *)arg)->received >= 1;
}

static bool has_received_two(void *arg)
{
    return ((struct consumer *)arg)->received >= 2;
}

static bool has_received_three(void *arg)
{
    return ((struct consumer *)arg)->received >= 3;
}

static void test_wake(void)
{
    struct consumer c = {0};
    c.queue = event_queue_new(&(struct backlog_limits){256, 1 << 20, 0});
    c.turn_backlog = event_queue_open_turn(c.queue, &c);
    pthread_t thread;
    pthread_create(&thread, NULL, consume, &c);
    for (uint64_t seq = 1; seq <= 3; seq++)
        event_queue_push(c.queue, c.turn_backlog, narration(seq, "x", "m"));
    ok(tap_wait(has_received_three, &c, DEADLINE_MS), "single events wake a sleeping consumer");
    ok(has_received_all(&c), "all events arrive");
    event_queue_close(c.queue);
    pthread_join(thread, NULL);
    event_queue_free(c.queue);
}

static void test_wake_by_pace(void)
{
    struct event_queue *const q = event_queue_new(&(struct backlog_limits){256, 1 << 20, 30});
    struct turn_backlog *const turn_backlog = event_queue_open_turn(q, q);
    struct backlog_item item;
    bool closed;
    event_queue_push(q, turn_backlog, narration(1, "a", "m"));
    is_int((long long)event_queue_pop(q, &item, 1, DEADLINE_MS, &closed), 1,
           "the first event is due at once");
    shared_event_unref(item.shared);
    const int64_t before = clock_mono_ms();
    event_queue_push(q, turn_backlog, narration(2, "b", "m"));
    event_queue_push(q, turn_backlog, narration(3, "c", "m"));
    is_int((long long)event_queue_pop(q, &item, 1, DEADLINE_MS, &closed), 1,
           "the consumer sleeps until the next event is due");
    ok(clock_mono_ms() - before >= 25, "the event is not due earlier");
    is_str(shared_event_get(item.shared)->u.narration.text, "bc", "the waiting events are joined");
    shared_event_unref(item.shared);
    event_queue_free(q);
}

/* A consumer that sleeps while no event is waiting must wake for an event that becomes due later.
 * */
static void test_wake_sleeper_by_pace(void)
{
    struct consumer c = {0};
    c.queue = event_queue_new(&(struct backlog_limits){256, 1 << 20, 300});
    c.turn_backlog = event_queue_open_turn(c.queue, &c);
    pthread_t thread;
    pthread_create(&thread, NULL, consume, &c);
    event_queue_push(c.queue, c.turn_backlog, narration(1, "a", "m"));
    ok(tap_wait(has_received_one, &c, DEADLINE_MS), "the first event arrives at once");
    tap_wait(has_received_three, &c, 50);
    event_queue_push(c.queue, c.turn_backlog, narration(2, "b", "m"));
    ok(tap_wait(has_received_two, &c, DEADLINE_MS / 4),
       "a sleeping consumer wakes when the next event is due");
    event_queue_push(c.queue, c.turn_backlog, narration(3, "c", "m"));
    event_queue_close(c.queue);
    pthread_join(thread, NULL);
    is_int((long long)c.received, 3, "closing makes waiting events due at once");
    event_queue_free(c.queue);
}

static void test_close_releases(void)
{
    struct event_queue *const q = event_queue_new(&(struct backlog_limits){256, 1 << 20, 60000});
    struct turn_backlog *const turn_backlog = event_queue_open_turn(q, q);
    struct backlog_item item;
    bool closed;
    event_queue_push(q, turn_backlog, narration(1, "a", "m"));
    event_queue_pop(q, &item, 1, 0, &closed);
    shared_event_unref(item.shared);
    event_queue_push(q, turn_backlog, narration(2, "b", "m"));
    is_int((long long)event_queue_pop(q, &item, 1, 0, &closed), 0, "an event waits for the pace");
    event_queue_close(q);
    is_int((long long)event_queue_pop(q, &item, 1, 0, &closed), 1,
           "closing makes the waiting event due");
    shared_event_unref(item.shared);
    event_queue_free(q);
}

static void test_limits_of_waiting(void)
{
    struct event_queue *const q = event_queue_new(&(struct backlog_limits){4, 1 << 20, 0});
    struct turn_backlog *const turn_backlog = event_queue_open_turn(q, q);
    struct backlog_item items[8];
    bool closed;
    is_int((long long)event_queue_pop(q, items, 8, 0, &closed), 0,
           "an empty queue returns no event");
    ok(!closed, "an empty queue is not closed");
    is_int((long long)event_queue_pop(q, items, 8, 5, &closed), 0,
           "a wait without events ends at its limit");
    ok(event_queue_wait_for_room(q, 0), "an empty queue has room");
    for (uint64_t seq = 1; seq <= 3; seq++)
        event_queue_push(q, turn_backlog, box_of(TC_USAGE, seq));
    is_real(event_queue_fill_ratio(q), 0.75, "the fill ratio");
    ok(!event_queue_wait_for_room(q, 5), "waiting for room of a full queue ends at its limit");
    event_queue_close(q);
    is_int((long long)event_queue_pop(q, items, 8, DEADLINE_MS, &closed), 3,
           "a closed queue returns its remaining events");
    ok(!closed, "a closed queue is not reported as closed before them");
    for (size_t i = 0; i < 3; i++)
        shared_event_unref(items[i].shared);
    is_int((long long)event_queue_pop(q, items, 8, DEADLINE_MS, &closed), 0,
           "a closed queue returns no event after them");
    ok(closed, "the end of a closed queue is reported");
    event_queue_push(q, turn_backlog, box_of(TC_USAGE, 4));
    event_queue_free(q);
    diag("remaining events are freed; the leak checker verifies it");
}

int main(void)
{
    plan_lazy();
    test_random();
    test_threads(0);
    test_threads(50);
    test_bursts();
    test_gathers();
    test_wake();
    test_wake_by_pace();
    test_wake_sleeper_by_pace();
    test_close_releases();
    test_limits_of_waiting();
}
