/* SPDX-License-Identifier: MIT
 * Tests of plugin/channel.h: an instance in a thread, and the effects of its faults. */
#include "plugin/channel.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/sys/clock.h"
#include "base/sys/log.h"
#include "plugin/events.h"
#include "tap/tap.h"

#define DEADLINE_MS 20000

static const struct conf conf = {.file = (char[]){"my.conf"}};
static struct conf_option no_options[1];
static char log_path[512];

static void begin_log(void)
{
    snprintf(log_path, sizeof log_path, "%s/log", tap_tmpdir());
    FILE *const f = fopen(log_path, "w");
    log_setup(LOG_TEXT, LOG_DEBUG, dup(fileno(f)));
    fclose(f);
}

/* Whether the log has a line with that text. */
static bool is_logged(void *text)
{
    size_t n;
    char *const all = tap_slurp(log_path, &n);
    const bool found = strstr(all, text) != NULL;
    free(all);
    return found;
}

static size_t count_logged(const char *text)
{
    size_t n, times = 0;
    char *const all = tap_slurp(log_path, &n);
    for (const char *p = all; (p = strstr(p, text)); p++)
        times++;
    free(all);
    return times;
}

static bool wait_logged(const char *text)
{
    char copy[128];
    snprintf(copy, sizeof copy, "%s", text);
    return tap_wait(is_logged, copy, DEADLINE_MS);
}

/* ---- the plugin: counts its calls, and waits at a gate on request ---- */

struct counts {
    _Atomic unsigned events, idles, inits, teardowns, dones;
    _Atomic uint64_t last_seq;
    atomic_bool disorder, blocked_signals, gate_init, gate_event, gate_teardown, fail_init;
    atomic_bool send_init;
    char thread[16];
};

static struct counts counts[2]; /* by the name of the instance: "a" or "b" */

static struct counts *get_counts(const struct tc_instance *inst)
{
    return &counts[inst->name[0] == 'b'];
}

static void wait_at(atomic_bool *gate)
{
    while (*gate)
        nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
}

static int init(struct tc_instance *inst)
{
    struct counts *const c = get_counts(inst);
    sigset_t set;
    pthread_sigmask(SIG_SETMASK, NULL, &set);
    c->blocked_signals = sigismember(&set, SIGTERM) && sigismember(&set, SIGINT) &&
                         sigismember(&set, SIGCHLD) && !sigismember(&set, SIGSEGV);
    wait_at(&c->gate_init);
    if (c->send_init)
        tc_http(inst->lobby, TC_HTTP(.url = "https://x.test/"));
    c->inits++;
    return c->fail_init ? -1 : 0;
}

static void teardown(struct tc_instance *inst)
{
    struct counts *const c = get_counts(inst);
    wait_at(&c->gate_teardown);
    c->teardowns++;
}

static int on_event(struct tc_turn *t, const struct tc_event *ev)
{
    struct counts *const c = get_counts(t->inst);
    wait_at(&c->gate_event);
    if (c->events == 0)
        pthread_getname_np(pthread_self(), c->thread, sizeof c->thread);
    if (ev->meta->seq <= c->last_seq)
        c->disorder = true;
    c->last_seq = ev->kind == TC_DONE ? 0 : ev->meta->seq;
    c->dones += ev->kind == TC_DONE;
    c->events++;
    return 0;
}

static int on_idle(struct tc_instance *inst)
{
    get_counts(inst)->idles++;
    return 0;
}

static struct loaded_plugin *load(void)
{
    static const struct loaded_plugin model = {
        .linked = true,
        .plugin = {.name = "counter", .turn_size = 64, .init = init, .teardown = teardown},
        .sink = {.on_event = on_event, .on_idle = on_idle},
    };
    struct loaded_plugin *const l = xmalloc(sizeof *l);
    *l = model;
    return l;
}

static struct conf_instance spec_of(const char *name)
{
    return (struct conf_instance){
        .name = (char *)(uintptr_t)name,
        .queue_events = 64,
        .queue_bytes = 1 << 20,
        .init_ms = DEADLINE_MS,
        .callback_ms = 50,
        .options = no_options,
        .line = 3,
    };
}

static struct channel *begin(const struct conf_instance *spec, struct tc_err *err)
{
    struct channel *const c = channel_thread_new(&conf, spec, load(), NULL, err);
    return c && c->ops->wait_started(c, err) == 0 ? c : NULL;
}

static struct channel *start(const char *name)
{
    struct tc_err err;
    const struct conf_instance spec = spec_of(name);
    struct channel *const c = begin(&spec, &err);
    if (!c)
        bail("%s", err_format(&err));
    return c;
}

static void forget_counts(void)
{
    for (size_t i = 0; i < 2; i++) {
        struct counts *const c = &counts[i];
        c->events = c->idles = c->inits = c->teardowns = c->dones = 0;
        c->last_seq = 0;
        c->disorder = false;
    }
}

static void *open_turn(struct channel *c)
{
    return c->ops->open(c, &(struct channel_turn){.id = "t1", .agent = "claude"});
}

static void send(struct channel *c, void *turn, struct shared_event *shared)
{
    c->ops->send(c, turn, shared);
}

static int end(struct channel *c, int ms)
{
    c->ops->stop(c);
    return c->ops->join(c, clock_mono_ms() + ms);
}

static bool has_events(void *arg)
{
    return counts[0].events >= *(unsigned *)arg;
}

static bool was_idle(void *arg)
{
    (void)arg;
    return counts[0].idles > 0;
}

/* ---- tests ---- */

static void test_start_and_stop(void)
{
    forget_counts();
    struct channel *const c = start("a-very-long-instance-name");
    is_int(counts[0].inits, 1, "init has run when start returns");
    ok(counts[0].blocked_signals, "the thread blocks signals except those of faults");
    void *const turn = open_turn(c);
    for (uint64_t seq = 1; seq < 20; seq++)
        send(c, turn, narration(seq, "x", "m"));
    send(c, turn, box_of(TC_DONE, 20));
    unsigned twenty = 20;
    ok(tap_wait(has_events, &twenty, DEADLINE_MS), "all events arrive");
    ok(!counts[0].disorder, "all events arrive in order");
    ok(tap_wait(was_idle, NULL, DEADLINE_MS), "on_idle is called after the events");
    is_str(counts[0].thread, "a-very-long-ins", "the thread has the name of the instance");
    const struct channel_health health = c->ops->health(c);
    ok(health.delivered >= 20 && health.failed == 0 && !health.hung,
       "the instance reports its health");
    is_real(health.fill, 0, "the queue is empty");
    is_int(end(c, DEADLINE_MS), 0, "the instance ends");
    is_int(counts[0].teardowns, 1, "teardown has run");
}

static void test_drain(void)
{
    forget_counts();
    struct channel *const c = start("a");
    counts[0].gate_event = true;
    void *const turn = open_turn(c);
    send(c, turn, box_of(TC_START, 1));
    for (uint64_t seq = 2; seq <= 30; seq++)
        send(c, turn, box_of(TC_USAGE, seq));
    counts[0].gate_event = false;
    is_int(end(c, DEADLINE_MS), 0, "the instance is stopped");
    is_int(counts[0].events, 30, "queued events are delivered before the end");
    diag("a turn without done is freed; the leak checker verifies it");
}

static void test_init_faults(void)
{
    forget_counts();
    struct tc_err err;
    struct conf_instance spec = spec_of("a");
    counts[0].fail_init = true;
    ok(!begin(&spec, &err), "an instance whose init fails is not started");
    is_str(err_format(&err), "my.conf:3: instance a: disabled: init failed; see the messages above",
           "the error says that init failed");
    counts[0].fail_init = false;
    is_int(counts[0].teardowns, 0, "teardown is not called");

    spec.init_ms = 20;
    counts[0].gate_init = true;
    ok(!begin(&spec, &err), "an instance whose init hangs is not started");
    is_str(err_format(&err),
           "my.conf:3: instance a: disabled: init did not return within 20 ms (init_ms)",
           "the error says that init did not return");
    counts[0].gate_init = false;

    spec.options =
        (struct conf_option[]){{(char[]){"k"}, (char[]){"v"}, NULL, 8, NULL, false}, {0}};
    ok(!begin(&spec, &err), "an instance with an unknown option is not started");
    is_str(err_format(&err),
           "my.conf:8: plugins.instances.a.k: unknown option; options of the plugin: none",
           "the error names the option");
}

static unsigned batches;

static void count_batch(void *ctx, struct callback_batch *b)
{
    (void)ctx;
    batches++;
    callback_batch_free(b);
}

static bool has_batch(void *loop)
{
    loop_run_once(loop, 10);
    return batches > 0;
}

static bool has_failed(void *channel)
{
    struct channel *const c = channel;
    return c->ops->state(c, NULL) == CHANNEL_FAILED;
}

/* Requests that init sends reach the host if init succeeds, and are dropped if it fails. */
static void test_batches_of_init(void)
{
    forget_counts();
    struct loop *const loop = loop_new();
    const struct channel_callbacks host = {.loop = loop, .batch = count_batch};
    const struct conf_instance spec = spec_of("a");
    struct tc_err err;
    counts[0].send_init = true;
    struct channel *c = channel_thread_new(&conf, &spec, load(), &host, &err);
    is_int(c->ops->wait_started(c, &err), 0, "an init that sends a request succeeds");
    ok(tap_wait(has_batch, loop, DEADLINE_MS), "the request of init reaches the host");
    end(c, DEADLINE_MS);
    batches = 0;
    counts[0].fail_init = true;
    c = channel_thread_new(&conf, &spec, load(), &host, &err);
    is_int(c->ops->wait_started(c, &err), -1,
           "an init that sends a request fails, with wait_started");
    is_int(batches, 0, "the request of the failed init is dropped");
    c = channel_thread_new(&conf, &spec, load(), &host, &err);
    c->ops->launch(c);
    ok(tap_wait(has_failed, c, DEADLINE_MS), "an init that sends a request fails, with launch");
    is_int(end(c, DEADLINE_MS), 0, "the failed instance is stopped and joined");
    is_int(batches, 0, "the request of the failed init is dropped");
    counts[0].send_init = counts[0].fail_init = false;
    loop_free(loop);
}

static void test_hang(void)
{
    forget_counts();
    struct channel *const a = start("a"), *const b = start("b");
    counts[0].gate_event = true;
    void *const at = open_turn(a), *const bt = open_turn(b);
    send(a, at, box_of(TC_START, 1));
    send(b, bt, box_of(TC_START, 1));
    const int64_t until = clock_mono_ms() + DEADLINE_MS;
    while (!a->ops->health(a).hung && clock_mono_ms() < until)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    ok(a->ops->health(a).hung, "a callback that exceeds its limit is detected");
    ok(is_logged((char[]){"instance a: on_event has not returned for "}), "the hang is logged");
    uint64_t seq = 1;
    while (seq < 400) {
        seq++;
        send(a, at, box_of(seq % 8 ? TC_USAGE : TC_STEP, seq));
        send(b, bt, box_of(TC_USAGE, seq));
        b->ops->wait_room(b, DEADLINE_MS);
    }
    ok(!b->ops->health(b).hung, "the other instance is not affected");
    is_int((long long)count_logged("has not returned for"), 1, "a hang is logged once");
    ok(!a->ops->open(a, &(struct channel_turn){.id = "t2", .agent = ""}),
       "an instance with a long backlog gets no new turns");
    send(a, at, box_of(TC_DONE, seq + 1));
    send(b, bt, box_of(TC_DONE, seq + 1));
    counts[0].gate_event = false;
    ok(wait_logged("instance a: callback returned; delivery resumed"),
       "the end of the hang is logged");
    is_int(end(a, DEADLINE_MS), 0, "the instance ends");
    is_int(end(b, DEADLINE_MS), 0, "the other instance ends");
    is_int(counts[1].events, 401, "the other instance has got all events");
    is_int(counts[0].dones, 1, "the instance has got done");
    ok(!counts[0].disorder && counts[0].events < 401, "its events are in order, with a gap");
}

static void test_abandon(void)
{
    forget_counts();
    struct channel *const a = start("a"), *const b = start("b");
    counts[0].gate_teardown = true;
    const int64_t before = clock_mono_ms();
    a->ops->stop(a);
    b->ops->stop(b);
    is_int(a->ops->join(a, before + 50), -1, "an instance whose teardown hangs is abandoned");
    is_int(b->ops->join(b, before + DEADLINE_MS), 0, "the other instance has ended");
    ok(clock_mono_ms() - before < 5000, "the instance is abandoned at the deadline");
    ok(is_logged((char[]){"instance a: did not stop in time (in teardown); abandoned"}),
       "the abandoned instance is logged");
    counts[0].gate_teardown = false;
}

static bool has_ended(void *arg);

/* An abandoned instance gets no further events. */
static void test_abandon_in_callback(void)
{
    forget_counts();
    struct channel *const a = start("a");
    counts[0].gate_event = true;
    void *const turn = open_turn(a);
    for (uint64_t seq = 1; seq <= 10; seq++)
        send(a, turn, box_of(TC_USAGE, seq));
    is_int(end(a, 50), -1, "an instance whose callback hangs is abandoned");
    ok(is_logged((char[]){"instance a: did not stop in time (in on_event); abandoned"}),
       "  reported");
    counts[0].gate_event = false;
    ok(tap_wait(has_ended, NULL, DEADLINE_MS), "the thread of the abandoned instance ends later");
    is_int(counts[0].events, 1, "the abandoned instance got no further event");
}

static bool has_ended(void *arg)
{
    (void)arg;
    return counts[0].teardowns > 0;
}

int main(void)
{
    plan_lazy();
    begin_log();
    test_start_and_stop();
    test_drain();
    test_init_faults();
    test_batches_of_init();
    test_hang();
    test_abandon();
    ok(tap_wait(has_ended, NULL, DEADLINE_MS), "the thread of the abandoned instance ends later");
    test_abandon_in_callback();
}
