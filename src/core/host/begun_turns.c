/* SPDX-License-Identifier: MIT
 * Reads the list of this host one turn at a time. A turn that the journal knows was entered
 * before, and only has to be removed from the list. */
#include "core/host/begun_turns.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/sys/clock.h"
#include "base/sys/crash_point.h"
#include "base/sys/log.h"
#include "core/turn/turn_record.h"
#include "core/work/work_outcome.h"

#define KIND "own"
#define RETRY_MS 1000
#define LOOK_MS 30000 /* interval of looks without a message, in case that one was missed */

struct begun_turns {
    struct leading_parts parts;
    struct bus_link *link;
    struct bus_watcher *active;
    struct nats_client_subscription *heard;
    struct loop_timer *timer;
    struct arena arena;
    struct work_order order; /* of the turn that is looked at; its texts are the arena's */
    uint64_t sequence;       /* behind which the next turn is looked for */
    bool is_looking, is_stopped;
    bool is_late; /* a turn was stored after the look began */
};

static void begun_turns_find(struct begun_turns *b);

/* ---- the end of a step ---- */

static void begun_turns_pause(struct begun_turns *b, int64_t ms)
{
    arena_reset(&b->arena);
    b->is_looking = false;
    if (!b->is_stopped)
        loop_timer_set(b->timer, b->is_late ? 0 : ms);
}

static void begun_turns_run_next_step(struct begun_turns *b)
{
    arena_reset(&b->arena);
    if (b->is_stopped || !b->link->is_active)
        begun_turns_pause(b, RETRY_MS);
    else
        begun_turns_find(b);
}

static void begun_turns_remove(struct begun_turns *b)
{
    if (!b->is_stopped)
        work_outcome_remove(b->link, KIND, b->link->names.host, b->order.turn);
}

/* ---- one turn ---- */

static struct journal_turn begun_turns_record(const struct begun_turns *b)
{
    const struct work_order *const o = &b->order;
    return (struct journal_turn){
        .id = o->turn,
        .agent = o->agent,
        .conv = o->conversation,
        .source = o->source,
        .agent_pid = TURN_RECORD_ELSEWHERE,
        .owner = o->owner,
        .prompt = "",
        .route = o->route,
        .instances = o->instances,
        .admitted_ms = o->admitted_ms,
    };
}

static void begun_turns_on_entered(void *ctx, enum journal_status status, const char *text)
{
    struct begun_turns *const b = ctx;
    const struct journal_turn t = begun_turns_record(b);
    (void)text;
    if (status != JOURNAL_DONE) {
        log_write(LOG_ERR, "bus",
                  "turn %s: cannot write the turn that its agent has begun to the journal", t.id);
        begun_turns_pause(b, RETRY_MS);
        return;
    }
    CRASH_POINT("after-begun-entered");
    turn_record_set_elsewhere(b->parts.journal, t.id, true);
    begun_turns_remove(b);
    if (!b->is_stopped && !turn_scheduler_resume(b->parts.conversations, &t))
        log_write(LOG_WARN, "bus", "turn %s: its agent has begun it, but %s is not configured here",
                  t.id, t.source);
    if (!b->is_stopped)
        turn_scheduler_start_ready(b->parts.conversations);
    begun_turns_run_next_step(b);
}

static void begun_turns_on_known(void *ctx, enum journal_status status,
                                 const struct journal_turn *turn)
{
    struct begun_turns *const b = ctx;
    const struct journal_turn t = begun_turns_record(b);
    (void)turn;
    if (b->is_stopped || status == JOURNAL_FAILED) {
        begun_turns_pause(b, RETRY_MS);
    } else if (status == JOURNAL_NO_CHANGE) {
        turn_record_begin(b->parts.journal, b->parts.dispatch, &t, begun_turns_on_entered, b);
    } else {
        begun_turns_remove(b);
        begun_turns_run_next_step(b);
    }
}

/* ---- looking ---- */

static void begun_turns_on_found(void *ctx, enum nats_client_result result,
                                 const struct nats_client_message *m)
{
    struct begun_turns *const b = ctx;
    if (result != NATS_CLIENT_REPLIED || !m->sequence || b->is_stopped) {
        begun_turns_pause(b, bus_link_is_answered(result, m) ? LOOK_MS : RETRY_MS);
        return;
    }
    b->sequence = m->sequence;
    if (work_order_read(m->data, &b->arena, &b->order) == 0 && bus_stream_is_token(b->order.turn))
        journal_async_look_up(b->parts.journal, b->order.turn, begun_turns_on_known, b);
    else
        begun_turns_run_next_step(b);
}

static void begun_turns_find(struct begun_turns *b)
{
    CLEANUP_BUF struct buf subject = {0};
    work_outcome_subject(&subject, &b->link->names, KIND, b->link->names.host, "*");
    bus_link_read_next(b->link, BUS_TURNS, subject.p, b->sequence + 1, begun_turns_on_found, b);
}

static void begun_turns_on_timer(void *arg)
{
    struct begun_turns *const b = arg;
    if (b->is_looking || b->is_stopped)
        return;
    b->is_looking = true;
    b->is_late = false;
    b->sequence = 0;
    begun_turns_run_next_step(b);
}

static void begun_turns_schedule_scan(struct begun_turns *b)
{
    b->is_late = b->is_looking;
    if (!b->is_looking)
        loop_timer_set(b->timer, 0);
}

/* The subject also carries what JetStream refuses, which the look does not find. */
static void begun_turns_on_message(void *ctx, const struct nats_client_message *m)
{
    (void)m;
    begun_turns_schedule_scan(ctx);
}

static void begun_turns_on_active(void *ctx)
{
    begun_turns_schedule_scan(ctx);
}

/* ---- its life ---- */

struct begun_turns *begun_turns_new(const struct leading_parts *parts)
{
    if (!parts->work)
        return NULL;
    struct begun_turns *const b = xcalloc(1, sizeof *b);
    CLEANUP_BUF struct buf subject = {0};
    b->parts = *parts;
    b->link = bus_get_link(parts->bus);
    b->timer = loop_timer_new(parts->loop, begun_turns_on_timer, b);
    work_outcome_subject(&subject, &b->link->names, KIND, b->link->names.host, "*");
    b->heard = nats_client_subscribe(b->link->client, subject.p, begun_turns_on_message, b);
    b->active = bus_watch(parts->bus, begun_turns_on_active, b);
    return b;
}

void begun_turns_stop(struct begun_turns *b)
{
    if (!b || b->is_stopped)
        return;
    b->is_stopped = true;
    nats_client_forget(b->link->client, b);
    nats_client_unsubscribe(b->heard);
    bus_watcher_free(b->active);
    loop_timer_free(b->timer);
}

void begun_turns_free(struct begun_turns *b)
{
    if (!b)
        return;
    arena_fini(&b->arena);
    free(b);
}
