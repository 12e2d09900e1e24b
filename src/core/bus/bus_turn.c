/* SPDX-License-Identifier: MIT
 * Decides when a batch is complete, and which message of a turn is sent next. */
#include "core/bus/bus_turn.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/invariant.h"
#include "base/sys/clock.h"
#include "base/sys/log.h"
#include "core/bus/bus_line.h"

#define BATCH_BYTES ((size_t)64 << 10)
#define GAP_MIN_MS 1 /* interval between batches without urgent events */
#define GAP_MAX_MS 20
#define GAP_STEP 500 /* number of batches after which the interval grows by 1 ms */
#define RETRY_MS 1000

static void bus_turn_chain_go_on(struct bus_turn_chain *c);

/* ---- collecting a batch ---- */

static bool bus_turn_is_urgent_event(const struct event *ev)
{
    return ev->kind == TC_REQUEST || ev->kind == TC_FINAL || ev->kind == TC_ERROR ||
           ev->kind == TC_DONE;
}

/* at_us: Unix time in microseconds when the next event of the batch was in the turn log. */
static void bus_turn_note_time(struct bus_turn *t, int64_t at_us)
{
    if (!t->lines.len)
        t->at_us = at_us;
    else
        buf_printf(&t->then_us, "%c%" PRId64, t->then_us.len ? ',' : '[', at_us - t->at_us);
}

static void bus_turn_take_event(struct bus_turn *t, const struct turnlog_item *item)
{
    bus_turn_note_time(t, (int64_t)(clock_wall_s() * 1e6) - item->age_us);
    bus_line_append(&t->lines, item->shared, t->shift);
    t->taken = item->seq;
    t->last = item->seq + t->shift;
    t->is_urgent |= bus_turn_is_urgent_event(shared_event_get(item->shared));
}

/* A batch never spans lost events, because its `after` shows readers the gap. */
static void bus_turn_take_gap(struct bus_turn *t, const struct turnlog_item *item)
{
    t->taken = item->to;
    t->skipped = item->to + t->shift;
    t->is_urgent = true;
}

static void bus_turn_begin_batch(struct bus_turn *t)
{
    t->after = t->skipped ? t->skipped : t->last;
    t->last = t->after;
    t->skipped = 0;
    t->is_urgent = t->is_late = t->is_timed = false;
    loop_timer_set(t->flush, -1);
    buf_reset(&t->lines);
    buf_reset(&t->then_us);
}

static void bus_turn_gather(struct bus_turn *t)
{
    struct turnlog_item item;
    enum turnlog_next_result step = TURNLOG_EVENT;
    while (t->follower && !t->skipped && t->lines.len < BATCH_BYTES) {
        step = turnlog_follower_next(t->follower, &item);
        if (step == TURNLOG_WAIT || step == TURNLOG_OVER)
            break;
        if (step == TURNLOG_EVENT)
            bus_turn_take_event(t, &item);
        else
            bus_turn_take_gap(t, &item);
        if (t->skipped && !t->lines.len)
            bus_turn_begin_batch(t);
    }
    t->is_over |= step == TURNLOG_OVER;
}

/* The body of the message follows. */
static void bus_turn_chain_begin(struct bus_turn_chain *c)
{
    c->from = bus_link_next_origin(c->turn->publisher->link);
    c->is_pending = true;
    c->since_ms = clock_mono_ms();
    buf_reset(&c->body);
}

static void bus_turn_flush(struct bus_turn *t)
{
    struct bus_turn_chain *const c = &t->events;
    if (t->then_us.len)
        buf_add_char(&t->then_us, ']');
    bus_turn_chain_begin(c);
    bus_batch_write(&c->body,
                    &(struct bus_batch){.from = c->from,
                                        .after = t->after,
                                        .last = t->last,
                                        .at_us = t->at_us,
                                        .then_us = {t->then_us.p, t->then_us.len}},
                    (struct str){t->lines.p, t->lines.len});
    t->sent = t->taken;
    t->flushed_ms = clock_mono_ms();
    t->batches++;
    bus_turn_begin_batch(t);
}

int64_t bus_turn_compute_gap_ms(uint64_t batches)
{
    const uint64_t gap_ms = GAP_MIN_MS + batches / GAP_STEP;
    return gap_ms < GAP_MAX_MS ? (int64_t)gap_ms : GAP_MAX_MS;
}

/* After a pause, events are sent at once; in fast streams they are collected. */
static int64_t bus_turn_get_wait_ms(const struct bus_turn *t)
{
    const int64_t gap_ms = bus_turn_compute_gap_ms(t->batches);
    const int64_t due_ms = t->flushed_ms + gap_ms, now_ms = clock_mono_ms();
    return !t->flushed_ms || due_ms <= now_ms ? 0 : due_ms - now_ms;
}

/* Sends the batch if it is complete, or has reached its maximum age. */
static void bus_turn_collect(struct bus_turn *t)
{
    if (t->events.is_pending)
        return;
    bus_turn_gather(t);
    if (!t->lines.len)
        return;
    const int64_t wait_ms = bus_turn_get_wait_ms(t);
    if (!wait_ms || t->is_urgent || t->is_over || t->is_late || t->lines.len >= BATCH_BYTES)
        bus_turn_flush(t);
    else if (!t->is_timed)
        loop_timer_set(t->flush, wait_ms);
    t->is_timed = t->lines.len;
}

static void bus_turn_on_flush(void *arg)
{
    struct bus_turn *const t = arg;
    t->is_timed = false;
    t->is_late = true;
    bus_turn_go_on(t);
}

static void bus_turn_on_ready(void *ctx)
{
    bus_turn_go_on(ctx);
}

static void bus_turn_follow(struct bus_turn *t)
{
    turnlog_follower_free(t->follower);
    t->follower =
        turnlog_follower_new(t->publisher->log, t->id, t->stored, true, bus_turn_on_ready, t);
}

/* ---- the state ---- */

/* The published state must not run ahead of the events, which the servers may still refuse. */
static void bus_turn_write_state(struct bus_turn *t, const struct turnlog_turn *now)
{
    struct bus_publisher *const p = t->publisher;
    struct bus_turn_chain *const c = &t->state;
    CLEANUP_BUF struct buf requests = {0};
    struct turnlog_turn shown = *now;
    if (p->requests)
        p->requests(p->ctx, &requests, t->id);
    shown.last_seq += t->shift;
    bus_turn_chain_begin(c);
    t->gate = now->last_seq;
    bus_state_write(&c->body, &c->from, &shown, requests.len ? requests.p : NULL);
}

static void bus_turn_collect_state(struct bus_turn *t)
{
    if (!t->is_dirty || t->state.is_pending)
        return;
    if (t->publisher->runs) { /* the gateway publishes the state of the turn */
        t->is_dirty = false;
        return;
    }
    const struct turnlog_turn *const now = turnlog_find_turn(t->publisher->log, t->id);
    t->is_dirty = false;
    if (now)
        bus_turn_write_state(t, now);
}

static void bus_turn_send_state(struct bus_turn *t)
{
    bus_turn_collect_state(t);
    if (t->stored >= t->gate)
        bus_turn_chain_go_on(&t->state);
}

/* Events are sent when the follower is ready: an event may change the state, and be followed by
 * others that belong into its batch. */
void bus_turn_note_state(struct bus_turn *t, const struct turnlog_turn *now)
{
    t->is_dirty = true;
    if (!t->follower && now->started_ms && !now->into && !t->is_over)
        bus_turn_follow(t);
    if (!t->is_fenced)
        bus_turn_send_state(t);
}

/* ---- sending a message of a chain ---- */

static void bus_turn_fence(struct bus_turn *t)
{
    t->is_fenced = true;
    t->publisher->link->counters.fenced++;
    turnlog_follower_free(t->follower);
    t->follower = NULL;
    log_write(LOG_WARN, "bus",
              "turn %s: another publisher has taken this turn over; its events are no longer "
              "published from this host",
              t->id);
    if (t->publisher->runs)
        t->publisher->runs->fenced(t->publisher->ctx, t->id);
}

static void bus_turn_chain_subject(const struct bus_turn_chain *c, struct buf *out)
{
    const struct bus_names *const names = &c->turn->publisher->link->names;
    bus_stream_subject(out, names, c->stream, names->host, c->turn->id);
}

static void bus_turn_on_stored(struct bus_turn_chain *c)
{
    struct bus_turn *const t = c->turn;
    c->is_pending = false;
    if (c == &t->events) {
        t->stored = t->sent;
        t->publisher->link->counters.batches++;
    }
    bus_turn_go_on(t);
}

/* This host has stored events up to `last` before its restart: continues behind them. */
static void bus_turn_adopt(struct bus_turn *t, uint64_t last)
{
    t->shift = last;
    t->last = last;
    t->taken = t->sent = t->stored = 0;
    t->events.is_pending = false;
    bus_turn_begin_batch(t);
    bus_turn_follow(t);
    t->is_dirty = true;
    t->state.is_pending &= t->state.is_asked;
}

static void bus_turn_chain_take_step(struct bus_turn_chain *c, enum bus_chain_step step)
{
    switch (step) {
    case BUS_CHAIN_STORED:
        bus_turn_on_stored(c);
        return;
    case BUS_CHAIN_STOP:
        bus_turn_fence(c->turn);
        return;
    case BUS_CHAIN_LATER:
        loop_timer_set(c->retry, RETRY_MS);
        return;
    case BUS_CHAIN_READ:
    case BUS_CHAIN_AGAIN:
    case BUS_CHAIN_ADOPTED:
        bus_turn_chain_go_on(c);
        return;
    }
}

static enum bus_chain_answer bus_turn_judge(struct bus_turn_chain *c, enum bus_link_stored stored,
                                            const struct bus_ack *ack)
{
    switch (stored) {
    case BUS_LINK_STORED:
        return BUS_CHAIN_ACK;
    case BUS_LINK_WRONG:
        return BUS_CHAIN_WRONG;
    case BUS_LINK_LOST:
        return BUS_CHAIN_LOST;
    case BUS_LINK_UNSENT:
        return BUS_CHAIN_UNSENT;
    case BUS_LINK_REFUSED:
        break;
    }
    if (!c->turn->publisher->link->counters.refused++)
        log_write(LOG_WARN, "bus", "the servers refuse an event: %s (%lld); trying again",
                  ack->text, (long long)ack->error);
    return BUS_CHAIN_REFUSED;
}

static void bus_turn_chain_on_published(void *ctx, enum nats_client_result result,
                                        const struct nats_client_message *m)
{
    struct bus_turn_chain *const c = ctx;
    struct bus_ack ack;
    c->is_asked = false;
    const enum bus_link_stored stored = bus_link_read_stored(result, m, &ack);
    if (stored == BUS_LINK_STORED)
        histogram_add(&c->turn->publisher->link->counters.publish,
                      (double)(clock_mono_us() - c->asked_us) / 1e6);
    const enum bus_chain_answer answer = bus_turn_judge(c, stored, &ack);
    bus_turn_chain_take_step(c, bus_chain_on_answer(&c->chain, answer, ack.sequence));
}

/* The last message of the subject. */
static void bus_turn_chain_compare(struct bus_turn_chain *c, const struct nats_client_message *m)
{
    struct bus_origin from;
    struct bus_batch batch = {0};
    struct str lines;
    const bool is_message = bus_origin_read(m->data, &from) == 0;
    if (m->status == 404 || !is_message) { /* not written by turncast, because it cannot be
                                            * parsed */
        const enum bus_chain_step step = m->status == 404
                                             ? bus_chain_on_read(&c->chain, NULL, 0)
                                             : bus_chain_on_read(&c->chain, &from, m->sequence);
        bus_turn_chain_take_step(c, step);
        return;
    }
    const enum bus_chain_step step = bus_chain_on_read(&c->chain, &from, m->sequence);
    if (step == BUS_CHAIN_ADOPTED && c == &c->turn->events) {
        bus_turn_adopt(c->turn, bus_batch_read(m->data, &batch, &lines) == 0 ? batch.last : 0);
        bus_turn_go_on(c->turn);
    } else if (step == BUS_CHAIN_READ) {
        loop_timer_set(c->retry, RETRY_MS);
    } else {
        bus_turn_chain_take_step(c, step);
    }
}

static void bus_turn_chain_on_read(void *ctx, enum nats_client_result result,
                                   const struct nats_client_message *m)
{
    struct bus_turn_chain *const c = ctx;
    c->is_asked = false;
    if (result == NATS_CLIENT_REPLIED && (m->status == 404 || m->sequence)) {
        bus_turn_chain_compare(c, m);
        return;
    }
    bus_chain_on_read_failed(&c->chain);
    loop_timer_set(c->retry, RETRY_MS);
}

static void bus_turn_chain_go_on(struct bus_turn_chain *c)
{
    struct bus_link *const link = c->turn->publisher->link;
    CLEANUP_BUF struct buf subject = {0};
    if (!link->is_active || c->is_asked || !c->is_pending || c->turn->is_fenced)
        return;
    bus_turn_chain_subject(c, &subject);
    if (c->chain.state == BUS_CHAIN_READY) {
        bus_chain_send(&c->chain, &c->from);
        c->is_asked = true;
        c->asked_us = clock_mono_us();
        bus_link_store(link, subject.p, (struct str){c->body.p, c->body.len}, c->chain.last,
                       bus_turn_chain_on_published, c);
    } else if (c->chain.state == BUS_CHAIN_UNSURE) {
        bus_chain_read(&c->chain);
        c->is_asked = true;
        bus_link_read_last(link, c->stream, subject.p, bus_turn_chain_on_read, c);
    }
}

static void bus_turn_chain_on_retry(void *arg)
{
    struct bus_turn_chain *const c = arg;
    bus_turn_go_on(c->turn);
}

/* ---- create and free ---- */

void bus_turn_go_on(struct bus_turn *t)
{
    if (t->is_fenced)
        return;
    bus_turn_collect(t);
    bus_turn_chain_go_on(&t->events);
    bus_turn_send_state(t);
    if (t->follower && t->is_over && !t->events.is_pending && !t->lines.len) {
        turnlog_follower_free(t->follower);
        t->follower = NULL;
    }
}

bool bus_turn_is_settled(const struct bus_turn *t)
{
    if (t->events.is_asked || t->state.is_asked)
        return false;
    return t->is_fenced || (!t->follower && !t->events.is_pending && !t->state.is_pending &&
                            !t->is_dirty && !t->lines.len);
}

static void bus_turn_chain_init(struct bus_turn_chain *c, struct bus_turn *t,
                                enum bus_stream stream)
{
    c->turn = t;
    c->stream = stream;
    c->retry = loop_timer_new(t->publisher->link->loop, bus_turn_chain_on_retry, c);
}

static void bus_turn_chain_fini(struct bus_turn_chain *c)
{
    loop_timer_free(c->retry);
    buf_fini(&c->body);
}

struct bus_turn *bus_turn_new(struct bus_publisher *p, const char *id)
{
    struct bus_turn *const t = xcalloc(1, sizeof *t);
    ASSERT(strlen(id) < sizeof t->id);
    t->publisher = p;
    snprintf(t->id, sizeof t->id, "%s", id);
    t->flush = loop_timer_new(p->link->loop, bus_turn_on_flush, t);
    bus_turn_chain_init(&t->events, t, BUS_EVENTS);
    bus_turn_chain_init(&t->state, t, BUS_STATES);
    return t;
}

void bus_turn_free(struct bus_turn *t)
{
    turnlog_follower_free(t->follower);
    loop_timer_free(t->flush);
    bus_turn_chain_fini(&t->events);
    bus_turn_chain_fini(&t->state);
    buf_fini(&t->lines);
    buf_fini(&t->then_us);
    free(t);
}
