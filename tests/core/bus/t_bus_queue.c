/* SPDX-License-Identifier: MIT
 * The work queue against Debian's nats-server: two takers, one message each, given back, finished,
 * and taken again after the server was killed. */
#include "core/bus/bus_queue.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/sys/clock.h"
#include "io/nats_server.h"
#include "tap/tap.h"

#define DEADLINE_MS 60000

static struct bus_link net = {.names = {"tc", "h1"}, .boot = "b1"};

static void on_changed(void *ctx, bool connected, const char *text)
{
    (void)ctx;
    (void)text;
    net.is_active = connected;
}

static bool await(const bool *flag, bool wanted)
{
    const int64_t end = clock_mono_ms() + DEADLINE_MS;
    while (*flag != wanted && clock_mono_ms() < end)
        loop_run_once(net.loop, 20);
    return *flag == wanted;
}

/* ---- one request ---- */

struct reply {
    bool is_there;
    int64_t messages;
    char why[160];
};

static void on_reply(void *ctx, enum nats_client_result result, const struct nats_client_message *m)
{
    struct reply *const r = ctx;
    r->is_there = true;
    if (result == NATS_CLIENT_REPLIED)
        r->messages = bus_message_number(m->data, "/state/messages");
    else
        snprintf(r->why, sizeof r->why, "result %d", (int)result);
}

static struct reply ask(const char *subject, struct str body)
{
    struct reply r = {0};
    nats_client_request(net.client,
                        &(struct nats_client_publication){.subject = subject, .data = body},
                        BUS_STORE_MS, on_reply, &r);
    await(&r.is_there, true);
    return r;
}

static void create_stream(void)
{
    CLEANUP_BUF struct buf config = {0};
    bus_stream_config(&config, &net.names, BUS_WORK, 1);
    is_str(ask("$JS.API.STREAM.CREATE.TC_WORK", (struct str){config.p, config.len}).why, "",
           "the stream is created");
}

/* ---- a taker ---- */

struct taker {
    struct bus_queue *queue;
    unsigned room, taken, deliveries;
    bool has_one;
    char body[32], ticket[BUS_QUEUE_ACK_MAX];
};

static bool has_room(void *ctx)
{
    return ((const struct taker *)ctx)->room > 0;
}

static void on_item(void *ctx, const struct bus_queue_item *item)
{
    struct taker *const t = ctx;
    t->room--;
    t->taken++;
    t->has_one = true;
    t->deliveries = item->deliveries;
    snprintf(t->body, sizeof t->body, "%.*s", (int)item->body.len, item->body.p);
    snprintf(t->ticket, sizeof t->ticket, "%s", item->ticket);
}

static void begin(struct taker *t, const char *boot, unsigned room)
{
    snprintf(net.boot, sizeof net.boot, "%s", boot);
    t->room = room;
    t->queue = bus_queue_new(&(struct bus_queue_spec){.link = &net,
                                                      .name = "any-main",
                                                      .subject = "tc.work.any.main",
                                                      .has_room = has_room,
                                                      .on_item = on_item,
                                                      .ctx = t});
    bus_queue_resume(t->queue);
}

static bool next(struct taker *t)
{
    t->has_one = false;
    t->room = 1;
    bus_queue_pull(t->queue);
    return await(&t->has_one, true);
}

int main(void)
{
    struct nats_server server = {0};
    struct taker a = {0}, b = {0};
    plan_lazy();
    net.loop = loop_new();
    net.client = nats_server_connect(&server, net.loop, on_changed);
    if (!net.client)
        return 0;
    ok(await(&net.is_active, true), "the client is connected");
    create_stream();
    ask("tc.work.any.main", STR("one"));
    ask("tc.work.any.main", STR("two"));
    begin(&a, "b1", 1);
    begin(&b, "b2", 0);
    ok(await(&a.has_one, true), "a message is received");
    is_str(a.body, "one", "the oldest message is received first");
    is_int(a.deliveries, 1, "the message is delivered for the first time");
    ok(next(&b), "a second consumer receives a message");
    is_str(b.body, "two", "the second consumer receives the next message");
    is_int(a.taken, 1, "a consumer without room receives no more messages");
    bus_queue_extend(&net, a.ticket);
    bus_queue_release(&net, a.ticket, 100);
    ok(next(&b), "a released message is received by another consumer");
    is_str(b.body, "one", "the other consumer receives the released message");
    is_int(b.deliveries, 2, "the released message is delivered for the second time");
    struct reply done = {0};
    bus_queue_finish(&net, b.ticket, on_reply, &done);
    ok(await(&done.is_there, true) && !*done.why, "the message is acknowledged");
    is_int(ask("$JS.API.STREAM.INFO.TC_WORK", STR("")).messages, 1,
           "the acknowledged message is removed; the other stays");
    bus_queue_free(b.queue);
    nats_server_kill(&server);
    await(&net.is_active, false);
    is_int(a.room, 0, "no message is received without a server");
    ok(nats_server_start(&server, ""), "the server runs again");
    await(&net.is_active, true);
    ask("tc.work.any.main", STR("three"));
    a.has_one = false;
    a.room = 1;
    bus_queue_resume(a.queue);
    ok(await(&a.has_one, true), "messages are received again after a reconnect");
    /* The servers may forget the last acknowledgement, and the taker of "two" is gone. */
    for (int i = 0; i < 2 && strcmp(a.body, "three") != 0; i++)
        next(&a);
    is_str(a.body, "three", "the message published after the reconnect is received");
    bus_queue_free(a.queue);
    nats_client_free(net.client);
    nats_server_kill(&server);
    loop_free(net.loop);
    return 0;
}
