/* SPDX-License-Identifier: MIT
 * A host that begins a shared turn, against Debian's nats-server: what it does if another host has
 * adopted or delivered the turn before the claim is written, and if the servers have lost their
 * data. */
#include "core/work/work_turn.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/sys/clock.h"
#include "io/nats_server.h"
#include "tap/tap.h"

#define DEADLINE_MS 60000

static struct bus_link net = {.names = {"tc", "h1"}, .boot = "b1"};
static struct work work = {.link = &net};
static struct work_share share = {.work = &work, .link = &net};

static void on_changed(void *ctx, bool connected, const char *text)
{
    (void)ctx;
    (void)text;
    net.is_active = connected;
}

static bool wait_for(const bool *flag)
{
    const int64_t end = clock_mono_ms() + DEADLINE_MS;
    while (!*flag && clock_mono_ms() < end)
        loop_run_once(net.loop, 20);
    return *flag;
}

/* ---- what the servers have ---- */

static void on_reply(void *ctx, enum nats_client_result result, const struct nats_client_message *m)
{
    bool *const is_done = ctx;
    if (result != NATS_CLIENT_REPLIED || memmem(m->data.p, m->data.len, "\"error\"", 7))
        bail("the servers have refused a request");
    *is_done = true;
}

static bool request(const char *subject, struct str body)
{
    bool is_done = false;
    const struct nats_client_publication p = {.subject = subject, .data = body};
    nats_client_request(net.client, &p, BUS_STORE_MS, on_reply, &is_done);
    return wait_for(&is_done);
}

static bool create(enum bus_stream stream)
{
    CLEANUP_BUF struct buf config = {0}, subject = {0};
    buf_add_str(&subject, "$JS.API.STREAM.CREATE.");
    bus_stream_name(&subject, &net.names, stream);
    bus_stream_config(&config, &net.names, stream, 1);
    return request(subject.p, (struct str){config.p, config.len});
}

static void write_order(struct buf *out, const char *id, const char *gateway)
{
    const struct bus_origin from = bus_link_next_origin(&net);
    work_order_write(out, &from,
                     &(struct work_order){.turn = id,
                                          .agent = "main",
                                          .conversation = "tg:5",
                                          .source = "tg",
                                          .gateway = gateway,
                                          .prompt = STR("hello")});
}

/* Another host adopts the turn: it names itself in the order. */
static bool adopt(const char *id)
{
    CLEANUP_BUF struct buf subject = {0}, body = {0};
    work_outcome_subject(&subject, &net.names, "new", "tg", id);
    write_order(&body, id, "h2");
    return request(subject.p, (struct str){body.p, body.len});
}

static bool remove_order(const char *id)
{
    CLEANUP_BUF struct buf body = {0}, filter = {0};
    work_outcome_subject(&filter, &net.names, "new", "tg", id);
    buf_printf(&body, "{\"filter\":\"%s\"}", filter.p);
    return request("$JS.API.STREAM.PURGE.TC_TURN", (struct str){body.p, body.len});
}

/* Another host marks the turn as delivered. */
static bool mark_delivered(const char *id)
{
    CLEANUP_BUF struct buf subject = {0}, body = {0};
    struct bus_origin from = bus_link_next_origin(&net);
    snprintf(from.host, sizeof from.host, "h2");
    work_outcome_subject(&subject, &net.names, "told", "tg", id);
    work_outcome_write(&body, &from, STR(""));
    return request(subject.p, (struct str){body.p, body.len});
}

static void on_claim(void *ctx, enum nats_client_result result, const struct nats_client_message *m)
{
    struct bus_kv_entry *const entry = ctx;
    bus_kv_read_entry(&net, BUS_RUNS, result, m, entry);
}

static enum bus_kv_result find_claim(const char *id)
{
    struct bus_kv_entry entry = {.result = BUS_KV_UNKNOWN};
    const int64_t end = clock_mono_ms() + DEADLINE_MS;
    bus_kv_get(&net, BUS_RUNS, id, on_claim, &entry);
    while (entry.result == BUS_KV_UNKNOWN && clock_mono_ms() < end)
        loop_run_once(net.loop, 20);
    return entry.result;
}

/* ---- the turn ---- */

static struct begun {
    bool is_done, is_own;
} begun;

static void on_begun(void *ctx, bool is_own, uint64_t after)
{
    (void)ctx;
    (void)after;
    begun = (struct begun){true, is_own};
}

/* The order of the turn is stored, and names this host. */
static struct work_turn *hold(const char *id)
{
    struct work_turn *const t = work_turn_new(&share, id, "tg");
    const int64_t end = clock_mono_ms() + DEADLINE_MS;
    write_order(&t->order, id, "h1");
    work_turn_go_on(t);
    while (t->state != TURN_HELD && clock_mono_ms() < end)
        loop_run_once(net.loop, 20);
    is_int(t->state, TURN_HELD, "the order of turn %s is stored", id);
    return t;
}

/* Its agent is to begin. */
static bool begin(struct work_turn *t)
{
    begun = (struct begun){0};
    t->done = on_begun;
    t->claims = true;
    work_turn_go_on(t);
    return wait_for(&begun.is_done) && begun.is_own;
}

static void test_undisturbed(void)
{
    struct work_turn *const t = hold("t1");
    ok(begin(t), "a turn of this host begins");
    is_int(find_claim("t1"), BUS_KV_DONE, "the claim of the turn is stored");
    work_turn_free(t);
}

static void test_adopted(void)
{
    struct work_turn *const t = hold("t2");
    ok(adopt("t2"), "another host adopts the turn");
    ok(!begin(t) && begun.is_done, "the turn does not begin here");
    is_int(t->state, TURN_ELSEWHERE, "the turn belongs to the other host");
    is_int(find_claim("t2"), BUS_KV_NONE, "the claim of this host is deleted");
    work_turn_free(t);
}

static void test_delivered(void)
{
    struct work_turn *const t = hold("t3");
    ok(adopt("t3") && mark_delivered("t3") && remove_order("t3"),
       "another host adopts and delivers the turn");
    ok(!begin(t) && begun.is_done, "the turn does not begin here");
    is_int(t->state, TURN_ELSEWHERE, "the turn belongs to the other host");
    is_int(find_claim("t3"), BUS_KV_NONE, "the claim of this host is deleted");
    work_turn_free(t);
}

static void test_lost(void)
{
    struct work_turn *const t = hold("t4");
    ok(remove_order("t4"), "the servers lose the order of the turn");
    ok(begin(t), "the turn begins, because no other host has it");
    is_int(find_claim("t4"), BUS_KV_DONE, "the claim of the turn is stored");
    work_turn_free(t);
}

int main(void)
{
    struct nats_server server = {0};
    plan_lazy();
    net.loop = loop_new();
    net.client = nats_server_connect(&server, net.loop, on_changed);
    if (!net.client)
        return 0;
    LIST_INIT(&share.turns);
    ok(wait_for(&net.is_active) && create(BUS_TURNS) && create(BUS_RUNS),
       "connected, with streams");
    test_undisturbed();
    test_adopted();
    test_delivered();
    test_lost();
    nats_client_free(net.client);
    nats_server_kill(&server);
    loop_free(net.loop);
    return 0;
}
