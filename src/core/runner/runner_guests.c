/* SPDX-License-Identifier: MIT
 * Messages for turns that this host runs for others, while these run. The gateway has them queued;
 * this host gives them to the agent and tells their fate (turncast_run.h). One that the agent has
 * at the end of the turn, and answers next, is kept here until the gateway gives its turn to this
 * host; the agent's output waits meanwhile. If that turn does not come, the agent is ended.
 *
 *   state    | what is known                            | at the end of the turn
 *   ---------+------------------------------------------+-----------------------------------------
 *   WRITTEN  | the agent has it: for this turn or next  | kept, for the turn of the message
 *   ASKED    | the agent has it: for this turn or not   | forgotten: it gets a turn of its own
 *   UNWANTED | the same, and it was withdrawn           | the agent is ended
 *   TAKEN    | it is part of the turn                   | forgotten
 *   REFUSED  | the agent does not have it               | forgotten: it gets a turn of its own
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sys/clock.h"
#include "core/runner/runner_internal.h"
#include "dialect/turncast/turncast_run.h"

#define KEPT_MS 60000

struct runner_guest {
    LIST_ENTRY(runner_guest) next;
    char *id, *conversation;
    char run[WORK_ID]; /* the turn that runs, or has ended */
    struct buf text;
    enum runner_guest_state {
        GUEST_WRITTEN,
        GUEST_ASKED,
        GUEST_UNWANTED,
        GUEST_TAKEN,
        GUEST_REFUSED
    } state;
    int64_t until_ms; /* monotonic: its turn is not awaited any longer; 0: its turn runs */
};

static void runner_guest_free(struct runner_guest *g)
{
    LIST_REMOVE(g, next);
    buf_fini(&g->text);
    free(g->id);
    free(g->conversation);
    free(g);
}

static struct runner_guest *runner_guest_find(const struct runner *r, const char *conversation,
                                              const char *id)
{
    struct runner_guest *g;
    LIST_FOREACH (g, &r->guests, next)
        if (strcmp(g->id, id) == 0 && strcmp(g->conversation, conversation) == 0)
            return g;
    return NULL;
}

static bool runner_guest_is_open(const struct runner_guest *g)
{
    return g->state < GUEST_TAKEN;
}

/* ---- from the gateway ---- */

static enum runner_guest_state runner_guest_state_of(enum dialect_steer how)
{
    return how == DIALECT_WRITTEN ? GUEST_WRITTEN
           : how == DIALECT_ASKED ? GUEST_ASKED
                                  : GUEST_REFUSED;
}

/* An agent whose process does not stay could not answer it next. */
static enum runner_guest_state runner_guest_steer(const struct runner_job *job,
                                                  const struct turncast_run_message *m)
{
    const struct runner *const r = job->runner;
    const struct conf_agent *const agent = conf_agent_find(r->conf, job->order.agent);
    if (!agent || !agent->keep_alive_ms)
        return GUEST_REFUSED;
    return runner_guest_state_of(
        turn_scheduler_steer_turn(r->turns, job->run, m->id, (struct str){m->text, m->len}));
}

/* The gateway asks again if it has not received the answer. */
bool runner_guest_give(struct runner_job *job, const struct turncast_run_message *m)
{
    struct runner *const r = job->runner;
    struct runner_guest *g = runner_guest_find(r, job->order.conversation, m->id);
    if (g)
        return g->state != GUEST_REFUSED;
    if (job->state != JOB_RUN)
        return false;
    g = xcalloc(1, sizeof *g);
    g->id = xstrdup(m->id);
    g->conversation = xstrdup(job->order.conversation);
    strcpy(g->run, job->run);
    buf_add(&g->text, m->text, m->len);
    g->state = runner_guest_steer(job, m);
    LIST_INSERT_HEAD(&r->guests, g, next);
    return g->state != GUEST_REFUSED;
}

void runner_guest_withdraw(struct runner_job *job, const char *id)
{
    struct runner *const r = job->runner;
    struct runner_guest *const g = runner_guest_find(r, job->order.conversation, id);
    if (!g || !runner_guest_is_open(g))
        return;
    turn_scheduler_withdraw_from_turn(r->turns, job->run, id);
    g->state = GUEST_UNWANTED;
}

/* ---- from the agent ---- */

static void runner_guests_on_settled(void *ctx, const struct conversation *c, const char *id,
                                     enum dialect_settled how)
{
    struct runner *const r = ctx;
    struct runner_guest *const g = runner_guest_find(r, c->key, id);
    if (!g || !runner_guest_is_open(g))
        return;
    g->state = how == DIALECT_TAKEN ? GUEST_TAKEN : GUEST_REFUSED;
    turn_scheduler_tell_turn(r->turns, g->run,
                             how == DIALECT_TAKEN ? TURNCAST_RUN_TAKEN : TURNCAST_RUN_REFUSED, id);
}

/* The gateway learns that at the end of the turn. */
static void runner_guests_on_lost(void *ctx, const struct conversation *c)
{
    const struct runner *const r = ctx;
    struct runner_guest *g;
    LIST_FOREACH (g, &r->guests, next)
        if (strcmp(g->conversation, c->key) == 0 && runner_guest_is_open(g))
            g->state = GUEST_REFUSED;
}

static bool runner_guests_waits(void *ctx, const char *conversation)
{
    const struct runner *const r = ctx;
    const struct runner_guest *g;
    LIST_FOREACH (g, &r->guests, next)
        if (strcmp(g->conversation, conversation) == 0 &&
            (g->state == GUEST_WRITTEN || g->state == GUEST_UNWANTED))
            return true;
    return false;
}

/* ---- between two turns ---- */

static void runner_guests_drop(struct runner *r, const char *conversation)
{
    struct runner_guest *g, *next;
    bool has_open = false;
    for (g = LIST_FIRST(&r->guests); g; g = next) {
        next = LIST_NEXT(g, next);
        if (strcmp(g->conversation, conversation) != 0)
            continue;
        has_open |= runner_guest_is_open(g);
        runner_guest_free(g);
    }
    if (has_open)
        turn_scheduler_end_process(r->turns, conversation,
                                   "it has a message that its gateway does not ask for");
}

void runner_guests_end_turn(struct runner_job *job)
{
    struct runner *const r = job->runner;
    struct runner_guest *g, *next;
    for (g = LIST_FIRST(&r->guests); g; g = next) {
        next = LIST_NEXT(g, next);
        if (strcmp(g->run, job->run) != 0)
            continue;
        if (g->state != GUEST_WRITTEN && g->state != GUEST_UNWANTED)
            runner_guest_free(g);
        else
            g->until_ms =
                clock_mono_ms() +
                (g->state == GUEST_UNWANTED || r->is_aside || r->is_draining ? 0 : KEPT_MS);
    }
    loop_timer_set(r->guests_timer, 0);
}

static void runner_guests_on_timer(void *arg)
{
    struct runner *const r = arg;
    const int64_t now = clock_mono_ms();
    int64_t due = INT64_MAX;
    struct runner_guest *g = LIST_FIRST(&r->guests);
    while (g) {
        if (g->until_ms && g->until_ms <= now) {
            char *const conversation = xstrdup(g->conversation);
            runner_guests_drop(r, conversation);
            free(conversation);
            g = LIST_FIRST(&r->guests);
            continue;
        }
        due = g->until_ms && g->until_ms < due ? g->until_ms : due;
        g = LIST_NEXT(g, next);
    }
    loop_timer_set(r->guests_timer, due == INT64_MAX ? -1 : due - now);
}

bool runner_guests_begin_turn(struct runner_job *job)
{
    struct runner *const r = job->runner;
    struct runner_guest *const own =
        runner_guest_find(r, job->order.conversation, job->signal.turn);
    const bool is_given = own && own->state == GUEST_WRITTEN &&
                          str_equal((struct str){own->text.p, own->text.len}, job->prompt);
    if (!is_given) {
        runner_guests_drop(r, job->order.conversation);
        return false;
    }
    runner_guest_free(own);
    struct runner_guest *g;
    LIST_FOREACH (g, &r->guests, next)
        if (strcmp(g->conversation, job->order.conversation) == 0) {
            strcpy(g->run, job->run);
            g->until_ms = 0;
        }
    return true;
}

/* ---- create and free ---- */

void runner_guests_begin(struct runner *r)
{
    LIST_INIT(&r->guests);
    r->guests_hooks = (struct conversation_guests){runner_guests_on_settled, runner_guests_on_lost,
                                                   runner_guests_waits, r};
    r->guests_timer = loop_timer_new(r->link->loop, runner_guests_on_timer, r);
}

void runner_guests_end(struct runner *r)
{
    struct runner_guest *g;
    while ((g = LIST_FIRST(&r->guests)))
        runner_guest_free(g);
    loop_timer_free(r->guests_timer);
    r->guests_timer = NULL;
}
