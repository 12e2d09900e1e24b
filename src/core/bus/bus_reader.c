/* SPDX-License-Identifier: MIT
 * Orders batches and repairs gaps.
 *
 * A batch names its preceding event. If that is not the last received event, the batch is set
 * aside, and the missing events are requested: from the turn's host, which sends everything that
 * the servers have stored; if it does not reply, from the stream, message by message. Events that
 * neither has are skipped and reported as a gap. */
#include "core/bus/bus_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/invariant.h"
#include "base/sys/clock.h"
#include "event/codec.h"
#include "event/json/json_reader.h"
#include "event/json/json_writer.h"

#define KEPT_BYTES ((size_t)1 << 20) /* limit of batches set aside */
#define FEED_BYTES (256 << 10)
#define RETRY_MS 1000
#define TRIES 3
#define CHECK_MS 3000 /* interval of requests for missing events of an ended turn */

/* A batch that was set aside. */
struct bus_reader_batch {
    STAILQ_ENTRY(bus_reader_batch) next;
    size_t len;
    char bytes[];
};

struct bus_reader {
    struct bus_link *link;
    char id[65], host[BUS_HOST_MAX + 1];
    struct nats_client_subscription *subscription;
    const struct bus_reader_sink *sink;
    void *ctx;
    uint64_t have; /* seq of the last received event */
    STAILQ_HEAD(, bus_reader_batch) early;
    size_t early_bytes;
    uint64_t position;           /* next sequence to read in the stream */
    unsigned tries;              /* repairs since the turn has ended */
    bool reads_stream;           /* the turn's host did not reply */
    bool is_repairing, is_again; /* is_again: another repair is needed after this one */
    bool is_asked;               /* a reply is pending */
    bool is_complete;
    bool has_one_host; /* it was not known when the reader was created, and publishes all events */
    struct loop_timer *timer;
};

static void bus_reader_ask(struct bus_reader *f);

/* ---- events ---- */

static void bus_reader_add_event(struct bus_reader *f, struct event *ev, struct str line)
{
    f->have = ev->meta.seq;
    f->is_complete |= ev->kind == TC_DONE && !ev->meta.agent && !ev->meta.parent_id;
    f->sink->event(f->ctx, ev, line);
}

static void bus_reader_add_line(struct bus_reader *f, struct str line)
{
    struct arena arena = {0};
    struct event ev;
    if (codec_decode(&ev, &arena, line.p, line.len, NULL) == 0 && ev.meta.seq > f->have)
        bus_reader_add_event(f, &ev, line);
    arena_fini(&arena);
}

static void bus_reader_add_lines(struct bus_reader *f, struct str lines, uint64_t last)
{
    struct str line;
    while (bus_batch_next_line(&lines, &line))
        bus_reader_add_line(f, line);
    if (f->have < last)
        f->have = last;
}

/* No host or stream has the missing events. */
static void bus_reader_skip(struct bus_reader *f, uint64_t up_to)
{
    f->sink->skip(f->ctx, up_to);
    f->have = up_to;
}

/* ---- batches set aside ---- */

static void bus_reader_drop_early(struct bus_reader *f)
{
    struct bus_reader_batch *b;
    while ((b = STAILQ_FIRST(&f->early))) {
        STAILQ_REMOVE_HEAD(&f->early, next);
        free(b);
    }
    f->early_bytes = 0;
}

/* If there are too many, batches are dropped; a further repair fetches their events. */
static void bus_reader_keep(struct bus_reader *f, struct str message)
{
    if (f->early_bytes + message.len > KEPT_BYTES) {
        f->is_again = true;
        return;
    }
    struct bus_reader_batch *const b = xmalloc(sizeof *b + message.len);
    b->len = message.len;
    memcpy(b->bytes, message.p, message.len);
    f->early_bytes += message.len;
    STAILQ_INSERT_TAIL(&f->early, b, next);
}

/* skips: a repair has fetched everything available, so gaps are skipped. False: events before a
 * batch are missing. */
static bool bus_reader_apply_early(struct bus_reader *f, bool skips)
{
    struct bus_reader_batch *kept;
    while ((kept = STAILQ_FIRST(&f->early))) {
        struct bus_batch b;
        struct str lines;
        if (bus_batch_read((struct str){kept->bytes, kept->len}, &b, &lines) == 0) {
            if (b.after > f->have && !skips)
                return false;
            if (b.after > f->have)
                bus_reader_skip(f, b.after);
            if (b.last > f->have)
                bus_reader_add_lines(f, lines, b.last);
        }
        STAILQ_REMOVE_HEAD(&f->early, next);
        f->early_bytes -= kept->len;
        free(kept);
    }
    return true;
}

/* ---- the end ---- */

static void bus_reader_finish(struct bus_reader *f)
{
    f->is_complete = true;
    nats_client_unsubscribe(f->subscription);
    f->subscription = NULL;
    f->sink->complete(f->ctx);
}

/* The turn has ended, and it has no events, or repeated repairs bring no more. */
static bool bus_reader_is_lost(struct bus_reader *f)
{
    const enum bus_reader_turn turn = f->sink->look(f->ctx);
    if (turn == BUS_READER_RUNS)
        return false;
    if (turn == BUS_READER_EMPTY)
        return true;
    return f->reads_stream && ++f->tries >= TRIES;
}

/* ---- repair ---- */

static void bus_reader_end_repair(struct bus_reader *f)
{
    const bool again = f->is_again;
    f->is_repairing = f->is_again = false;
    bus_reader_apply_early(f, true);
    if (f->is_complete || bus_reader_is_lost(f))
        bus_reader_finish(f);
    else if (again)
        bus_reader_repair(f);
    else
        loop_timer_set(f->timer, CHECK_MS);
}

static void bus_reader_retry(struct bus_reader *f)
{
    f->is_repairing = false;
    f->is_again = true;
    loop_timer_set(f->timer, RETRY_MS);
}

/* Processes the reply of the turn's host. False: no reply, or no events of the turn. */
static bool bus_reader_take_feed(struct bus_reader *f, const struct nats_client_message *m)
{
    struct bus_batch b;
    struct str lines;
    if (bus_batch_read(m->data, &b, &lines) < 0)
        return false;
    if (b.after > f->have)
        bus_reader_skip(f, b.after);
    bus_reader_add_lines(f, lines, b.last);
    if (b.more && lines.len)
        bus_reader_ask(f);
    else if (bus_reader_apply_early(f, false))
        bus_reader_end_repair(f);
    else
        return false; /* the host does not know yet that the newest events are stored; the stream
                       * has them */
    return true;
}

static void bus_reader_take_stored(struct bus_reader *f, const struct nats_client_message *m)
{
    struct bus_batch b;
    struct str lines;
    f->position = m->sequence + 1;
    if (bus_batch_read(m->data, &b, &lines) == 0 && b.last > f->have) {
        if (b.after > f->have)
            bus_reader_skip(f, b.after);
        bus_reader_add_lines(f, lines, b.last);
    }
    bus_reader_ask(f);
}

static void bus_reader_on_stored(void *ctx, enum nats_client_result result,
                                 const struct nats_client_message *m)
{
    struct bus_reader *const f = ctx;
    f->is_asked = false;
    if (result == NATS_CLIENT_REPLIED && m->sequence)
        bus_reader_take_stored(f, m);
    else if (result == NATS_CLIENT_REPLIED && m->status == 404)
        bus_reader_end_repair(f);
    else
        bus_reader_retry(f);
}

static void bus_reader_on_feed(void *ctx, enum nats_client_result result,
                               const struct nats_client_message *m)
{
    struct bus_reader *const f = ctx;
    f->is_asked = false;
    if (result == NATS_CLIENT_UNSENT) {
        bus_reader_retry(f);
    } else if (result != NATS_CLIENT_REPLIED || !bus_reader_take_feed(f, m)) {
        f->reads_stream = true;
        f->position = 1;
        bus_reader_ask(f);
    }
}

static void bus_reader_ask_host(struct bus_reader *f)
{
    CLEANUP_BUF struct buf subject = {0}, body = {0};
    bus_stream_request_subject(&subject, &f->link->names, f->host, "feed");
    buf_add_char(&body, '{');
    jsonw_member_str(&body, "turn", f->id);
    jsonw_member_int(&body, "after", (int64_t)f->have);
    jsonw_member_int(&body, "max", FEED_BYTES);
    buf_add_char(&body, '}');
    const struct nats_client_publication p = {.subject = subject.p, .data = {body.p, body.len}};
    nats_client_request(f->link->client, &p, BUS_REQUEST_MS, bus_reader_on_feed, f);
}

static void bus_reader_ask(struct bus_reader *f)
{
    CLEANUP_BUF struct buf subject = {0};
    ASSERT(!f->is_asked);
    if (!f->link->is_active) {
        bus_reader_retry(f);
        return;
    }
    f->is_asked = true;
    if (!f->reads_stream) {
        bus_reader_ask_host(f);
        return;
    }
    const bool is_known = f->has_one_host && *f->host;
    bus_stream_subject(&subject, &f->link->names, BUS_EVENTS, is_known ? f->host : "*", f->id);
    bus_link_read_next(f->link, BUS_EVENTS, subject.p, f->position, bus_reader_on_stored, f);
}

/* For events of any host, the servers search the whole stream, which takes a second if it is large,
 * and answers nothing else on this connection meanwhile. So a reader that does not know the host
 * waits for it, until the turn is over. */
static bool bus_reader_waits_for_host(const struct bus_reader *f)
{
    return !*f->host && f->sink->look(f->ctx) == BUS_READER_RUNS;
}

void bus_reader_repair(struct bus_reader *f)
{
    f->is_again |= f->is_repairing;
    if (f->is_repairing || f->is_complete)
        return;
    if (bus_reader_waits_for_host(f)) {
        loop_timer_set(f->timer, CHECK_MS);
        return;
    }
    f->is_repairing = true;
    f->reads_stream = !*f->host;
    f->position = 1;
    bus_reader_ask(f);
}

void bus_reader_set_host(struct bus_reader *f, const char *host)
{
    if (*f->host)
        return;
    snprintf(f->host, sizeof f->host, "%s", host);
    bus_reader_repair(f);
}

/* The repair may be incomplete: if its last event was lost, no later event reveals that. */
static void bus_reader_on_timer(void *arg)
{
    struct bus_reader *const f = arg;
    if (f->is_again || f->sink->look(f->ctx) != BUS_READER_RUNS)
        bus_reader_repair(f);
    else if (!f->is_complete)
        loop_timer_set(f->timer, CHECK_MS);
}

/* ---- live messages ---- */

/* Clocks of two machines differ, so the difference may be below 0. */
static void bus_reader_count_lag(struct bus_reader *f, int64_t at_us)
{
    const double lag = clock_wall_s() - (double)at_us / 1e6;
    histogram_add(&f->link->counters.lag, lag > 0 ? lag : 0);
}

/* Of each event of a batch that arrived when it was published. */
static void bus_reader_count_lags(struct bus_reader *f, const struct bus_batch *b)
{
    struct json j;
    int64_t then_us;
    if (!b->at_us)
        return;
    bus_reader_count_lag(f, b->at_us);
    if (json_reader_open_array(&j, b->then_us))
        while (json_reader_next_element(&j))
            if (json_reader_read_int(&j, &then_us))
                bus_reader_count_lag(f, b->at_us + then_us);
}

static void bus_reader_on_batch(void *ctx, const struct nats_client_message *m)
{
    struct bus_reader *const f = ctx;
    struct bus_batch b;
    struct str lines;
    if (f->is_complete || bus_batch_read(m->data, &b, &lines) < 0 || b.last <= f->have)
        return;
    if (!*f->host)
        snprintf(f->host, sizeof f->host, "%s", b.from.host);
    f->sink->heard(f->ctx, &b.from);
    if (f->is_repairing || b.after > f->have) {
        f->link->counters.gaps += !f->is_repairing;
        bus_reader_keep(f, m->data);
        if (!f->is_repairing)
            bus_reader_repair(f);
        return;
    }
    bus_reader_count_lags(f, &b);
    bus_reader_add_lines(f, lines, b.last);
    if (f->is_complete)
        bus_reader_finish(f);
}

/* ---- create and free ---- */

struct bus_reader *bus_reader_new(struct bus_link *link, const char *turn, const char *host,
                                  const struct bus_reader_sink *sink, void *ctx)
{
    CLEANUP_BUF struct buf subject = {0};
    struct bus_reader *const f = xcalloc(1, sizeof *f);
    f->link = link;
    f->sink = sink;
    f->ctx = ctx;
    STAILQ_INIT(&f->early);
    snprintf(f->id, sizeof f->id, "%s", turn);
    snprintf(f->host, sizeof f->host, "%s", host ? host : "");
    f->has_one_host = !host;
    f->timer = loop_timer_new(link->loop, bus_reader_on_timer, f);
    bus_stream_stored_subject(&subject, &link->names, BUS_EVENTS, "*", f->id);
    f->subscription = nats_client_subscribe(link->client, subject.p, bus_reader_on_batch, f);
    bus_reader_repair(f);
    return f;
}

void bus_reader_free(struct bus_reader *f)
{
    if (!f)
        return;
    nats_client_unsubscribe(f->subscription);
    loop_timer_free(f->timer);
    bus_reader_drop_early(f);
    nats_client_forget(f->link->client, f);
    free(f);
}
