/* SPDX-License-Identifier: MIT
 * Many lanes at random against a model: order, one in flight, pace, holds, one end for each. */
#include "io/send/send_scheduler.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sys/clock.h"
#include "tap/tap.h"

enum { LANES = 12, ITEMS = 3000, RATES = 3, FLYING_MAX = LANES };

static const struct send_rate rates[RATES] = {
    {.rate = {.count = 1, .interval_ms = 1100}, .per_lane = true},
    {.rate = {.count = 5, .interval_ms = 1000, .burst = 3}},
    {.rate = {.count = 1, .interval_ms = 1200}},
};

/* What the test knows of one item; `item` is first. */
struct work {
    struct queued_request item;
    int lane;
    long place; /* in the order of its priority */
    char key[8];
    bool waits, flies;
    int starts, ends;
    enum send_result end;
    int64_t lands_ms;
};

/* Starts that a rate counted. */
struct starts {
    int64_t at[ITEMS * 8];
    size_t count;
};

static struct {
    struct send_scheduler *lanes;
    struct work items[ITEMS];
    size_t count;
    int flying[LANES];
    int64_t lane_held[LANES], rate_held[RATES], held;
    struct starts lane_starts[LANES], rate_starts[RATES];
    /* what must not be */
    unsigned out_of_order, crowded, early, late, stale;
    unsigned ended[SEND_CLOSED + 1], attempts, edits;
    bool is_closing;
} w;

static bool is_edit(const struct work *a)
{
    return a->item.priority == PRIORITY_LIVE;
}

static void on_ended(void *ctx, struct queued_request *item, enum send_result end)
{
    (void)ctx;
    struct work *const a = (struct work *)item;
    a->ends++;
    a->end = end;
    a->waits = false;
    w.ended[end]++;
    if (end == SEND_EXPIRED && clock_mono_ms() < a->item.deadline_ms)
        w.early++;
    if (end == SEND_REPLACED && !is_edit(a))
        w.stale++;
}

static int64_t random_deadline(void)
{
    return rand() % 8 ? 0 : clock_mono_ms() + rand() % 30000;
}

static void submit(void)
{
    struct work *const a = &w.items[w.count];
    const enum send_priority priority =
        (enum send_priority)((int[]){0, 1, 2, 2, 3, 3, 3, 3}[rand() % 8]);
    *a = (struct work){.lane = rand() % LANES, .place = (long)w.count, .waits = true};
    snprintf(a->key, sizeof a->key, "m%d", rand() % 2);
    a->item = (struct queued_request){.priority = priority,
                                      .rates = 1u | (rand() % 2 ? 2u : 4u),
                                      .key = priority == PRIORITY_LIVE ? a->key : NULL,
                                      .deadline_ms = random_deadline()};
    /* The newer edit takes the older one's place. */
    for (size_t i = 0; i < w.count && is_edit(a); i++) {
        const struct work *const b = &w.items[i];
        if (b->waits && b->lane == a->lane && is_edit(b) && strcmp(a->key, b->key) == 0)
            a->place = b->place;
    }
    w.count++;
    char name[16];
    snprintf(name, sizeof name, "lane %d", a->lane);
    send_scheduler_submit(w.lanes, name, &a->item, clock_mono_ms());
}

static bool is_before(const struct work *a, const struct work *b)
{
    return a->item.priority != b->item.priority ? a->item.priority < b->item.priority
                                                : a->place < b->place;
}

static void check_order(const struct work *a)
{
    for (size_t i = 0; i < w.count; i++) {
        const struct work *const b = &w.items[i];
        if (b->lane == a->lane && b != a && b->waits && is_before(b, a))
            w.out_of_order++;
        if (b->lane == a->lane && b > a && is_edit(a) && b->item.priority == PRIORITY_FINAL)
            w.stale++; /* an edit after the final was known */
    }
}

/* The last start against the one `burst` and the one burst + 5 before. */
static void check_pace(struct starts *s, const struct rate_limit *rate)
{
    const int64_t now = clock_mono_ms();
    const size_t burst = rate->burst ? rate->burst : 1;
    s->at[s->count++] = now;
    for (size_t k = burst; k <= burst + 5 && k < s->count; k++)
        if (now - s->at[s->count - 1 - k] <
            (int64_t)(k + 1 - burst) * rate->interval_ms / rate->count)
            w.early++;
}

static void check_holds(const struct work *a)
{
    const int64_t now = clock_mono_ms();
    bool held = now < w.held || now < w.lane_held[a->lane];
    for (size_t i = 0; i < RATES; i++)
        held = held || (a->item.rates >> i & 1 && now < w.rate_held[i]);
    w.early += held;
}

static void start(struct work *a)
{
    const int64_t now = clock_mono_ms();
    w.attempts++;
    w.edits += is_edit(a);
    w.crowded += w.flying[a->lane]++ > 0;
    w.late += a->item.deadline_ms && now >= a->item.deadline_ms;
    check_order(a);
    check_holds(a);
    check_pace(&w.lane_starts[a->lane], &rates[0].rate);
    for (size_t i = 1; i < RATES; i++)
        if (a->item.rates >> i & 1)
            check_pace(&w.rate_starts[i], &rates[i].rate);
    a->waits = false;
    a->flies = true;
    a->starts++;
    a->lands_ms = now + rand() % 400;
}

static void note_hold(const struct work *a, const struct retry_decision *v)
{
    const int64_t until = clock_mono_ms() + v->hold_ms;
    int64_t *const held = v->scope == RETRY_INSTANCE ? &w.held : &w.lane_held[a->lane];
    if (v->scope != RETRY_RATES)
        *held = until > *held ? until : *held;
    for (size_t i = 1; i < RATES && v->scope == RETRY_RATES; i++)
        if (a->item.rates >> i & 1 && until > w.rate_held[i])
            w.rate_held[i] = until;
}

static void land(struct work *a)
{
    struct retry_decision v = {.again = !w.is_closing && rand() % 4 == 0};
    if (v.again ? rand() % 2 : rand() % 8 == 0) {
        v.hold_ms = 1 + rand() % 4000;
        v.scope = (enum retry_scope)(rand() % 20 ? rand() % 2 : 2);
        note_hold(a, &v);
    }
    w.flying[a->lane]--;
    a->flies = false;
    a->waits = v.again;
    send_scheduler_settle(w.lanes, &a->item, &v, clock_mono_ms());
}

/* Lands what is due; returns how long until the next is. */
static int64_t land_all(bool now)
{
    int64_t wait = -1;
    for (size_t i = 0; i < w.count; i++) {
        struct work *const a = &w.items[i];
        if (!a->flies)
            continue;
        const int64_t left = a->lands_ms - clock_mono_ms();
        if (now || left <= 0)
            land(a);
        else if (wait < 0 || left < wait)
            wait = left;
    }
    return wait;
}

/* One moment; false when nothing will happen any more. */
static bool run_moment(void)
{
    struct queued_request *item;
    int64_t wait = land_all(false);
    while ((item = send_scheduler_next(w.lanes, clock_mono_ms()))) {
        start((struct work *)item);
        wait = wait < 0 || wait > 1 ? 1 : wait;
    }
    const int64_t lanes_wait = send_scheduler_wait_ms(w.lanes, clock_mono_ms());
    if (wait < 0 || (lanes_wait >= 0 && lanes_wait < wait))
        wait = lanes_wait;
    if (wait == 0)
        w.late++; /* it says "now", but there was nothing: a busy loop */
    clock_fake_advance(wait > 0 ? wait : 1);
    return wait >= 0;
}

static unsigned not_ended_once(void)
{
    unsigned wrong = 0;
    for (size_t i = 0; i < w.count; i++)
        wrong += w.items[i].ends != 1;
    return wrong;
}

static void run(unsigned seed, bool close_early)
{
    srand(seed);
    memset(&w, 0, sizeof w);
    clock_fake(1000000, 0);
    w.lanes = send_scheduler_new(&(struct send_scheduler_spec){
        .rates = rates, .rate_count = RATES, .seed = seed, .ended = on_ended});
    const size_t flowing = close_early ? ITEMS - 200 : ITEMS;
    while (w.count < flowing) {
        for (int n = rand() % 3; n > 0 && w.count < flowing; n--)
            submit();
        /* Crowds and quiet times take turns: in a crowd no edit gets its chance. */
        for (int n = w.count / 100 % 2 ? 12 : 1; n > 0; n--)
            run_moment();
    }
    while (w.count < ITEMS)
        submit();
    while (!close_early && run_moment())
        ;
    w.is_closing = true;
    send_scheduler_close(w.lanes);
    land_all(true);
    send_scheduler_free(w.lanes);
    clock_fake_end();
}

static void test_random(unsigned seed, bool close_early)
{
    run(seed, close_early);
    diag("seed %u: %u attempts, %u of edits, %u decided, %u replaced, %u expired, %u closed", seed,
         w.attempts, w.edits, w.ended[SEND_DECIDED], w.ended[SEND_REPLACED], w.ended[SEND_EXPIRED],
         w.ended[SEND_CLOSED]);
    is_int(not_ended_once(), 0, "seed %u: every item ends once", seed);
    is_int(w.crowded, 0, "seed %u: one in flight per lane", seed);
    is_int(w.out_of_order, 0, "seed %u: requests are started in the order of priority and arrival",
           seed);
    is_int(w.stale, 0, "seed %u: no edit once the final is known; only edits replaced", seed);
    is_int(w.early, 0, "seed %u: no rate limit is exceeded, and each pause is observed", seed);
    is_int(w.late, 0,
           "seed %u: no request starts after its deadline, and none waits without a reason", seed);
    ok(w.edits > 100 && w.ended[SEND_DECIDED] > 100 && w.ended[SEND_REPLACED] > 100 &&
           w.ended[SEND_EXPIRED] > 5,
       "seed %u: all of it happened", seed);
    ok(close_early == (w.ended[SEND_CLOSED] > 0), "seed %u: closed", seed);
}

static void count_end(void *ctx, struct queued_request *item, enum send_result end)
{
    (void)item;
    (void)end;
    ++*(unsigned *)ctx;
}

/* Three lanes that never rest share one instance-wide rate. */
static void test_fairness(void)
{
    static const struct send_rate slow = {.rate = {.count = 1, .interval_ms = 100}};
    struct queued_request items[30];
    unsigned ended = 0, by_lane[3] = {0};
    struct send_scheduler *const s = send_scheduler_new(&(struct send_scheduler_spec){
        .rates = &slow, .rate_count = 1, .ended = count_end, .ctx = &ended});
    for (int i = 0; i < 30; i++) {
        items[i] = (struct queued_request){.priority = PRIORITY_NOTICE, .rates = 1};
        send_scheduler_submit(s, (const char *[]){"a", "b", "c"}[i / 10], &items[i], 0);
    }
    for (int64_t now = 0; now < 1500; now += 100) {
        struct queued_request *const item = send_scheduler_next(s, now);
        by_lane[(item - items) / 10]++;
        send_scheduler_settle(s, item, &(struct retry_decision){0}, now);
        ok(!send_scheduler_next(s, now), "at %lld ms one request starts", (long long)now);
    }
    ok(by_lane[0] == 5 && by_lane[1] == 5 && by_lane[2] == 5,
       "three conversations have equal shares");
    struct queued_request final = {.priority = PRIORITY_FINAL, .rates = 1};
    send_scheduler_submit(s, "d", &final, 1500);
    ok(send_scheduler_next(s, 1500) == &final, "a final of any conversation is started first");
    send_scheduler_settle(s, &final, &(struct retry_decision){0}, 1500);
    send_scheduler_close(s);
    is_int(ended, 31, "all requests have ended");
    send_scheduler_free(s);
}

/* A conversation that rests is forgotten once its pace no longer counts. */
static void test_forgetting(void)
{
    unsigned ended = 0;
    struct send_scheduler *const s = send_scheduler_new(&(struct send_scheduler_spec){
        .rates = rates, .rate_count = 1, .ended = count_end, .ctx = &ended});
    size_t most = 0;
    for (int i = 0; i < 1000; i++) {
        struct queued_request item = {.priority = PRIORITY_FINAL, .rates = 1};
        char name[16];
        snprintf(name, sizeof name, "%d", i);
        send_scheduler_submit(s, name, &item, i * 100);
        if (send_scheduler_next(s, i * 100) == &item)
            send_scheduler_settle(s, &item, &(struct retry_decision){0}, i * 100);
        most = send_scheduler_count(s) > most ? send_scheduler_count(s) : most;
    }
    is_int(ended, 1000, "requests of a thousand conversations have ended");
    ok(most <= 64, "at most %zu conversations are stored", most);
    send_scheduler_free(s);
}

/* Requests of no conversation: at once, side by side, but at the instance's pace. */
static void test_no_lane(void)
{
    static const struct send_rate slow = {.rate = {.count = 1, .interval_ms = 100}};
    struct queued_request items[200], paced[2];
    unsigned ended = 0, gone = 0;
    struct send_scheduler *const s = send_scheduler_new(&(struct send_scheduler_spec){
        .rates = &slow, .rate_count = 1, .ended = count_end, .ctx = &ended});
    for (size_t i = 0; i < 200; i++) {
        items[i] = (struct queued_request){.priority = PRIORITY_NOTICE};
        send_scheduler_submit(s, NULL, &items[i], 0);
    }
    while (send_scheduler_next(s, 0))
        gone++;
    is_int(gone, 200, "all requests start at once");
    for (size_t i = 0; i < 200; i++)
        send_scheduler_settle(s, &items[i], &(struct retry_decision){0}, 1);
    for (size_t i = 0; i < 1000; i++) {
        struct queued_request item = {.priority = PRIORITY_NOTICE};
        send_scheduler_submit(s, NULL, &item, 1);
        send_scheduler_settle(s, send_scheduler_next(s, 1), &(struct retry_decision){0}, 1);
    }
    ok(send_scheduler_count(s) <= 256, "ended requests without a conversation are forgotten");
    for (size_t i = 0; i < 2; i++) {
        paced[i] = (struct queued_request){.priority = PRIORITY_NOTICE, .rates = 1};
        send_scheduler_submit(s, NULL, &paced[i], 2);
    }
    ok(send_scheduler_next(s, 2) && !send_scheduler_next(s, 101),
       "requests without a conversation count towards the rate limit of the instance");
    ok(send_scheduler_next(s, 102) != NULL,
       "requests without a conversation wait for the rate limit of the instance");
    for (size_t i = 0; i < 2; i++)
        send_scheduler_settle(s, &paced[i], &(struct retry_decision){0}, 102);
    is_int(ended, 1202, "each request has ended once");
    send_scheduler_free(s);
}

static void test_times(void)
{
    static const struct send_rate pace = {.rate = {.count = 1, .interval_ms = 100},
                                          .per_lane = true};
    struct queued_request a = {.rates = 1, .not_before_ms = 50}, b = {.rates = 1}, c = {.rates = 1};
    unsigned ended = 0;
    struct send_scheduler *const s = send_scheduler_new(&(struct send_scheduler_spec){
        .rates = &pace, .rate_count = 1, .ended = count_end, .ctx = &ended});
    send_scheduler_submit(s, "a", &a, 0);
    send_scheduler_submit(s, "a", &b, 0);
    send_scheduler_submit(s, "a", &c, 0);
    is_int(send_scheduler_wait_ms(s, 0), 50, "the request waits until its time");
    ok(send_scheduler_next(s, 50) == &a, "the request starts at its time");
    send_scheduler_settle(s, &a, &(struct retry_decision){0}, 51);
    ok(send_scheduler_next(s, 150) == &b,
       "the next request starts at the pace of the conversation");
    send_scheduler_record_send_time(s, &b, 180);
    send_scheduler_settle(s, &b, &(struct retry_decision){0}, 190);
    is_int(send_scheduler_wait_ms(s, 190), 90, "the pace is measured from the actual start");
    ok(send_scheduler_next(s, 280) == &c, "the third request starts");
    send_scheduler_settle(s, &c, &(struct retry_decision){0}, 280);
    is_int(ended, 3, "each request has ended once");
    send_scheduler_free(s);
}

/* An hour without the service: the back-off of each has grown to minutes, but the first answer
 * ends it for those that were not sent, and for no others. */
static void test_outage(void)
{
    static const struct retry_decision again = {.again = true};
    static const struct send_rate slow = {.rate = {.count = 2, .burst = 2, .interval_ms = 60000}};
    struct queued_request a = {.rates = 1}, b = {.rates = 1}, refused = {0}, probe = {0};
    unsigned ended = 0, attempts = 0;
    int64_t now = 0;
    struct send_scheduler *const s = send_scheduler_new(&(struct send_scheduler_spec){
        .rates = &slow, .rate_count = 1, .ended = count_end, .ctx = &ended});
    send_scheduler_submit(s, "a", &a, 0);
    send_scheduler_submit(s, "b", &b, 0);
    send_scheduler_submit(s, "c", &refused, 0);
    for (struct queued_request *item; (item = send_scheduler_next(s, now)) || now < 3600 * 1000;) {
        attempts += item != NULL;
        if (item && item != &refused)
            send_scheduler_handle_unreachable(s, item);
        if (item)
            send_scheduler_settle(s, item, &again, now);
        else
            now += send_scheduler_wait_ms(s, now);
    }
    ok(attempts < 3 * 50, "%u attempts of three lanes in an hour", attempts);
    refused.not_before_ms = now + 60000;
    send_scheduler_submit(s, NULL, &probe, now);
    ok(send_scheduler_next(s, now) == &probe, "a probe request is started");
    send_scheduler_handle_reachable(s, now);
    send_scheduler_settle(s, &probe, &(struct retry_decision){0}, now);
    const int64_t back = now;
    for (int went = 0; went < 2; now++) {
        struct queued_request *const item = send_scheduler_next(s, now);
        went += item != NULL;
        if (item)
            send_scheduler_settle(s, item, &(struct retry_decision){0}, now);
    }
    ok(now - back <= 1000, "waiting requests start %lld ms after a reply", (long long)(now - back));
    ok(ended == 3 && send_scheduler_wait_ms(s, now) > 50000,
       "a refused request keeps its back-off");
    send_scheduler_close(s);
    send_scheduler_free(s);
}

/* 25 minutes without the service while turns go on: each "typing" expires before the next one
 * comes, so none of them sees the end of a long back-off, and each new one has to take it over. */
static void test_live_outage(void)
{
    enum { AWAY_MS = 25 * 60 * 1000, STEP_MS = 100, PERIOD_MS = 4000, AGE_MS = 3500 };
    static const struct retry_decision again = {.again = true};
    static struct queued_request typing[AWAY_MS / PERIOD_MS + 1];
    struct queued_request other = {0};
    unsigned ended = 0, attempts = 0;
    int64_t now = 0;
    struct send_scheduler *const s = send_scheduler_new(
        &(struct send_scheduler_spec){.seed = 7, .ended = count_end, .ctx = &ended});
    for (size_t i = 0; now < AWAY_MS; now += STEP_MS) {
        if (now % PERIOD_MS == 0) {
            typing[i] = (struct queued_request){
                .priority = PRIORITY_LIVE, .key = "typing", .deadline_ms = now + AGE_MS};
            send_scheduler_submit(s, "chat", &typing[i++], now);
        }
        for (struct queued_request *item; (item = send_scheduler_next(s, now)); attempts++) {
            send_scheduler_handle_unreachable(s, item);
            send_scheduler_settle(s, item, &again, now);
        }
    }
    ok(attempts > 5 && attempts < 40, "%u attempts of one conversation in 25 minutes", attempts);
    send_scheduler_submit(s, "other", &other, now);
    ok(send_scheduler_next(s, now) == &other,
       "another conversation does not wait for the back-off");
    send_scheduler_handle_reachable(s, now);
    send_scheduler_settle(s, &other, &(struct retry_decision){0}, now);
    struct queued_request fresh = {.priority = PRIORITY_LIVE};
    send_scheduler_submit(s, "chat", &fresh, now);
    now += 1000;
    struct queued_request *const next = send_scheduler_next(s, now);
    ok(next != NULL, "a reply of the service ends the back-off within a second");
    send_scheduler_handle_unreachable(s, next);
    send_scheduler_settle(s, next, &again, now);
    ok(send_scheduler_wait_ms(s, now) <= 1000, "the next back-off begins with its first step");
    send_scheduler_close(s);
    send_scheduler_free(s);
}

int main(void)
{
    plan_lazy();
    for (unsigned seed = 1; seed <= 4; seed++)
        test_random(seed, seed == 4);
    test_fairness();
    test_forgetting();
    test_no_lane();
    test_times();
    test_outage();
    test_live_outage();
    return 0;
}
