/* SPDX-License-Identifier: MIT
 * Tests of the requests and batches of a callback, of replies and timers, and of the lifetime of
 * turns and their memory. */
#include <stdlib.h>

#include "base/sys/clock.h"
#include "plugin/actor.h"
#include "tap/tap.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#define HAS_ASAN true
#define IS_POISONED(p) (__asan_address_is_poisoned(p) != 0)
#else
#define HAS_ASAN false
#define IS_POISONED(p) ((void)(p), false)
#endif

/* ---- requests ---- */

static void send_two(struct tc_turn *t)
{
    char url[] = "https://x.test/a";
    is_int(tc_http(t, TC_HTTP(.url = url, .body = "{}", .tag = "first")), 0, "tc_http");
    url[15] = 'b';
    tc_http(t, TC_HTTP(.url = url, .flags = TC_DURABLE));
}

static void test_batch(void)
{
    struct instance *const in = actor_make(&actor_host);
    struct instance_turn *const t = actor_open(in, "t1");
    actor_deliver(in, t, TC_START, NULL);
    is_int((long long)actor_n_batches, 0, "a callback that sends nothing creates no batch");
    actor_deliver(in, t, TC_START, send_two);
    is_int((long long)actor_n_batches, 1, "the requests of one callback are one batch");
    const struct callback_batch *const b = actor_batches[0];
    is_str(b->turn, "t1", "the batch has its turn");
    ok(b->settles == BATCH_NOTHING && !b->failed && !b->memory && !b->over,
       "the batch settles nothing");
    is_int((long long)b->count, 2, "the batch has both requests");
    is_str(b->requests[0]->http.url, "https://x.test/a", "the requests are copied in order");
    is_str(b->requests[0]->http.tag, "first", "the request has its tag");
    is_str(b->requests[1]->http.url, "https://x.test/b", "each request has its URL");
    is_str(b->requests[1]->turn, "t1", "the request has its turn");
    ok(b->requests[0]->id % 2 == 1 && b->requests[1]->id == b->requests[0]->id + 2,
       "requests of this process have odd numbers");
    instance_free(in);
}

static void send_wrong(struct tc_turn *t)
{
    is_int(tc_http(t, TC_HTTP(.body = "x")), -1, "a request without a URL is refused");
    has_str(actor_logged(), "instance one: tc_http: the URL is missing", "the refusal is logged");
    is_int(t->inst->host->http(t, NULL), -1, "a missing request is refused");
    is_int(t->inst->host->http(NULL, TC_HTTP(.url = "https://x.test/")), -1,
           "an invalid turn is refused");
    int sent = 0;
    while (tc_http(t, TC_HTTP(.url = "https://x.test/")) == 0)
        sent++;
    is_int(sent, 256, "the number of requests in one callback is limited");
    has_str(actor_logged(), "tc_http: too many requests in this callback",
            "a request above the limit is logged");
}

static void send_many(struct tc_turn *t)
{
    for (int i = 0; i < 256; i++)
        tc_http(t, TC_HTTP(.url = "https://x.test/"));
}

static void send_polls(struct tc_turn *t)
{
    int sent = 0;
    while (tc_http(t, TC_HTTP(.url = "https://x.test/", .flags = TC_LONG_POLL)) == 0)
        sent++;
    is_int(sent, 16, "sixteen polls are accepted above the limit");
    is_int(tc_http(t, TC_HTTP(.url = "https://x.test/")), -1,
           "another request above the limit is refused");
}

static void test_limits(void)
{
    struct instance *const in = actor_make(&actor_host);
    struct instance_turn *const t = actor_open(in, "t1");
    actor_deliver(in, t, TC_START, send_wrong);
    for (int i = 0; i < 4; i++)
        actor_deliver(in, t, TC_START, send_many);
    size_t all = 0;
    for (size_t i = 0; i < actor_n_batches; i++)
        all += actor_batches[i]->count;
    is_int((long long)all, 1024, "the number of requests of a turn in flight is limited");
    has_str(actor_logged(), "tc_http: too many requests of this turn in flight",
            "a request above the limit of the turn is logged");
    actor_deliver(in, t, TC_START, send_polls);
    instance_free(in);
}

static void send_refused(struct tc_turn *t)
{
    for (int i = 0; i < 3; i++)
        is_int(tc_http(t, TC_HTTP(.url = "https://x.test/")), -1,
               "tc_http fails in a host without requests");
    is_int(tc_route(t->inst, "/x"), -1, "tc_route fails in a host without routes");
    is_int(tc_socket_open(t->inst, TC_SOCKET(.url = "wss://x.test/")), -1,
           "tc_socket_open fails in a host without sockets");
    ok(tc_submit(t, TC_INBOUND(.id = "1", .chat = "c", .user = "u", .text = "x"), NULL) ==
           TC_NOT_KEPT,
       "tc_submit fails in a host without turns");
}

static void test_no_host(void)
{
    struct instance *const in = actor_make(NULL);
    struct instance_turn *const t = actor_open(in, "t1");
    actor_logged();
    actor_deliver(in, t, TC_START, send_refused);
    const char *const text = actor_logged();
    const char *const first = strstr(text, "tc_http: not available in this host");
    ok(first && !strstr(first + 1, "tc_http: this host"), "a missing service is logged once");
    actor_deliver(in, t, TC_DONE, NULL);
    ok(instance_turn_is_over(t), "turns of a host without requests end with done");
    instance_free(in);
}

static void test_outcome(void)
{
    struct instance *const in = actor_make(&actor_host);
    struct instance_turn *const t = actor_open(in, "t1");
    actor_deliver(in, t, TC_FINAL, send_two);
    ok(actor_n_batches == 1 && actor_batches[0]->settles == BATCH_OUTCOME &&
           actor_batches[0]->count == 2,
       "the requests of on_final replace the outcome");
    actor_deliver(in, t, TC_ERROR, NULL);
    ok(actor_n_batches == 2 && actor_batches[1]->settles == BATCH_OUTCOME &&
           actor_batches[1]->count == 0,
       "an outcome without on_final is settled, too");
    struct instance_turn *const other = actor_open(in, "t2");
    actor_verdict = -1;
    actor_deliver(in, other, TC_FINAL, send_two);
    ok(actor_batches[2]->settles == BATCH_OUTCOME && actor_batches[2]->failed &&
           actor_batches[2]->count == 0,
       "an on_final that fails sends nothing, and its batch is marked");
    actor_verdict = 0;
    actor_deliver(in, other, TC_DONE, NULL);
    ok(instance_turn_is_over(other), "the turn does not wait for the dropped requests");
    actor_verdict = -1;
    actor_deliver(in, t, TC_START, send_two);
    ok(!actor_batches[actor_n_batches - 1]->failed ||
           actor_batches[actor_n_batches - 1]->count == 2,
       "the requests of another callback that fails are sent");
    actor_verdict = 0;
    actor_loaded.plugin.flags = 0;
    const size_t before = actor_n_batches;
    actor_deliver(in, actor_open(in, "t3"), TC_FINAL, NULL);
    is_int((long long)(actor_n_batches - before), 0, "without TC_DELIVERS no outcome is settled");
    instance_free(in);
}

/* ---- replies, and the end of a turn ---- */

static void send_one(struct tc_turn *t)
{
    tc_http(t, TC_HTTP(.url = "https://x.test/"));
}

static void test_reply(void)
{
    struct instance *const in = actor_make(&actor_host);
    struct instance_turn *const t = actor_open(in, "t1");
    actor_deliver(in, t, TC_START, send_one);
    actor_deliver(in, t, TC_DONE, NULL);
    ok(!instance_turn_is_over(t), "a turn waits for its replies");
    actor_forget_batches();
    is_int(instance_call_on_reply(in, t, actor_reply(1, TC_NOT_SENT, false)), 0,
           "a reply is delivered");
    ok(actor_n_batches == 1 && actor_batches[0]->settles == BATCH_REQUEST &&
           actor_batches[0]->request == 1,
       "a reply is answered by a batch, with or without requests");
    ok(actor_batches[0]->verdict.next == TC_NEXT_AGAIN && !actor_batches[0]->over,
       "the batch has the verdict of the host");
    ok(!instance_turn_is_over(t), "the turn waits for the next attempt");
    actor_wish = (struct tc_verdict){.next = TC_NEXT_FAIL, .hold_ms = 3, .reason = "no such chat"};
    actor_inside = send_one;
    instance_call_on_reply(in, t, actor_reply(1, TC_REJECTED, false));
    ok(actor_batches[1]->verdict.next == TC_NEXT_FAIL && actor_batches[1]->verdict.hold_ms == 3,
       "the batch has the verdict of the plugin");
    is_str(actor_batches[1]->verdict.reason, "no such chat", "the verdict has its reason");
    ok(actor_batches[1]->count == 1 && !actor_batches[1]->over && !instance_turn_is_over(t),
       "the turn waits for the requests of on_reply");
    actor_inside = NULL;
    actor_wish = (struct tc_verdict){.next = TC_NEXT_AGAIN, .reason = "again!"};
    instance_call_on_reply(in, t, actor_reply(3, TC_DROPPED, true));
    ok(actor_batches[2]->verdict.next == TC_NEXT_DONE, "the verdict on the last reply is done");
    ok(instance_turn_is_over(t) && actor_batches[2]->over,
       "the turn is over after its last reply, and the batch says so");
    instance_turn_free(t);
    instance_free(in);
}

/* Before 1.5 a delay applied to another attempt only. */
static void test_hold_of_older_plugins(void)
{
    struct instance *const in = actor_make(&actor_host);
    struct instance_turn *const t = actor_open(in, "t1");
    actor_loaded.plugin.minor = 4;
    actor_deliver(in, t, TC_START, send_one);
    actor_forget_batches();
    actor_inside = NULL;
    actor_wish = (struct tc_verdict){.next = TC_NEXT_AGAIN, .hold_ms = 3, .reason = "busy"};
    instance_call_on_reply(in, t, actor_reply(1, TC_REJECTED, false));
    actor_wish = (struct tc_verdict){.next = TC_NEXT_DONE, .hold_ms = 3, .reason = "busy"};
    instance_call_on_reply(in, t, actor_reply(1, TC_REJECTED, false));
    is_int(actor_batches[0]->verdict.hold_ms, 3, "1.4: another attempt is delayed");
    is_int(actor_batches[1]->verdict.hold_ms, 0, "1.4: later requests are not delayed");
    instance_turn_free(t);
    instance_free(in);
}

static void test_reply_fails(void)
{
    struct instance *const in = actor_make(&actor_host);
    struct instance_turn *const t = instance_turn_new(
        in, &(struct channel_turn){.id = "t1", .memory = "page 2", .requests = 2, .over = true});
    actor_verdict = -1;
    actor_wish = (struct tc_verdict){.next = TC_NEXT_FAIL, .reason = "never heard"};
    actor_inside = send_one;
    is_int(instance_call_on_reply(in, t, actor_reply(2, TC_OK, false)), -1,
           "an on_reply that fails returns an error");
    ok(actor_batches[0]->failed && actor_batches[0]->count == 0 &&
           actor_batches[0]->verdict.next == TC_NEXT_DONE && !actor_batches[0]->verdict.reason,
       "an on_reply that fails sends nothing, and the verdict is that of the host");
    ok(!instance_turn_is_over(t), "a turn of an earlier process waits for its number of replies");
    actor_verdict = 0;
    actor_loaded.sink.on_reply = NULL;
    instance_call_on_reply(in, t, actor_reply(4, TC_OK, false));
    ok(actor_batches[1]->settles == BATCH_REQUEST && actor_batches[1]->over &&
           instance_turn_is_over(t),
       "the turn ends without events, and a plugin without on_reply answers, too");
    instance_free(in);
}

static void test_done_only(void)
{
    struct instance *const in = actor_make(&actor_host);
    struct instance_turn *const t = actor_open(in, "t1");
    actor_deliver(in, t, TC_DONE, NULL);
    ok(actor_n_batches == 1 && actor_batches[0]->over && actor_batches[0]->count == 0,
       "a turn without requests reports its end");
    instance_free(in);
}

/* ---- memory ---- */

static char *kept, *gone;

static void test_memory_services(struct tc_turn *t)
{
    kept = tc_keep(t, "kept");
    gone = tc_sprint(t, "gone");
    ok(!tc_keep(t, NULL), "tc_keep of NULL returns NULL");
    is_str(tc_json_get(t, tc_json(t, "{s:s}", "a", "b"), "/a"), "b",
           "a service accepts the text of another one");
}

static void test_memory(void)
{
    struct instance *const in = actor_make(&actor_host);
    struct instance_turn *const t = actor_open(in, "t1");
    actor_deliver(in, t, TC_START, test_memory_services);
    is_str(kept, "kept", "a kept text outlives the callback");
    ok(!IS_POISONED(kept), "a kept text is not freed");
    if (HAS_ASAN)
        ok(IS_POISONED(gone), "the result of a service is poisoned after the callback");
    else
        skip(1, "only the address sanitizer detects the use of freed memory");
    instance_free(in);
}

static struct tc_turn *seen;

static void store_handle(struct tc_turn *t)
{
    seen = t;
}

static struct tc_turn *handle_of(struct instance *in, struct instance_turn *turn)
{
    actor_deliver(in, turn, TC_START, store_handle);
    return seen;
}

static struct tc_turn *another;

static void test_tc_remember(struct tc_turn *t)
{
    char long_text[5000];
    memset(long_text, 'x', sizeof long_text - 1);
    long_text[sizeof long_text - 1] = '\0';
    is_int(tc_remember(t, "one"), 0, "tc_remember");
    is_int(tc_remember(t, "two"), 0, "tc_remember replaces the memory");
    is_int(tc_remember(t, long_text), -1, "a memory above the limit is refused");
    is_int(tc_remember(t, "\xff"), -1, "a memory that is not UTF-8 is refused");
    is_int(tc_remember(t->inst->lobby, "x"), -1, "a memory of the lobby is refused");
    is_int(t->inst->host->remember(NULL, "x"), -1, "a memory of an invalid turn is refused");
    tc_remember(another, NULL);
}

static void test_remember(void)
{
    struct instance *const in = actor_make(&actor_host);
    struct instance_turn *const t = instance_turn_new(
        in, &(struct channel_turn){.id = "t1", .memory = "before", .route = "{\"r\":1}"});
    struct instance_turn *const other = actor_open(in, "t2");
    another = handle_of(in, other);
    is_str(handle_of(in, t)->memory, "before", "a resumed turn has its memory");
    is_str(handle_of(in, t)->route, "{\"r\":1}", "a resumed turn has its route");
    actor_deliver(in, t, TC_START, test_tc_remember);
    is_int((long long)actor_n_batches, 2, "each turn has its own memory");
    is_str(actor_batches[0]->turn, "t2", "the first batch is that of the other turn");
    is_str(actor_batches[0]->memory, "", "the memory of the other turn is removed");
    is_str(actor_batches[1]->turn, "t1", "the second batch is that of the turn");
    is_str(actor_batches[1]->memory, "two", "the memory of the turn is the newest text");
    instance_free(in);
}

/* ---- the lobby ---- */

static void use_lobby(struct tc_turn *t)
{
    ok(t == t->inst->lobby && !*t->id && !*t->agent && !t->state && !t->route,
       "the lobby has no id, agent, state or route");
    kept = tc_keep(t, "lobby");
    tc_http(t, TC_HTTP(.url = "https://x.test/poll", .flags = TC_LONG_POLL));
}

static void test_lobby(void)
{
    struct instance *const in = actor_make(&actor_host);
    actor_inside = use_lobby;
    instance_init(in);
    ok(actor_n_batches == 1 && !*actor_batches[0]->turn && actor_batches[0]->count == 1,
       "init may send requests in the lobby");
    instance_call_on_reply(in, NULL, actor_reply(actor_batches[0]->requests[0]->id, TC_OK, true));
    ok(actor_n_batches == 2 && actor_batches[1]->settles == BATCH_REQUEST &&
           actor_batches[1]->count == 1,
       "on_reply sends the next poll");
    ok(!actor_batches[1]->over, "the lobby is never over");
    is_str(kept, "lobby", "the memory of the lobby is kept");
    instance_free(in);
}

/* ---- timers ---- */

static int64_t wake_ms;

static void set_wake(struct tc_turn *t)
{
    tc_wake(t, 50);
    tc_wake(t, wake_ms);
}

static void again_at_once(struct tc_turn *t)
{
    tc_wake(t, 0);
}

static void test_wake(void)
{
    clock_fake(1000, 0);
    struct instance *const in = actor_make(&actor_host);
    ok(instance_next_wake_ms(in) == INT64_MAX && !instance_call_on_wake(in), "no timer is set");
    struct instance_turn *turns[3];
    static const char *const ids[] = {"a", "b", "c"};
    static const int64_t at[] = {30, 10, 20};
    for (size_t i = 0; i < 3; i++) {
        turns[i] = actor_open(in, ids[i]);
        wake_ms = at[i];
        actor_deliver(in, turns[i], TC_START, set_wake);
    }
    is_int(instance_next_wake_ms(in), 1010, "the first timer is due");
    clock_fake_advance(9);
    ok(!instance_call_on_wake(in), "no turn is woken before its time");
    clock_fake_advance(1);
    ok(instance_call_on_wake(in), "a turn is woken at its time");
    is_str(actor_woken.p, "b;", "the first timer wakes its turn");
    clock_fake_advance(100);
    instance_call_on_wake(in);
    is_str(actor_woken.p, "b;c;a;", "the other turns are woken once, in the order of their timers");
    wake_ms = -1;
    actor_deliver(in, turns[0], TC_START, set_wake);
    ok(instance_next_wake_ms(in) == INT64_MAX, "a negative time removes the timer");
    wake_ms = INT64_MAX;
    actor_deliver(in, turns[0], TC_START, set_wake);
    ok(instance_next_wake_ms(in) < INT64_MAX, "the longest time sets a timer");
    buf_reset(&actor_woken);
    wake_ms = 5;
    actor_deliver(in, turns[1], TC_START, set_wake);
    instance_turn_free(turns[1]);
    clock_fake_advance(100);
    ok(!instance_call_on_wake(in), "a turn that has ended is not woken");
    actor_inside = again_at_once;
    actor_deliver(in, turns[2], TC_START, again_at_once);
    actor_inside = again_at_once;
    clock_fake_advance(1);
    instance_call_on_wake(in);
    is_str(actor_woken.p, "c;", "a timer of 0 ms fires in the next round");
    clock_fake_end();
    instance_free(in);
}

static void test_many_wakes(void)
{
    clock_fake(0, 0);
    struct instance *const in = actor_make(&actor_host);
    unsigned random = 7;
    for (int i = 0; i < 500; i++) {
        random = random * 1103515245u + 12345u;
        wake_ms = 1 + (random >> 16) % 1000;
        struct instance_turn *const t = actor_open(in, "t");
        actor_deliver(in, t, TC_START, set_wake);
        if (i % 5 == 0)
            instance_turn_free(t);
    }
    int64_t last = 0;
    bool rises = true;
    int n = 0;
    while (instance_next_wake_ms(in) != INT64_MAX) {
        rises = rises && instance_next_wake_ms(in) >= last;
        last = instance_next_wake_ms(in);
        clock_fake(last, 0);
        buf_reset(&actor_woken);
        instance_call_on_wake(in);
        n += (int)actor_woken.len / 2;
    }
    ok(rises, "400 timers fire in order");
    is_int(n, 400, "each timer fires once");
    clock_fake_end();
    instance_free(in);
}

int main(void)
{
    plan_lazy();
    actor_begin_log();
    test_batch();
    test_limits();
    test_no_host();
    test_outcome();
    test_reply();
    test_hold_of_older_plugins();
    test_reply_fails();
    test_done_only();
    test_memory();
    test_remember();
    test_lobby();
    test_wake();
    test_many_wakes();
    actor_end();
}
