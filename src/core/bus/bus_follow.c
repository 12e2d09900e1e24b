/* SPDX-License-Identifier: MIT
 * Owns how batches become events of the turn log, and how gaps are repaired.
 *
 * A batch names the event behind which it comes. If that is not the last event that is here, the
 * batch is kept aside, and what is missing is asked for: from the turn's host, which answers with
 * all that the servers have stored; if it does not answer, from the stream, message by message.
 * What neither has is skipped, and told as a gap. */
#include "core/bus/bus_follow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/invariant.h"
#include "base/sys/clock.h"
#include "event/codec.h"
#include "event/json/json_writer.h"

#define KEPT_BYTES ((size_t)1 << 20) /* of batches that came too early */
#define FEED_BYTES (256 << 10)
#define RETRY_MS 1000
#define TRIES 3
#define CHECK_MS 3000 /* of a turn that is over: what may have been missed is asked for */

/* A batch that came too early. */
struct bus_follow_batch {
    STAILQ_ENTRY(bus_follow_batch) next;
    size_t len;
    char bytes[];
};

struct bus_follow {
    struct bus_link *link;
    char id[65], host[BUS_HOST_MAX + 1];
    struct nats_client_subscription *subscription;
    struct visibility visible;
    struct showing showing;
    uint64_t have; /* seq of the last event that is here */
    STAILQ_HEAD(, bus_follow_batch) early;
    size_t early_bytes;
    uint64_t position;           /* in the stream: the next message to read */
    unsigned tries;              /* repairs since the turn is over */
    bool reads_stream;           /* the turn's host has not answered */
    bool is_repairing, is_again; /* is_again: another repair is wanted behind this one */
    bool is_asked;               /* an answer is awaited */
    bool is_complete;
    struct loop_timer *timer;
};

static void bus_follow_ask(struct bus_follow *f);

/* ---- events ---- */

/* How those see it who see what the agent's switches show: hidden from them, or stripped. */
static struct shared_event *bus_follow_strip(const struct bus_follow *f, const struct event *ev,
                                             enum visibility_decision view)
{
    CLEANUP_BUF struct buf text = {0};
    struct event draft = *ev;
    draft.u.meta = &draft.meta;
    if (view == VIEW_STRIP)
        visibility_strip(&f->visible, &draft);
    else
        visibility_tell_failure(&draft, &text);
    return shared_event_new(&draft);
}

static void bus_follow_add_event(struct bus_follow *f, struct event *ev)
{
    const enum visibility_decision view = view_pairing_view(&f->showing, &f->visible, NULL, ev);
    struct shared_event *const stripped =
        view == VIEW_STRIP || view == VIEW_FAILURE ? bus_follow_strip(f, ev, view) : NULL;
    f->have = ev->meta.seq;
    f->is_complete |= ev->kind == TC_DONE && !ev->meta.agent && !ev->meta.parent_id;
    turnlog_append_remote(f->link->turnlog, f->id, shared_event_new(ev), view == VIEW_HIDE,
                          stripped);
}

/* Clocks of two machines differ. */
static void bus_follow_note_lag(const struct bus_follow *f, const struct event *ev)
{
    const double lag = clock_wall_s() - ev->meta.ts;
    histogram_add(&f->link->counters.lag, lag > 0 ? lag : 0);
}

static void bus_follow_add_line(struct bus_follow *f, struct str line, bool is_live)
{
    struct arena arena = {0};
    struct event ev;
    if (codec_decode(&ev, &arena, line.p, line.len, NULL) == 0 && ev.meta.seq > f->have) {
        if (is_live)
            bus_follow_note_lag(f, &ev);
        bus_follow_add_event(f, &ev);
    }
    arena_fini(&arena);
}

/* is_live: they come as they are made, not by a repair. */
static void bus_follow_add_lines(struct bus_follow *f, struct str lines, uint64_t last,
                                 bool is_live)
{
    struct str line;
    while (bus_batch_next_line(&lines, &line))
        bus_follow_add_line(f, line, is_live);
    if (f->have < last)
        f->have = last;
}

/* Nobody has what is missing. */
static void bus_follow_skip(struct bus_follow *f, uint64_t up_to)
{
    turnlog_skip_remote(f->link->turnlog, f->id, up_to);
    f->have = up_to;
}

/* ---- batches that came too early ---- */

static void bus_follow_drop_early(struct bus_follow *f)
{
    struct bus_follow_batch *b;
    while ((b = STAILQ_FIRST(&f->early))) {
        STAILQ_REMOVE_HEAD(&f->early, next);
        free(b);
    }
    f->early_bytes = 0;
}

/* With too many of them, a further repair brings what is dropped here. */
static void bus_follow_keep(struct bus_follow *f, struct str message)
{
    if (f->early_bytes + message.len > KEPT_BYTES) {
        f->is_again = true;
        return;
    }
    struct bus_follow_batch *const b = xmalloc(sizeof *b + message.len);
    b->len = message.len;
    memcpy(b->bytes, message.p, message.len);
    f->early_bytes += message.len;
    STAILQ_INSERT_TAIL(&f->early, b, next);
}

/* skips: a repair has brought all that there is. False: something is missing before a batch. */
static bool bus_follow_apply_early(struct bus_follow *f, bool skips)
{
    struct bus_follow_batch *kept;
    while ((kept = STAILQ_FIRST(&f->early))) {
        struct bus_batch b;
        struct str lines;
        if (bus_batch_read((struct str){kept->bytes, kept->len}, &b, &lines) == 0) {
            if (b.after > f->have && !skips)
                return false;
            if (b.after > f->have)
                bus_follow_skip(f, b.after);
            if (b.last > f->have)
                bus_follow_add_lines(f, lines, b.last, false);
        }
        STAILQ_REMOVE_HEAD(&f->early, next);
        f->early_bytes -= kept->len;
        free(kept);
    }
    return true;
}

/* ---- the end ---- */

static const struct turnlog_turn *bus_follow_find(const struct bus_follow *f)
{
    return turnlog_find_turn(f->link->turnlog, f->id);
}

static void bus_follow_finish(struct bus_follow *f)
{
    f->is_complete = true;
    nats_client_unsubscribe(f->subscription);
    f->subscription = NULL;
    turnlog_complete_remote(f->link->turnlog, f->id);
}

/* Its host says that it is over, and it has no events, or more of them cannot be had, however often
 * it is tried. */
static bool bus_follow_is_lost(struct bus_follow *f)
{
    const struct turnlog_turn *const t = bus_follow_find(f);
    if (!t || !turnlog_turn_is_finished(t))
        return false;
    if (!t->started_ms) /* cancelled before it began, or merged into another turn */
        return true;
    return f->reads_stream && ++f->tries >= TRIES;
}

/* ---- repair ---- */

static void bus_follow_end_repair(struct bus_follow *f)
{
    const bool again = f->is_again;
    f->is_repairing = f->is_again = false;
    bus_follow_apply_early(f, true);
    if (f->is_complete || bus_follow_is_lost(f))
        bus_follow_finish(f);
    else if (again)
        bus_follow_repair(f);
    else
        loop_timer_set(f->timer, CHECK_MS);
}

static void bus_follow_retry(struct bus_follow *f)
{
    f->is_repairing = false;
    f->is_again = true;
    loop_timer_set(f->timer, RETRY_MS);
}

/* What the turn's host has answered. False: it has not, or nothing of the turn. */
static bool bus_follow_take_feed(struct bus_follow *f, const struct nats_client_message *m)
{
    struct bus_batch b;
    struct str lines;
    if (bus_batch_read(m->data, &b, &lines) < 0)
        return false;
    if (b.after > f->have)
        bus_follow_skip(f, b.after);
    bus_follow_add_lines(f, lines, b.last, false);
    if (b.more && lines.len)
        bus_follow_ask(f);
    else if (bus_follow_apply_early(f, false))
        bus_follow_end_repair(f);
    else
        return false; /* it has not heard yet that the newest are stored: the stream has them */
    return true;
}

static void bus_follow_take_stored(struct bus_follow *f, const struct nats_client_message *m)
{
    struct bus_batch b;
    struct str lines;
    f->position = m->sequence + 1;
    if (bus_batch_read(m->data, &b, &lines) == 0 && b.last > f->have) {
        if (b.after > f->have)
            bus_follow_skip(f, b.after);
        bus_follow_add_lines(f, lines, b.last, false);
    }
    bus_follow_ask(f);
}

static void bus_follow_on_stored(void *ctx, enum nats_client_result result,
                                 const struct nats_client_message *m)
{
    struct bus_follow *const f = ctx;
    f->is_asked = false;
    if (result == NATS_CLIENT_REPLIED && m->sequence)
        bus_follow_take_stored(f, m);
    else if (result == NATS_CLIENT_REPLIED && m->status == 404)
        bus_follow_end_repair(f);
    else
        bus_follow_retry(f);
}

static void bus_follow_on_feed(void *ctx, enum nats_client_result result,
                               const struct nats_client_message *m)
{
    struct bus_follow *const f = ctx;
    f->is_asked = false;
    if (result == NATS_CLIENT_UNSENT) {
        bus_follow_retry(f);
    } else if (result != NATS_CLIENT_REPLIED || !bus_follow_take_feed(f, m)) {
        f->reads_stream = true;
        f->position = 1;
        bus_follow_ask(f);
    }
}

static void bus_follow_ask_host(struct bus_follow *f)
{
    CLEANUP_BUF struct buf subject = {0}, body = {0};
    bus_stream_request_subject(&subject, &f->link->names, f->host, "feed");
    buf_add_char(&body, '{');
    jsonw_member_str(&body, "turn", f->id);
    jsonw_member_int(&body, "after", (int64_t)f->have);
    jsonw_member_int(&body, "max", FEED_BYTES);
    buf_add_char(&body, '}');
    const struct nats_client_publication p = {.subject = subject.p, .data = {body.p, body.len}};
    nats_client_request(f->link->client, &p, BUS_REQUEST_MS, bus_follow_on_feed, f);
}

static void bus_follow_ask(struct bus_follow *f)
{
    CLEANUP_BUF struct buf subject = {0};
    ASSERT(!f->is_asked);
    if (!f->link->is_active) {
        bus_follow_retry(f);
        return;
    }
    f->is_asked = true;
    if (!f->reads_stream) {
        bus_follow_ask_host(f);
        return;
    }
    bus_stream_subject(&subject, &f->link->names, BUS_EVENTS, "*", f->id);
    bus_link_read_next(f->link, BUS_EVENTS, subject.p, f->position, bus_follow_on_stored, f);
}

void bus_follow_repair(struct bus_follow *f)
{
    f->is_again |= f->is_repairing;
    if (f->is_repairing || f->is_complete)
        return;
    f->is_repairing = true;
    f->reads_stream = false;
    bus_follow_ask(f);
}

/* What a repair brought may not have been all: its last event can be lost without a later one that
 * shows it. */
static void bus_follow_on_timer(void *arg)
{
    struct bus_follow *const f = arg;
    const struct turnlog_turn *const t = bus_follow_find(f);
    if (f->is_again || (t && turnlog_turn_is_finished(t)))
        bus_follow_repair(f);
    else if (!f->is_complete)
        loop_timer_set(f->timer, CHECK_MS);
}

/* ---- live ---- */

static void bus_follow_on_batch(void *ctx, const struct nats_client_message *m)
{
    struct bus_follow *const f = ctx;
    struct bus_batch b;
    struct str lines;
    if (f->is_complete || bus_batch_read(m->data, &b, &lines) < 0 || b.last <= f->have)
        return;
    if (f->is_repairing || b.after > f->have) {
        f->link->counters.gaps += !f->is_repairing;
        bus_follow_keep(f, m->data);
        if (!f->is_repairing)
            bus_follow_repair(f);
        return;
    }
    bus_follow_add_lines(f, lines, b.last, true);
    if (f->is_complete)
        bus_follow_finish(f);
}

/* ---- its life ---- */

struct bus_follow *bus_follow_new(struct bus_link *link, const struct turnlog_turn *t)
{
    CLEANUP_BUF struct buf subject = {0};
    struct bus_follow *const f = xcalloc(1, sizeof *f);
    f->link = link;
    f->visible = visibility_resolve(t->visible);
    STAILQ_INIT(&f->early);
    snprintf(f->id, sizeof f->id, "%s", t->spec.id);
    snprintf(f->host, sizeof f->host, "%s", t->spec.host);
    f->timer = loop_timer_new(link->loop, bus_follow_on_timer, f);
    bus_stream_stored_subject(&subject, &link->names, BUS_EVENTS, "*", f->id);
    f->subscription = nats_client_subscribe(link->client, subject.p, bus_follow_on_batch, f);
    turnlog_skip_remote(link->turnlog, f->id, 0);
    bus_follow_repair(f);
    return f;
}

void bus_follow_free(struct bus_follow *f)
{
    if (!f)
        return;
    nats_client_unsubscribe(f->subscription);
    loop_timer_free(f->timer);
    bus_follow_drop_early(f);
    nats_client_forget(f->link->client, f);
    view_pairing_fini(&f->showing);
    free(f);
}

const char *bus_follow_turn(const struct bus_follow *f)
{
    return f->id;
}

bool bus_follow_is_complete(const struct bus_follow *f)
{
    return f->is_complete;
}
