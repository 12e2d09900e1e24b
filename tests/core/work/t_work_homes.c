/* SPDX-License-Identifier: MIT
 * Homes of a host that drains, against Debian's nats-server: it gives up its own, once, and goes on
 * after a break of its connection. */
#include "core/work/work_homes.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/sys/clock.h"
#include "core/bus/bus_kv.h"
#include "io/nats_server.h"
#include "tap/tap.h"

#define DEADLINE_MS 60000
#define HOMES 5

static struct bus_link net = {.names = {"tc", "h1"}, .boot = "b1"};
static bool is_up;

static void on_changed(void *ctx, bool connected, const char *text)
{
    (void)ctx;
    (void)text;
    is_up = connected;
}

static bool await(const bool *flag, bool wanted)
{
    const int64_t end = clock_mono_ms() + DEADLINE_MS;
    while (*flag != wanted && clock_mono_ms() < end)
        loop_run_once(net.loop, 20);
    return *flag == wanted;
}

/* ---- one request ---- */

struct answer {
    bool is_read, is_there;
    struct bus_kv_entry entry;
};

static void on_reply(void *ctx, enum nats_client_result result, const struct nats_client_message *m)
{
    struct answer *const a = ctx;
    a->is_there = true;
    if (a->is_read)
        bus_kv_read_entry(&net, BUS_HOMES, result, m, &a->entry);
    else
        bus_kv_read_written(result, m, &a->entry);
}

static enum bus_kv_result found(const char *key)
{
    struct answer a = {.is_read = true};
    bus_kv_get(&net, BUS_HOMES, key, on_reply, &a);
    await(&a.is_there, true);
    return a.entry.result;
}

static void settle(const char *key, const char *host)
{
    struct answer a = {0};
    struct bus_origin from = bus_link_next_origin(&net);
    snprintf(from.host, sizeof from.host, "%s", host);
    bus_kv_put_origin(&net, BUS_HOMES, key, &from, 0, on_reply, &a);
    await(&a.is_there, true);
    if (a.entry.result != BUS_KV_DONE)
        bail("cannot write a home");
}

static void create_bucket(void)
{
    struct answer a = {0};
    CLEANUP_BUF struct buf config = {0};
    bus_stream_config(&config, &net.names, BUS_HOMES, 1);
    nats_client_request(
        net.client,
        &(struct nats_client_publication){.subject = "$JS.API.STREAM.CREATE.KV_tc_home",
                                          .data = {config.p, config.len}},
        BUS_STORE_MS, on_reply, &a);
    await(&a.is_there, true);
    is_str(a.entry.why, "", "the bucket is created");
}

/* ---- what is tested ---- */

static unsigned own_left(void)
{
    unsigned n = 0;
    char key[20];
    for (int i = 0; i < HOMES; i++) {
        snprintf(key, sizeof key, "main.own%d", i);
        n += found(key) == BUS_KV_DONE;
    }
    return n;
}

/* After more requests than there are entries, each by a request behind the last reply. */
static unsigned own_stay(void)
{
    for (int i = 0; i < 100; i++)
        found("main.first");
    return own_left();
}

static bool are_given_up(void)
{
    const int64_t end = clock_mono_ms() + DEADLINE_MS;
    while (own_left() && clock_mono_ms() < end)
        loop_run_once(net.loop, 20);
    return !own_left();
}

static void settle_own(void)
{
    char key[20];
    for (int i = 0; i < HOMES; i++) {
        struct answer a = {.is_read = true};
        snprintf(key, sizeof key, "main.own%d", i);
        bus_kv_get(&net, BUS_HOMES, key, on_reply, &a);
        await(&a.is_there, true);
        const struct bus_origin from = bus_link_next_origin(&net);
        struct answer written = {0};
        bus_kv_put_origin(&net, BUS_HOMES, key, &from, a.entry.revision, on_reply, &written);
        await(&written.is_there, true);
        is_int(written.entry.result, BUS_KV_DONE, "the conversation has this host as its home");
    }
}

static void test_release(void)
{
    settle("main.first", "h2");
    settle_own();
    settle("main.last", "h2");
    settle("other.moved", "h10");
    struct work_homes *const h = work_homes_release(&net);
    ok(are_given_up(), "a draining host gives up its homes");
    is_int(found("main.first"), BUS_KV_DONE, "the home of another host before its own is kept");
    is_int(found("main.last"), BUS_KV_DONE, "the home of another host after its own is kept");
    is_int(found("other.moved"), BUS_KV_DONE, "the home of a host with a longer name is kept");
    settle_own();
    work_homes_resume(h);
    is_int(own_stay(), HOMES, "homes written later are kept");
    work_homes_free(h);
}

static void test_break(struct nats_server *server)
{
    net.is_active = false;
    struct work_homes *h = work_homes_release(&net);
    is_int(own_stay(), HOMES, "without the bus no home is given up");
    net.is_active = true;
    work_homes_resume(h);
    ok(are_given_up(), "the homes are given up when the bus is connected");
    work_homes_free(h);
    settle_own();
    nats_server_kill(server);
    await(&is_up, false);
    h = work_homes_release(&net);
    nats_server_start(server, "");
    await(&is_up, true);
    is_int(own_stay(), HOMES, "a request to stopped servers has no effect");
    work_homes_resume(h);
    ok(are_given_up(), "the request is repeated after the reconnect");
    work_homes_free(h);
    settle_own();
    work_homes_free(work_homes_release(&net));
    is_int(own_stay(), HOMES, "a host that stops draining gives up no more homes");
}

int main(void)
{
    struct nats_server server = {0};
    plan_lazy();
    net.loop = loop_new();
    net.client = nats_server_connect(&server, net.loop, on_changed);
    if (!net.client)
        return 0;
    ok(await(&is_up, true), "the client is connected");
    net.is_active = true;
    create_bucket();
    test_release();
    test_break(&server);
    nats_client_free(net.client);
    loop_free(net.loop);
    nats_server_kill(&server);
    return 0;
}
