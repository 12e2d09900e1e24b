/* SPDX-License-Identifier: MIT
 * Publishes turns to Debian's nats-server, and reads them: events that exist already when a batch
 * is sent are in that batch; the lag is counted from the turn log of the publisher; a reader that
 * does not know the host yet does not let the servers search the stream for the events of any host.
 */
#include "core/bus/bus_reader.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/sys/clock.h"
#include "core/bus/bus_message.h"
#include "core/bus/bus_publisher.h"
#include "event/codec.h"
#include "event/json/json_reader.h"
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

static bool wait_for(const bool *flag)
{
    const int64_t end = clock_mono_ms() + DEADLINE_MS;
    while (!*flag && clock_mono_ms() < end)
        loop_run_once(net.loop, 20);
    return *flag;
}

static bool contains(const struct nats_client_message *m, const char *text)
{
    return memmem(m->data.p, m->data.len, text, strlen(text));
}

static void on_reply(void *ctx, enum nats_client_result result, const struct nats_client_message *m)
{
    bool *const is_there = ctx;
    *is_there = result == NATS_CLIENT_REPLIED && !contains(m, "\"error\"");
}

static bool request(const char *subject, const struct buf *body)
{
    bool is_there = false;
    const struct nats_client_publication p = {.subject = subject, .data = {body->p, body->len}};
    nats_client_request(net.client, &p, BUS_STORE_MS, on_reply, &is_there);
    return wait_for(&is_there);
}

static bool create_stream(enum bus_stream stream, const char *subject)
{
    CLEANUP_BUF struct buf config = {0};
    bus_stream_config(&config, &net.names, stream, 1);
    return request(subject, &config);
}

static bool create_streams(void)
{
    return create_stream(BUS_EVENTS, "$JS.API.STREAM.CREATE.TC_EV") &&
           create_stream(BUS_STATES, "$JS.API.STREAM.CREATE.TC_STATE");
}

/* Appends the line of an event. */
static void add_line(struct buf *lines, enum tc_kind kind, uint64_t seq)
{
    struct event ev = {.kind = kind};
    ev.meta.correlation_id = "t1";
    ev.meta.src = "claude";
    ev.meta.session_id = "";
    ev.meta.seq = seq;
    ev.u.meta = &ev.meta;
    codec_encode(lines, &ev);
    buf_add_char(lines, '\n');
}

static bool publish_batch(const char *host, const char *turn, struct bus_batch *b,
                          const struct buf *lines)
{
    CLEANUP_BUF struct buf subject = {0}, body = {0};
    snprintf(b->from.host, sizeof b->from.host, "%s", host);
    bus_batch_write(&body, b, (struct str){lines->p, lines->len});
    bus_stream_subject(&subject, &net.names, BUS_EVENTS, host, turn);
    return request(subject.p, &body);
}

/* Publishes a batch with one event as that host. */
static bool publish(const char *host, enum tc_kind kind, uint64_t seq)
{
    CLEANUP_BUF struct buf lines = {0};
    add_line(&lines, kind, seq);
    return publish_batch(host, "t1", &(struct bus_batch){.after = seq - 1, .last = seq}, &lines);
}

/* ---- the reader ---- */

static struct seen {
    char kinds[64], hosts[64];
    bool is_complete;
    unsigned searches; /* requests for the events of any host */
    unsigned reads;    /* requests for the events of one host */
} seen;

static void on_event(void *ctx, struct event *ev, struct str line)
{
    (void)ctx;
    (void)line;
    const size_t len = strlen(seen.kinds);
    snprintf(seen.kinds + len, sizeof seen.kinds - len, "%s ", kind_name(ev->kind));
}

static void on_skip(void *ctx, uint64_t up_to)
{
    (void)ctx;
    const size_t len = strlen(seen.kinds);
    snprintf(seen.kinds + len, sizeof seen.kinds - len, "skipped:%d ", (int)up_to);
}

static void on_batch(void *ctx, const struct bus_origin *from)
{
    (void)ctx;
    snprintf(seen.hosts, sizeof seen.hosts, "%s", from->host);
}

static enum bus_reader_turn look(void *ctx)
{
    (void)ctx;
    return BUS_READER_RUNS;
}

static void on_complete(void *ctx)
{
    (void)ctx;
    seen.is_complete = true;
}

static const struct bus_reader_sink sink = {on_event, on_skip, on_batch, look, on_complete};

/* A request of the reader to the stream, seen by a second subscriber of its subject. */
static void on_direct_get(void *ctx, const struct nats_client_message *m)
{
    (void)ctx;
    if (contains(m, "tc.ev.*."))
        seen.searches++;
    else if (contains(m, "tc.ev.h2.t1"))
        seen.reads++;
}

static struct bus_reader *open_reader(const char *host)
{
    seen = (struct seen){0};
    return bus_reader_new(&net, "t1", host, &sink, NULL);
}

static void test_host_told(void)
{
    struct bus_reader *const reader = open_reader(NULL);
    bus_reader_repair(reader);
    bus_reader_set_host(reader, "h2");
    bus_reader_set_host(reader, "h3");
    ok(wait_for(&seen.is_complete), "the events are read once the host is known");
    is_str(seen.kinds, "start done ", "all, in order, and of this host only");
    ok(seen.reads > 0, "the host is gone, so the stream is asked for its events");
    is_int(seen.searches, 0, "the stream is never searched for events of any host");
    bus_reader_free(reader);
}

static void test_host_known(void)
{
    struct bus_reader *const reader = open_reader("h2");
    ok(wait_for(&seen.is_complete), "a reader that is given the host reads the events");
    is_str(seen.kinds, "start done ", "in order");
    bus_reader_free(reader);
}

/* ---- publishing ---- */

static const double bounds[] = {70, 3600};

/* True: the publisher has stored everything, in so many batches. */
static bool has_published(const struct bus_publisher *p, uint64_t batches)
{
    const int64_t end = clock_mono_ms() + DEADLINE_MS;
    while ((net.counters.batches < batches || bus_publisher_count_waiting(p)) &&
           clock_mono_ms() < end)
        loop_run_once(net.loop, 20);
    return net.counters.batches == batches;
}

/* Appends an event of the turn t2, which was created long ago. */
static void append(struct turnlog_entry *turn, enum tc_kind kind, uint64_t seq)
{
    struct event ev;
    event_init(&ev, kind);
    ev.meta.seq = seq;
    ev.meta.ts = 1;
    ev.meta.correlation_id = "t2";
    ev.meta.src = "claude";
    ev.meta.session_id = "";
    ev.u.meta = &ev.meta;
    turnlog_append_event(net.turnlog, turn, shared_event_new(&ev), false, NULL);
}

/* A batch of t2 on its way to the stream: all of its events were in the turn log before. */
static void on_published(void *ctx, const struct nats_client_message *m)
{
    bool *const is_past = ctx;
    const int64_t now_us = (int64_t)(clock_wall_s() * 1e6);
    struct bus_batch b;
    struct str lines;
    struct json j;
    int64_t then_us = 0;
    if (bus_batch_read(m->data, &b, &lines) == 0 && json_reader_open_array(&j, b.then_us))
        while (json_reader_next_element(&j))
            *is_past &=
                json_reader_read_int(&j, &then_us) && then_us >= 0 && b.at_us + then_us <= now_us;
}

static void test_published(void)
{
    bool is_past = true;
    struct nats_client_subscription *const batches =
        nats_client_subscribe(net.client, "tc.ev.h1.t2", on_published, &is_past);
    static const struct turnlog_limits limits = {
        .turn_bytes = 1 << 20, .bytes = 1 << 20, .turns = 9};
    net.turnlog = turnlog_new(net.loop, &limits);
    net.counters.lag = net.counters.publish = (struct histogram){.bounds = bounds, .n_bounds = 2};
    seen = (struct seen){0};
    struct bus_publisher *const publisher = bus_publisher_new(&net, NULL, NULL);
    struct bus_reader *const reader = bus_reader_new(&net, "t2", NULL, &sink, NULL);
    struct turnlog_entry *const turn =
        turnlog_start_turn(net.turnlog, &(struct turnlog_spec){.id = "t2", .agent = "main"});
    append(turn, TC_START, 1);
    ok(has_published(publisher, 1), "the first event is published");
    append(turn, TC_FINAL, 2);
    append(turn, TC_USAGE, 3);
    append(turn, TC_DONE, 4);
    turnlog_finish_turn(net.turnlog, turn);
    ok(wait_for(&seen.is_complete), "the turn is read to its end");
    is_str(seen.kinds, "start final usage done ", "all of its events, in order");
    ok(has_published(publisher, 2), "the outcome and what follows it are published in one batch");
    is_int((int)net.counters.lag.counts[0], 4, "the lag of each event is counted");
    ok(net.counters.lag.sum < DEADLINE_MS, "from when the event was in the turn log of its host");
    ok(is_past, "every event of a batch was in the turn log before the batch");
    nats_client_unsubscribe(batches);
    bus_reader_free(reader);
    bus_publisher_free(publisher);
    turnlog_free(net.turnlog);
}

/* A batch whose first event was in the turn log 100 s ago, and its second 60 s later. */
static void test_lag(void)
{
    CLEANUP_BUF struct buf lines = {0};
    struct bus_batch b = {.last = 2, .at_us = (int64_t)((clock_wall_s() - 100) * 1e6)};
    net.counters.lag = (struct histogram){.bounds = bounds, .n_bounds = 2};
    seen = (struct seen){0};
    struct bus_reader *const reader = bus_reader_new(&net, "t3", NULL, &sink, NULL);
    b.then_us = STR("[60000000]");
    add_line(&lines, TC_START, 1);
    add_line(&lines, TC_DONE, 2);
    ok(publish_batch("h2", "t3", &b, &lines) && wait_for(&seen.is_complete), "a batch is read");
    is_int((int)net.counters.lag.counts[0], 1, "the lag of one event is below 70 s");
    is_int((int)net.counters.lag.counts[1], 1, "the lag of the other is more");
    bus_reader_free(reader);
}

int main(void)
{
    struct nats_server server = {0};
    plan_lazy();
    net.loop = loop_new();
    net.client = nats_server_connect(&server, net.loop, on_changed);
    if (!net.client)
        return 0;
    ok(wait_for(&net.is_active) && create_streams(),
       "connected, with streams of events and states");
    struct nats_client_subscription *const spy =
        nats_client_subscribe(net.client, "$JS.API.DIRECT.GET.TC_EV", on_direct_get, NULL);
    ok(publish("h2", TC_START, 1) && publish("h2", TC_DONE, 2), "a host has published a turn");
    test_host_told();
    test_host_known();
    nats_client_unsubscribe(spy);
    test_published();
    test_lag();
    nats_client_free(net.client);
    nats_server_kill(&server);
    loop_free(net.loop);
    return 0;
}
