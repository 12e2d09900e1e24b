/* SPDX-License-Identifier: MIT
 * Tests of plugin/thread/call_queue.h and plugin/host_call.h through a channel: an instance in a
 * thread and the host in this one, with calls, waits, stops and crashes at any time. */
#include "plugin/thread/call_queue.h"

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
static struct loop *loop;

/* ---- the host: this thread ---- */

static size_t n_batches, n_requests, n_over, n_replied, n_routes;
static uint64_t last_settled;
static bool disorder;
static struct host_call *waiting;
static bool answers_at_once;
static struct buf told;

static void take_batch(void *ctx, struct callback_batch *b)
{
    (void)ctx;
    n_batches++;
    n_requests += b->count;
    n_over += b->over;
    if (b->settles == BATCH_REQUEST) {
        n_replied++;
        disorder = disorder || b->request <= last_settled;
        last_settled = b->request;
    }
    callback_batch_free(b);
}

static void take_ask(void *ctx, struct host_call *a)
{
    (void)ctx;
    if (answers_at_once)
        host_call_complete(a, TC_ACCEPTED, "t1", NULL);
    else
        waiting = a;
}

static void take_route(void *ctx, const char *path)
{
    (void)ctx;
    (void)path;
    n_routes++;
}

static void take_open(void *ctx, int64_t socket, const struct tc_socket *spec)
{
    (void)ctx;
    buf_printf(&told, "open:%d:%s;", (int)socket, spec->url);
}

static void take_send(void *ctx, int64_t socket, struct str text, bool is_binary)
{
    (void)ctx;
    (void)is_binary;
    buf_printf(&told, "send:%d:%.*s;", (int)socket, (int)text.len, text.p);
}

static void take_close(void *ctx, int64_t socket)
{
    (void)ctx;
    buf_printf(&told, "close:%d;", (int)socket);
}

static bool run_until(bool (*there)(void *arg), void *arg)
{
    const int64_t end = clock_mono_ms() + DEADLINE_MS;
    while (!there(arg) && clock_mono_ms() < end)
        loop_run_once(loop, 20);
    return there(arg);
}

static bool is_set(void *arg)
{
    return *(atomic_bool *)arg;
}

static bool has_call(void *arg)
{
    (void)arg;
    return waiting != NULL;
}

/* ---- the plugin ---- */

static atomic_bool gate, entered, submitted;
static _Atomic enum tc_accepted accepted, accepted_in_init;
static _Atomic unsigned events, replies, events_before_reply, wakes, hits, frames;
static bool asks_in_init, sends_in_teardown;

static const struct tc_inbound *hello(void)
{
    static const struct tc_inbound in = {
        .size = sizeof in, .id = "m", .chat = "c", .user = "u", .text = "hello"};
    return &in;
}

static int init(struct tc_instance *inst)
{
    tc_route(inst, "/x");
    if (asks_in_init)
        accepted_in_init = tc_submit(inst->lobby, hello(), NULL);
    return 0;
}

static void teardown(struct tc_instance *inst)
{
    if (sends_in_teardown)
        tc_http(inst->lobby, TC_HTTP(.url = "https://x.test/bye"));
}

static void wait_at_gate(void)
{
    entered = true;
    while (gate)
        nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
}

static void submit(struct tc_turn *t)
{
    struct tc_receipt r;
    accepted = tc_submit(t, hello(), &r);
    submitted = true;
}

static int on_event(struct tc_turn *t, const struct tc_event *ev)
{
    events++;
    if (ev->kind == TC_START)
        submit(t);
    if (ev->kind == TC_FINAL) {
        tc_http(t, TC_HTTP(.url = "https://x.test/final"));
        wait_at_gate();
    }
    if (ev->kind == TC_STEP)
        wait_at_gate();
    return 0;
}

static int on_reply(struct tc_turn *t, const struct tc_reply *r, struct tc_verdict *v)
{
    (void)t;
    (void)v;
    if (replies++ == 0)
        events_before_reply = events;
    if (strcmp(r->tag, "submit") == 0)
        submit(t);
    return 0;
}

static uint64_t promised; /* the number of a hit */
static int on_wake(struct tc_turn *t)
{
    if (promised)
        tc_hit_answer(t->inst, promised, &(struct tc_answer){.status = 202, .body = "later"});
    promised = 0;
    if (++wakes < 3)
        tc_wake(t, 1);
    return 0;
}

static int on_hit(struct tc_turn *lobby, const struct tc_hit *hit, struct tc_answer *answer)
{
    hits++;
    if (strcmp(hit->path, "/wait") == 0)
        wait_at_gate();
    if (strcmp(hit->path, "/wake") == 0)
        tc_wake(lobby, 1);
    answer->later = strcmp(hit->path, "/later") == 0;
    if (answer->later) {
        promised = hit->number;
        tc_wake(lobby, 1);
    }
    answer->body = tc_sprint(lobby, "seen %s", hit->path);
    return 0;
}

static int on_frame(struct tc_turn *lobby, const struct tc_frame *f)
{
    (void)f;
    if (f->event == TC_SOCKET_OPEN)
        tc_socket_send(lobby->inst, f->socket, "hi", 2);
    else
        tc_socket_close(lobby->inst, f->socket);
    frames++;
    return 0;
}

static int on_idle(struct tc_instance *inst)
{
    static atomic_bool opened;
    if (strcmp(inst->name, "sockets") == 0 && !atomic_exchange(&opened, true))
        tc_socket_open(inst, TC_SOCKET(.url = "ws://127.0.0.1:1/"));
    return 0;
}

struct options {
    const char *token;
};

static const struct tc_option options[] = {
    TC_OPTION(struct options, token, "a token", 0, ""),
    {0},
};

static struct channel *start_at(const char *name, const struct channel_callbacks *host)
{
    struct loaded_plugin *const l = xmalloc(sizeof *l);
    *l = (struct loaded_plugin){
        .linked = true,
        .plugin = {.name = "asker",
                   .flags = TC_DELIVERS,
                   .options = options,
                   .conf_size = sizeof(struct options),
                   .init = init,
                   .teardown = teardown},
        .sink = {.on_event = on_event,
                 .on_reply = on_reply,
                 .on_wake = on_wake,
                 .on_hit = on_hit,
                 .on_frame = on_frame,
                 .on_idle = on_idle},
    };
    const struct conf_instance spec = {
        .name = (char *)(uintptr_t)name,
        .queue_events = 20000,
        .queue_bytes = 64 << 20,
        .options = no_options,
    };
    n_batches = n_requests = n_over = n_replied = n_routes = 0;
    last_settled = 0;
    disorder = false;
    entered = submitted = false;
    waiting = NULL;
    events = replies = events_before_reply = wakes = hits = frames = 0;
    struct tc_err err;
    struct channel *const c = channel_thread_new(&conf, &spec, l, host, &err);
    if (!c || c->ops->wait_started(c, &err) < 0)
        bail("%s", err_format(&err));
    return c;
}

static struct channel *start(const char *name)
{
    const struct channel_callbacks host = {
        .loop = loop,
        .batch = take_batch,
        .ask = take_ask,
        .has_server = true,
        .route = take_route,
        .socket_open = take_open,
        .socket_send = take_send,
        .socket_close = take_close,
    };
    return start_at(name, &host);
}

static int end(struct channel *c, int ms)
{
    c->ops->stop(c);
    return c->ops->join(c, clock_mono_ms() + ms);
}

static void *open_turn(struct channel *c)
{
    return c->ops->open(c, &(struct channel_turn){.id = "t1"});
}

static struct outbound_reply *reply_to(uint64_t request, const char *tag, bool last)
{
    struct outbound_reply *const r = xcalloc(1, sizeof *r);
    r->request = request;
    r->last = last;
    r->reply = (struct tc_reply){.outcome = TC_OK, .body = "", .error = ""};
    r->reply.tag = arena_strdup(&r->arena, tag);
    return r;
}

/* ---- tests ---- */

static void test_ask(void)
{
    struct channel *const c = start("one");
    void *const turn = open_turn(c);
    c->ops->send(c, turn, box_of(TC_START, 1));
    ok(run_until(has_call, NULL), "the host gets the call in its own thread");
    ok(!submitted, "the instance waits");
    is_str(waiting->inbound->text, "hello", "the call has its text");
    is_str(waiting->instance, "one", "the call has the name of the instance");
    host_call_complete(waiting, TC_QUEUED, "t7", "soon");
    ok(tap_wait(is_set, &submitted, DEADLINE_MS), "the instance waits until the call is answered");
    ok(accepted == TC_QUEUED, "the instance gets the answer");
    is_int((long long)n_routes, 1, "the route of init arrives");
    answers_at_once = true;
    submitted = false;
    c->ops->reply(c, NULL, reply_to(2, "submit", true));
    ok(run_until(is_set, &submitted) && accepted == TC_ACCEPTED, "an answer at once is returned");
    answers_at_once = false;
    is_int(end(c, DEADLINE_MS), 0, "the instance ends");
}

static void test_stop_while_asking(void)
{
    struct channel *const c = start("one");
    c->ops->send(c, open_turn(c), box_of(TC_START, 1));
    ok(run_until(has_call, NULL), "the host gets a call, and stops");
    is_int(end(c, DEADLINE_MS), 0, "the wait of the instance ends");
    ok(submitted && accepted == TC_NOT_KEPT, "the call is answered with not kept");
    host_call_complete(waiting, TC_ACCEPTED, "t1", "too late");
    struct channel *const other = start("one");
    gate = true;
    void *const turn = open_turn(other);
    other->ops->send(other, turn, box_of(TC_STEP, 1));
    other->ops->send(other, turn, box_of(TC_START, 2));
    ok(run_until(is_set, &entered), "a host stops before it gets the call");
    other->ops->stop(other);
    gate = false;
    is_int(other->ops->join(other, clock_mono_ms() + DEADLINE_MS), 0, "the stop does not wait");
    ok(submitted && accepted == TC_NOT_KEPT && !waiting, "the host does not get the call");
}

/* Stops and joins at random times during a call. */
static void test_stop_any_time(void)
{
    bool ended = true, told_right = true;
    unsigned kept = 0;
    for (int i = 0; i < 100; i++) {
        struct channel *const c = start("one");
        answers_at_once = i % 2;
        void *const turn = open_turn(c);
        c->ops->send(c, turn, box_of(TC_START, 1));
        c->ops->reply(c, turn, reply_to(2, "submit", true));
        for (int k = 0; k < i % 7; k++)
            loop_run_once(loop, i % 3);
        ended = ended && end(c, DEADLINE_MS) == 0;
        told_right = told_right && submitted &&
                     (accepted == TC_NOT_KEPT || (answers_at_once && accepted == TC_ACCEPTED));
        kept += accepted == TC_ACCEPTED;
        if (waiting)
            host_call_complete(waiting, TC_ACCEPTED, "t1", NULL);
        loop_run_once(loop, 0);
    }
    answers_at_once = false;
    ok(ended, "100 instances that are stopped at random times end");
    ok(told_right, "the answer is correct (%u were kept)", kept);
}

/* A call that the host has not got when it joins. */
static void test_stop_before_asking(void)
{
    struct channel *const c = start("one");
    c->ops->send(c, open_turn(c), box_of(TC_START, 1));
    is_int(end(c, DEADLINE_MS), 0, "the instance ends without the loop");
    ok(submitted && accepted == TC_NOT_KEPT && !waiting, "the call is answered with not kept");
    loop_run_once(loop, 0);
    ok(!waiting, "the host does not get the call later");
}

static void test_no_asks(void)
{
    asks_in_init = true;
    struct channel *c = start("one");
    ok(accepted_in_init == TC_NOT_KEPT && !waiting, "a call in init is not kept");
    asks_in_init = false;
    end(c, DEADLINE_MS);
    c = start_at("one", NULL);
    c->ops->send(c, open_turn(c), box_of(TC_START, 1));
    ok(tap_wait(is_set, &submitted, DEADLINE_MS) && accepted == TC_NOT_KEPT,
       "without a host a call is not kept");
    end(c, DEADLINE_MS);
}

/* The loop waits for room while the instance waits for the loop. */
static void test_wait_room(void)
{
    struct channel *const c = start("one");
    void *const turn = open_turn(c);
    for (uint64_t seq = 1; seq <= 15000; seq++)
        c->ops->send(c, turn, box_of(seq == 1 ? TC_START : TC_USAGE, seq));
    const int64_t before = clock_mono_ms();
    const bool room = c->ops->wait_room(c, DEADLINE_MS);
    ok(room && clock_mono_ms() - before < DEADLINE_MS / 2,
       "the loop thread stops waiting for room when a call needs the loop");
    ok(run_until(has_call, NULL), "the loop gets the call");
    host_call_complete(waiting, TC_ACCEPTED, NULL, NULL);
    while (!c->ops->wait_room(c, DEADLINE_MS))
        ;
    is_int(end(c, DEADLINE_MS), 0, "the instance ends");
    is_int((long long)events, 15000, "no event is lost");
}

static void test_ask_times_out(void)
{
    struct host_call *const a = host_call_new_cancel("one", "t1", "u1");
    struct arena into = {0};
    struct tc_receipt r;
    ok(host_call_wait(a, 10, &into, &r) == TC_NOT_KEPT && !r.turn && !r.answer,
       "a call that is not answered in time is answered with not kept");
    host_call_complete(a, TC_COMMAND, "t1", "too late");
    arena_fini(&into);
}

static char answer_text[64];

static void record_answer(void *arg, const struct tc_answer *answer)
{
    if (answer && answer->later)
        return;
    if (answer)
        snprintf(answer_text, sizeof answer_text, "%d %s", answer->status, answer->body);
    else
        snprintf(answer_text, sizeof answer_text, "none");
    *(atomic_bool *)arg = true;
}

static void send_hit(struct channel *c, const char *path, atomic_bool *answered)
{
    struct channel_hit *const h = xcalloc(1, sizeof *h);
    *answered = false;
    *h = (struct channel_hit){.answered = record_answer, .arg = answered};
    h->hit = (struct tc_hit){.method = "POST", .path = arena_strdup(&h->arena, path), .body = ""};
    c->ops->hit(c, h);
}

/* An instance that hangs in a callback, whose batch arrives after it was abandoned. */
static void test_abandon(void)
{
    struct channel *const c = start("one");
    gate = true;
    void *const turn = open_turn(c);
    c->ops->send(c, turn, box_of(TC_FINAL, 1));
    ok(run_until(is_set, &entered), "an instance hangs");
    const size_t before = n_batches;
    atomic_bool answered;
    send_hit(c, "/a", &answered);
    c->ops->reply(c, NULL, reply_to(4, "", true));
    is_int(end(c, 20), -1, "the instance is abandoned");
    ok(answered, "its hits are answered");
    gate = false;
    for (int i = 0; i < 20; i++)
        loop_run_once(loop, 2);
    is_int((long long)(n_batches - before), 0, "its later batches are dropped");
}

static bool has_wakes(void *arg)
{
    (void)arg;
    return wakes >= 3;
}

static void test_hits(void)
{
    struct channel *const c = start("one");
    atomic_bool first, second;
    send_hit(c, "/a", &first);
    ok(run_until(is_set, &first), "a hit is answered in the thread of the loop");
    is_str(answer_text, "200 seen /a", "the response is that of the plugin");
    send_hit(c, "/later", &first);
    run_until(is_set, &first);
    is_str(answer_text, "202 later", "a hit is answered later by another callback");
    send_hit(c, "/wake", &first);
    ok(run_until(has_wakes, NULL), "timers fire without an event");
    gate = true;
    entered = false;
    send_hit(c, "/wait", &first);
    ok(run_until(is_set, &entered), "a callback is slow");
    send_hit(c, "/b", &second);
    c->ops->stop(c);
    gate = false;
    is_int(c->ops->join(c, clock_mono_ms() + DEADLINE_MS), 0, "the host stops meanwhile");
    ok(first && second, "each hit is answered");
}

static void test_hit_after_end(void)
{
    struct channel *const c = start("one");
    c->ops->stop(c);
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    atomic_bool answered;
    send_hit(c, "/a", &answered);
    c->ops->frame(c, &(struct tc_frame){1, TC_SOCKET_TEXT, "x", 1});
    c->ops->reply(c, NULL, reply_to(2, "", true));
    is_int(c->ops->join(c, clock_mono_ms() + DEADLINE_MS), 0, "an instance ends with messages");
    ok(answered, "the hit is answered");
}

static bool has_frames(void *arg)
{
    return frames >= *(unsigned *)arg;
}

static bool is_told(void *text)
{
    return told.p && strstr(told.p, text);
}

static void test_sockets(void)
{
    buf_reset(&told);
    struct channel *const c = start("sockets");
    c->ops->send(c, open_turn(c), box_of(TC_USAGE, 1));
    ok(run_until(is_told, (char[]){"open:1:ws://127.0.0.1:1/;"}), "a socket is opened");
    c->ops->frame(c, &(struct tc_frame){1, TC_SOCKET_OPEN, "", 0});
    ok(run_until(is_told, (char[]){"send:1:hi;"}), "a frame is sent");
    c->ops->frame(c, &(struct tc_frame){1, TC_SOCKET_TEXT, "yo", 2});
    ok(run_until(is_told, (char[]){"close:1;"}), "a socket is closed");
    unsigned two = 2;
    ok(run_until(has_frames, &two), "received frames arrive");
    end(c, DEADLINE_MS);
}

static bool all_replied(void *arg)
{
    return n_replied >= *(size_t *)arg;
}

#define MANY 10000

static void test_many(void)
{
    struct channel *const c = start("one");
    void *const turn = c->ops->open(c, &(struct channel_turn){.id = "t1", .requests = MANY});
    gate = true;
    c->ops->send(c, turn, box_of(TC_STEP, 1));
    ok(run_until(is_set, &entered), "an instance has a backlog");
    uint64_t seq = 1;
    for (size_t i = 0; i < 5000; i++)
        c->ops->send(c, turn, box_of(TC_USAGE, ++seq));
    c->ops->reply(c, turn, reply_to(2, "", true));
    gate = false;
    size_t one = 1;
    ok(run_until(all_replied, &one), "a reply arrives");
    ok(events_before_reply < 500, "  the reply overtakes waiting events (%u were before it)",
       (unsigned)events_before_reply);
    for (uint64_t i = 2; i <= MANY; i++) {
        c->ops->reply(c, turn, reply_to(2 * i, "", true));
        if (i % 2)
            c->ops->send(c, turn, box_of(TC_USAGE, ++seq));
    }
    c->ops->send(c, turn, box_of(TC_DONE, ++seq));
    size_t many = MANY;
    ok(run_until(all_replied, &many), "10,000 replies among events are each answered by one batch");
    is_int((long long)n_replied, MANY, "no further reply is answered");
    ok(!disorder, "the batches are in order");
    is_int(end(c, DEADLINE_MS), 0, "the instance ends");
    is_int((long long)events, (long long)seq, "no event is lost");
    is_int((long long)n_over, 1, "the turn was over once");
}

static void test_last_batches(void)
{
    sends_in_teardown = true;
    struct channel *const c = start("one");
    void *const turn = open_turn(c);
    c->ops->send(c, turn, box_of(TC_FINAL, 1));
    is_int(end(c, DEADLINE_MS), 0, "the instance ends without the loop");
    is_int((long long)n_requests, 2, "requests of teardown arrive, too");
    sends_in_teardown = false;
    loop_run(loop);
    is_int((long long)n_requests, 2, "no request is left in the loop");
}

int main(void)
{
    plan_lazy();
    log_setup(LOG_TEXT, LOG_ERR, dup(2));
    loop = loop_new();
    test_ask();
    test_stop_while_asking();
    test_stop_before_asking();
    test_stop_any_time();
    test_no_asks();
    test_wait_room();
    test_ask_times_out();
    test_hits();
    test_hit_after_end();
    test_sockets();
    test_many();
    test_last_batches();
    test_abandon();
    loop_free(loop);
    buf_fini(&told);
}
