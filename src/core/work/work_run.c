/* SPDX-License-Identifier: MIT
 * Owns the states of a run (work.h). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/invariant.h"
#include "base/sys/clock.h"
#include "base/sys/log.h"
#include "core/work/work_internal.h"
#include "core/work/work_move.h"
#include "event/codec.h"
#include "text/sentence/texts.h"

#define RETRY_MS 1000
#define WAIT_NOTICE_MS 30000 /* until a notice that no host has begun the turn yet */
#define LOOKS 5              /* at the hosts, between two at the outcome */

void work_run_enter(struct work_run *r, enum work_run_state state)
{
    if (state == RUN_PLACING)
        r->since_ms.placing = clock_mono_ms();
    r->state = state;
    work_run_go_on(r);
}

void work_run_retry(struct work_run *r)
{
    loop_timer_set(r->timer, RETRY_MS);
}

/* ---- output ---- */

static void work_run_print(struct work_run *r, struct str lines)
{
    if (lines.len)
        r->events->out(r->ctx, lines.p, lines.len);
}

static void work_run_print_event(struct work_run *r, struct event *ev)
{
    CLEANUP_BUF struct buf line = {0};
    ev->meta.ts = clock_wall_s();
    ev->meta.src = "turncast";
    ev->meta.correlation_id = r->order.turn;
    ev->meta.seq = 1;
    ev->u.meta = &ev->meta;
    codec_encode(&line, ev);
    buf_add_char(&line, '\n');
    work_run_print(r, (struct str){line.p, line.len});
}

void work_run_print_notice(struct work_run *r, const char *level, const char *code,
                           const char *text)
{
    struct event ev;
    r->notices.is_first |= !r->has_event;
    event_init_notice(&ev, level, code, text);
    ev.meta.session_id = "";
    work_run_print_event(r, &ev);
}

/* Called by a timer, not by the caller that ends the run: the executor frees the run in `exit`. */
void work_run_on_exit(void *arg)
{
    struct work_run *const r = arg;
    r->events->exit(r->ctx, 0);
}

static void work_run_finish(struct work_run *r)
{
    if (r->state == RUN_OVER)
        return;
    r->state = RUN_OVER;
    if (!r->has_done)
        work_run_print(r, work_outcome_lines((struct str){r->out.p, r->out.len}));
    loop_timer_set(r->timer, -1);
    loop_timer_set(r->exit, 0);
}

/* ---- the outcome ---- */

/* The outcome is emitted after all events that the run's host has published have been read. */
static void work_run_set_outcome(struct work_run *r, struct str body)
{
    if (r->out.len || r->state == RUN_OVER)
        return;
    buf_add(&r->out, body.p, body.len);
    bus_reader_repair(r->reader);
}

static void work_run_on_outcome(void *ctx, bool is_own, struct str body)
{
    struct work_run *const r = ctx;
    (void)is_own;
    work_run_set_outcome(r, body);
    work_outcome_free(r->outcome);
    r->outcome = NULL;
}

/* Ends it by this error, unless it has an outcome already. */
void work_run_end(struct work_run *r, const char *code, const char *text)
{
    CLEANUP_BUF struct buf body = {0};
    const struct bus_origin from = bus_link_next_origin(r->work->link);
    const bool is_given = r->is_order_stored || r->state == RUN_RECALL ||
                          (r->state == RUN_STORING && r->awaits_reply);
    ASSERT(r->state < RUN_ENDING);
    r->state = RUN_ENDING;
    work_outcome_write_error(&body, &from, r->order.turn, clock_wall_s(), code, text);
    if (!is_given) { /* no other host knows of it */
        buf_add(&r->out, body.p, body.len);
        loop_timer_set(r->timer, 0);
        return;
    }
    r->outcome = work_outcome_store(r->work->link, r->order.source, r->order.turn, &from,
                                    (struct str){body.p, body.len}, work_run_on_outcome, r);
}

static void work_run_lose(struct work_run *r, const char *code, enum text_id id)
{
    CLEANUP_BUF struct buf text = {0};
    TEXTS_IN(r->notices.language);
    texts_append(&text, id, TEXT_VALUES(TEXT_STR("host", r->runner.host)));
    log_write(LOG_WARN, "bus", "turn %s: lost with host \"%s\": %s", r->order.turn, r->runner.host,
              id == TEXT_HOST_LOST ? "it is not there any more" : "it was restarted");
    r->is_last = true;
    r->work->counters.lost++;
    work_run_end(r, code, text.p);
}

static void work_run_on_out_read(void *ctx, enum nats_client_result result,
                                 const struct nats_client_message *m)
{
    struct work_run *const r = ctx;
    r->awaits_reply = false;
    if (result == NATS_CLIENT_REPLIED && m->sequence)
        work_run_set_outcome(r, m->data);
    else
        work_run_go_on(r);
}

static void work_run_read_outcome(struct work_run *r)
{
    CLEANUP_BUF struct buf subject = {0};
    if (r->awaits_reply || r->out.len)
        return;
    r->awaits_reply = true;
    work_outcome_subject(&subject, &r->work->link->names, "out", r->order.source, r->order.turn);
    bus_link_read_last(r->work->link, BUS_TURNS, subject.p, work_run_on_out_read, r);
}

/* ---- events of the host that runs it ---- */

static void work_run_set_runner(struct work_run *r, const struct bus_origin *from)
{
    if (strcmp(r->runner.host, from->host) == 0 && strcmp(r->runner.boot, from->boot) == 0)
        return;
    r->runner = *from;
    r->runner_ms = clock_mono_ms();
    if (r->state < RUN_RUNNING)
        r->state = RUN_RUNNING;
}

/* Behind the first event: in front of it, that would count as a second start of the agent. */
static void work_run_print_session_moved(struct work_run *r)
{
    TEXTS_IN(r->notices.language);
    if (r->notices.session != SESSION_DROPPED)
        return;
    r->notices.session = SESSION_REPORTED;
    work_run_print_notice(r, "warn", "session_moved", texts_get(TEXT_SESSION_MOVED));
}

/* The turn has started with a notice of this host, and starts once. So another notice has what the
 * agent says of its start, except the task, which is known. */
static void work_run_print_begun(struct work_run *r, const struct event *start)
{
    CLEANUP_BUF struct buf text = {0}, fields = {0};
    struct event known = *start, notice;
    TEXTS_IN(r->notices.language);
    known.u.start.task = NULL;
    codec_encode_payload(&fields, &known);
    texts_append(&text, TEXT_RUNS_ON_HOST, TEXT_VALUES(TEXT_STR("host", r->runner.host)));
    event_init_notice(&notice, "info", "bus_begun", text.p);
    notice.meta.session_id = start->meta.session_id;
    notice.meta.x = fields.p;
    work_run_print_event(r, &notice);
}

static struct str work_run_text_of(enum text_id id, enum language language)
{
    TEXTS_IN(language);
    const char *const text = texts_get(id);
    return (struct str){text, strlen(text)};
}

/* The other host has written the end of a turn that its agent had begun and that says nothing. It
 * does not know the language of the instance. */
static bool work_run_translate_end(const struct work_run *r, struct event *ev)
{
    const struct str english = work_run_text_of(TEXT_BACKGROUND_ENDED, LANGUAGE_EN);
    if (ev->kind != TC_FINAL || !ev->u.final.synthesized ||
        !str_equal((struct str){ev->u.final.text, ev->u.final.text_len}, english))
        return false;
    const struct str own = work_run_text_of(TEXT_BACKGROUND_ENDED, r->notices.language);
    ev->u.final.text = own.p;
    ev->u.final.text_len = own.len;
    return true;
}

static void work_run_on_event(void *ctx, struct event *ev, struct str line)
{
    struct work_run *const r = ctx;
    CLEANUP_BUF struct buf text = {0};
    if (r->state == RUN_OVER)
        return;
    r->has_event = true;
    r->has_done |= ev->kind == TC_DONE && !ev->meta.agent && !ev->meta.parent_id;
    if (ev->kind == TC_START && r->notices.is_first) {
        work_run_print_begun(r, ev);
        return;
    }
    if (work_run_translate_end(r, ev))
        codec_encode(&text, ev);
    else
        buf_add(&text, line.p, line.len);
    buf_add_char(&text, '\n');
    work_run_print(r, (struct str){text.p, text.len});
    work_run_print_session_moved(r);
}

static void work_run_on_skip(void *ctx, uint64_t up_to)
{
    struct work_run *const r = ctx;
    (void)up_to;
    TEXTS_IN(r->notices.language);
    work_run_print_notice(r, "warn", "events_lost", texts_get(TEXT_EVENTS_LOST));
}

static void work_run_on_sign(void *ctx, const struct bus_origin *from)
{
    work_run_set_runner(ctx, from);
}

static enum bus_reader_turn work_run_look_at(void *ctx)
{
    const struct work_run *const r = ctx;
    if (!r->out.len)
        return BUS_READER_RUNS;
    return r->is_last || !r->has_event ? BUS_READER_EMPTY : BUS_READER_OVER;
}

static void work_run_on_complete(void *ctx)
{
    work_run_finish(ctx);
}

const struct bus_reader_sink work_run_sink = {work_run_on_event, work_run_on_skip, work_run_on_sign,
                                              work_run_look_at, work_run_on_complete};

/* ---- the host that has begun the turn ---- */

static void work_run_on_claim(void *ctx, enum nats_client_result result,
                              const struct nats_client_message *m)
{
    struct work_run *const r = ctx;
    struct bus_kv_entry entry;
    struct bus_origin from;
    r->awaits_reply = false;
    bus_kv_read_entry(r->work->link, BUS_RUNS, result, m, &entry);
    if (entry.result == BUS_KV_DONE && bus_origin_read(entry.value, &from) == 0) {
        work_run_set_runner(r, &from);
        bus_reader_set_host(r->reader, from.host);
        work_run_read_outcome(r);
    } else if (entry.result == BUS_KV_NONE && r->state == RUN_WAITING && !r->queued &&
               !r->not_before_ms) {
        work_run_enter(r, *r->target ? RUN_QUEUEING : RUN_PLACING);
    }
}

static void work_run_read_claim(struct work_run *r)
{
    if (r->awaits_reply)
        return;
    r->awaits_reply = true;
    bus_kv_get(r->work->link, BUS_RUNS, r->order.turn, work_run_on_claim, r);
}

/* ---- where it may run ---- */

static bool work_run_may_run_on(const struct work_run *r, const char *host)
{
    for (char *const *name = r->hosts; *name; name++)
        if (strcmp(*name, host) == 0)
            return true;
    return false;
}

/* That host runs no turns now. */
static bool work_run_is_aside(const struct work *w, const char *host)
{
    return strcmp(host, w->link->names.host) == 0 ? w->is_aside
                                                  : work_hosts_is_draining(w->hosts, host);
}

/* The host drained when it was looked at last, but may run turns again: a conversation is not moved
 * away without another look. */
static bool work_run_awaits_look(struct work_run *r, const char *host)
{
    if (!work_run_is_aside(r->work, host) ||
        !work_hosts_is_older(r->work->hosts, host, r->since_ms.placing))
        return false;
    work_hosts_look_again(r->work->hosts);
    work_run_retry(r);
    return true;
}

/* The session is on another host. */
static void work_run_drop_session(struct work_run *r)
{
    if (!r->order.session || r->work->has_shared_sessions)
        return;
    r->order.session = NULL;
    r->notices.session = SESSION_DROPPED;
    r->work->counters.moved++;
}

/* The session is on a host that is gone, or on none that is known. */
static void work_run_move(struct work_run *r, const struct bus_kv_entry *home)
{
    if (home->result == BUS_KV_DONE)
        bus_kv_delete(r->work->link, BUS_HOMES, r->home_key.p, home->revision, NULL, NULL);
    work_run_drop_session(r);
}

static void work_run_on_home(void *ctx, enum nats_client_result result,
                             const struct nats_client_message *m)
{
    struct work_run *const r = ctx;
    struct bus_kv_entry entry;
    struct bus_origin home = {0};
    r->awaits_reply = false;
    if (r->state != RUN_PLACING)
        return;
    bus_kv_read_entry(r->work->link, BUS_HOMES, result, m, &entry);
    if (entry.result != BUS_KV_DONE && entry.result != BUS_KV_NONE) {
        work_run_retry(r);
        return;
    }
    const bool has_home = entry.result == BUS_KV_DONE && bus_origin_read(entry.value, &home) == 0;
    if (has_home && work_run_awaits_look(r, home.host))
        return;
    const bool stays = has_home && work_run_may_run_on(r, home.host) &&
                       !work_run_is_aside(r->work, home.host) &&
                       work_hosts_absent_ms(r->work->hosts, home.host) < r->work->move_after_ms;
    snprintf(r->target, sizeof r->target, "%s", stays ? home.host : "");
    if (!stays)
        work_run_move(r, &entry);
    else if (work_home_is_moved(entry.value))
        work_run_drop_session(r);
    work_run_enter(r, r->is_order_stored ? RUN_QUEUEING : RUN_STORING);
}

static void work_run_read_home(struct work_run *r)
{
    r->awaits_reply = true;
    bus_kv_get(r->work->link, BUS_HOMES, r->home_key.p, work_run_on_home, r);
}

/* ---- storing the turn ---- */

static void work_run_set_stored(struct work_run *r)
{
    r->is_order_stored = true;
    if (!r->stored.is_done)
        r->stored.done(r->stored.ctx);
    r->stored.is_done = true;
}

static void work_run_on_order_stored(void *ctx, enum nats_client_result result,
                                     const struct nats_client_message *m)
{
    struct work_run *const r = ctx;
    struct bus_ack ack;
    r->awaits_reply = false;
    const enum bus_link_stored stored = bus_link_read_stored(result, m, &ack);
    if (stored != BUS_LINK_STORED && stored != BUS_LINK_WRONG) {
        work_run_retry(r);
        return;
    }
    work_run_set_stored(r); /* WRONG: this turn is stored already */
    if (r->state == RUN_STORING)
        work_run_enter(r, RUN_QUEUEING);
}

static void work_run_store_order(struct work_run *r)
{
    struct bus_link *const link = r->work->link;
    CLEANUP_BUF struct buf subject = {0}, body = {0};
    const struct bus_origin from = bus_link_next_origin(link);
    work_outcome_subject(&subject, &link->names, "new", r->order.source, r->order.turn);
    work_order_write(&body, &from, &r->order);
    r->awaits_reply = true;
    bus_link_store(link, subject.p, (struct str){body.p, body.len}, r->order.after,
                   work_run_on_order_stored, r);
}

/* ---- a turn that was begun before ---- */

/* The servers have lost the turn, so also its message in the queue, and perhaps the entry of the
 * host that has begun it. That host stores the entry again as soon as it is connected; until then
 * it has the time after which it would count as lost. */
static void work_run_reseed(struct work_run *r)
{
    r->work->counters.reseeded++;
    r->order.after = 0;
    if (r->state == RUN_WAITING) {
        r->queued = 0;
        r->not_before_ms = clock_mono_ms() + r->work->lost_after_ms;
    }
    work_run_store_order(r);
}

static void work_run_on_recalled(void *ctx, enum nats_client_result result,
                                 const struct nats_client_message *m)
{
    struct work_run *const r = ctx;
    struct work_order order;
    r->awaits_reply = false;
    if (r->state != RUN_RECALL)
        return;
    if (!bus_link_is_answered(result, m)) {
        work_run_retry(r);
    } else if (m->sequence && work_order_read(m->data, &r->arena, &order) == 0) {
        r->order = order;
        work_run_set_stored(r);
        work_run_enter(r, RUN_WAITING);
        work_run_look(r);
    } else if (r->stored.is_done) {
        r->is_order_stored = true;
        r->state = RUN_WAITING;
        work_run_reseed(r);
    } else {
        work_run_enter(r, RUN_PLACING);
    }
}

static void work_run_recall(struct work_run *r)
{
    CLEANUP_BUF struct buf subject = {0};
    work_outcome_subject(&subject, &r->work->link->names, "new", r->order.source, r->order.turn);
    r->awaits_reply = true;
    bus_link_read_last(r->work->link, BUS_TURNS, subject.p, work_run_on_recalled, r);
}

/* ---- the steps ---- */

static void work_run_print_waiting(struct work_run *r)
{
    CLEANUP_BUF struct buf text = {0};
    if (r->notices.is_waiting || clock_mono_ms() - r->since_ms.waiting < WAIT_NOTICE_MS)
        return;
    r->notices.is_waiting = true;
    TEXTS_IN(r->notices.language);
    if (r->work->link->is_active)
        texts_append(&text, TEXT_WAITS_FOR_HOST, TEXT_VALUES(TEXT_STR("agent", r->order.agent)));
    else
        texts_append(&text, TEXT_WAITS_FOR_BUS, NULL);
    work_run_print_notice(r, "info", "bus_wait", text.p);
}

void work_run_go_on(struct work_run *r)
{
    if (r->work && r->state == RUN_ENDING && !r->outcome && r->out.len && !r->is_order_stored)
        work_run_finish(r);
    if (!r->work || r->awaits_reply)
        return;
    if (!r->work->link->is_active) {
        if (r->state < RUN_RUNNING)
            work_run_print_waiting(r);
        work_run_retry(r);
        return;
    }
    switch (r->state) {
    case RUN_PLACING:
        work_run_read_home(r);
        break;
    case RUN_RECALL:
        work_run_recall(r);
        break;
    case RUN_STORING:
        work_run_store_order(r);
        break;
    case RUN_QUEUEING:
        work_run_queue(r);
        break;
    case RUN_WAITING:
    case RUN_RUNNING:
    case RUN_ENDING:
    case RUN_OVER:
        break;
    }
}

void work_run_on_timer(void *arg)
{
    work_run_go_on(arg);
}

static void work_run_look_waiting(struct work_run *r)
{
    const struct work *const w = r->work;
    work_run_print_waiting(r);
    if (r->not_before_ms && clock_mono_ms() >= r->not_before_ms)
        r->not_before_ms = 0;
    if (r->queued && *r->target &&
        (work_hosts_absent_ms(w->hosts, r->target) >= w->move_after_ms ||
         work_run_is_aside(w, r->target)))
        work_run_unqueue(r);
    else if (r->queued && *r->target && ++r->looks % 2 == 0)
        work_run_read_home_again(r);
    else
        work_run_read_claim(r);
}

static void work_run_look_running(struct work_run *r)
{
    const struct work *const w = r->work;
    if (work_is_former_life(w, &r->runner))
        work_run_lose(r, "host_restart", TEXT_RESTARTED);
    else if (work_hosts_has_restarted(w->hosts, r->runner.host, r->runner.boot, r->runner_ms))
        work_run_lose(r, "host_lost", TEXT_HOST_RESTARTED);
    else if (work_hosts_absent_ms(w->hosts, r->runner.host) >= w->lost_after_ms)
        work_run_lose(r, "host_lost", TEXT_HOST_LOST);
    else if (++r->looks % LOOKS == 0)
        work_run_read_outcome(r);
}

void work_run_look(struct work_run *r)
{
    if (r->state == RUN_WAITING)
        work_run_look_waiting(r);
    else if (r->state == RUN_RUNNING)
        work_run_look_running(r);
    else if (r->state == RUN_PLACING)
        work_run_go_on(r);
}

/* ---- after a break of the connection ---- */

static void work_run_on_checked(void *ctx, enum nats_client_result result,
                                const struct nats_client_message *m)
{
    struct work_run *const r = ctx;
    r->awaits_reply = false;
    if (result == NATS_CLIENT_REPLIED && m->status == 404 && r->state < RUN_ENDING)
        work_run_reseed(r);
    else
        work_run_go_on(r);
}

void work_run_resume(struct work_run *r)
{
    CLEANUP_BUF struct buf subject = {0};
    if (r->state == RUN_OVER)
        return;
    bus_reader_repair(r->reader);
    if (r->outcome)
        work_outcome_resume(r->outcome);
    if (r->awaits_reply || !r->is_order_stored || r->state >= RUN_ENDING) {
        work_run_go_on(r);
        return;
    }
    r->awaits_reply = true;
    work_outcome_subject(&subject, &r->work->link->names, "new", r->order.source, r->order.turn);
    bus_link_read_last(r->work->link, BUS_TURNS, subject.p, work_run_on_checked, r);
}
