/* SPDX-License-Identifier: MIT
 * Drops a task during which connector processes have died POISON_DEATHS times: an outcome, a reply
 * or an event becomes a dead letter. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sys/log.h"
#include "plugin/process/connector_process.h"

static struct callback_batch *connector_dead_letter_new_batch(const struct connector_turn *turn,
                                                              enum batch_settlement settles)
{
    struct callback_batch *const b = xcalloc(1, sizeof *b);
    b->turn = xstrdup(turn ? turn->named.id : "");
    b->settles = settles;
    return b;
}

/* The process will not see, or not report, the end of the turn: the host is informed if the
 * given-up task was the last of the turn. */
static void connector_dead_letter_close_turn(struct connector_process *g, struct connector_turn *t)
{
    if (!t || t->closed || !t->done || t->requests || t->tasks > 1)
        return;
    t->closed = t->over = true;
    if (!g->host.batch)
        return;
    struct callback_batch *const b = connector_dead_letter_new_batch(t, BATCH_NOTHING);
    b->over = true;
    g->host.batch(g->host.ctx, b);
}

static void connector_dead_letter_drop_event(struct connector_process *g,
                                             struct connector_turn *turn,
                                             struct shared_event *shared)
{
    const enum tc_kind kind = shared_event_get(shared)->kind;
    turn->lost = turn->lost || kind == TC_START;
    if (g->host.batch && g->conf.delivers && (kind == TC_FINAL || kind == TC_ERROR)) {
        struct callback_batch *const b = connector_dead_letter_new_batch(turn, BATCH_OUTCOME);
        b->failed = true;
        g->host.batch(g->host.ctx, b);
        return;
    }
    connector_supervisor_count_dropped(g);
    if (g->host.give_up_event)
        g->host.give_up_event(g->host.ctx, turn->named.id, shared, POISON_DEATHS);
    if (kind == TC_DONE)
        connector_dead_letter_close_turn(g, turn);
}

static void connector_dead_letter_drop_reply(struct connector_process *g,
                                             const struct connector_task *t)
{
    const struct outbound_reply *const r = t->control->reply;
    connector_reader_abandon_reply(g, t);
    if (!g->host.batch)
        return;
    struct callback_batch *const b = connector_dead_letter_new_batch(t->turn, BATCH_REQUEST);
    b->failed = true;
    b->request = r->request;
    b->verdict =
        (struct tc_verdict){.next = TC_NEXT_FAIL,
                            .reason = xstrdup("the connector crashed while handling the response")};
    g->host.batch(g->host.ctx, b);
    connector_dead_letter_close_turn(g, t->turn);
}

/* Drops a task that kills each process: an outcome, a reply or an event becomes a dead letter. */
static void connector_dead_letter_drop_task(struct connector_process *g, struct connector_task *t)
{
    log_write(LOG_ERR, g->conf.label, "%s of turn %s crashed the process %d times; %s",
              t->type == IPC_EVENT   ? kind_name(shared_event_get(t->shared)->kind)
              : t->type == IPC_REPLY ? "a reply"
                                     : "an incoming HTTP request",
              t->turn ? t->turn->named.id : "(none)", POISON_DEATHS,
              t->type == IPC_EVENT || t->type == IPC_REPLY ? "moved to dead letters" : "dropped");
    if (t->type == IPC_EVENT)
        connector_dead_letter_drop_event(g, t->turn, t->shared);
    else if (t->type == IPC_REPLY)
        connector_dead_letter_drop_reply(g, t);
}

/* These deaths are not caused by a task, even if tasks are waiting. */
static bool connector_dead_letter_is_own_callback(const char *callback)
{
    static const int own[] = {STATUS_WAKE, STATUS_IDLE, STATUS_INIT, STATUS_TEARDOWN};
    for (size_t i = 0; callback && i < sizeof own / sizeof *own; i++)
        if (strcmp(callback, callback_name(own[i])) == 0)
            return true;
    return false;
}

void connector_dead_letter_check_oldest(struct connector_process *g, const struct connector_exit *d)
{
    struct connector_task *const t = connector_writer_oldest_task(g);
    if (!t || t->settled || connector_dead_letter_is_own_callback(d->callback) ||
        !(d->callback || g->sup.hung || g->sup.broke) || ++t->deaths < POISON_DEATHS)
        return;
    connector_dead_letter_drop_task(g, t);
    connector_writer_drop_oldest(g);
}
