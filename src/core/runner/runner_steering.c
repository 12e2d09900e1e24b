/* SPDX-License-Identifier: MIT
 * Messages of people for turns that this host runs for others, while these run. The gateway queues
 * them; this host writes them to the agent and reports whether the agent accepts them
 * (turncast_run.h). The agent may answer a message after the end of the turn. Such a message is
 * kept here until the gateway sends its turn to this host, and the agent's output waits meanwhile.
 * If that turn does not arrive, the agent is ended.
 *
 *   state     | what is known                                 | at the end of the turn
 *   ----------+-----------------------------------------------+---------------------------------
 *   WRITTEN   | the agent answers it in this turn or the next | kept, for the turn of the message
 *   PENDING   | the agent decides whether this turn has it    | removed: becomes a turn of its own
 *   WITHDRAWN | as WRITTEN or PENDING, but the person has     | the agent is ended
 *             | withdrawn it                                  |
 *   ACCEPTED  | it is part of the turn                        | removed
 *   REFUSED   | the agent does not have it                    | removed: becomes a turn of its own
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sys/clock.h"
#include "core/runner/runner_internal.h"
#include "dialect/turncast/turncast_run.h"

#define KEPT_MS 60000

struct runner_steered {
    LIST_ENTRY(runner_steered) next;
    char *id, *conversation;
    char run[WORK_ID]; /* the turn that runs, or has ended */
    struct buf text;
    enum runner_steered_state {
        STEERED_WRITTEN,
        STEERED_PENDING,
        STEERED_WITHDRAWN,
        STEERED_ACCEPTED,
        STEERED_REFUSED
    } state;
    int64_t until_ms; /* monotonic: deadline for the arrival of its turn; 0: the turn runs */
};

static void runner_steered_free(struct runner_steered *g)
{
    LIST_REMOVE(g, next);
    buf_fini(&g->text);
    free(g->id);
    free(g->conversation);
    free(g);
}

static struct runner_steered *runner_steered_find(const struct runner *r, const char *conversation,
                                                  const char *id)
{
    struct runner_steered *g;
    LIST_FOREACH (g, &r->steered, next)
        if (strcmp(g->id, id) == 0 && strcmp(g->conversation, conversation) == 0)
            return g;
    return NULL;
}

static bool runner_steered_is_open(const struct runner_steered *g)
{
    return g->state < STEERED_ACCEPTED;
}

/* ---- from the gateway ---- */

static enum runner_steered_state runner_steered_state_of(enum dialect_steer how)
{
    return how == DIALECT_WRITTEN ? STEERED_WRITTEN
           : how == DIALECT_ASKED ? STEERED_PENDING
                                  : STEERED_REFUSED;
}

/* Refuses if the agent's process ends with the turn: it could not answer the message afterwards. */
static enum runner_steered_state runner_steered_write(const struct runner_job *job,
                                                      const struct turncast_run_message *m)
{
    const struct runner *const r = job->runner;
    const struct conf_agent *const agent = conf_agent_find(r->conf, job->order.agent);
    if (!agent || !agent->keep_alive_ms)
        return STEERED_REFUSED;
    return runner_steered_state_of(
        turn_scheduler_steer_turn(r->turns, job->run, m->id, (struct str){m->text, m->len}));
}

/* The gateway repeats the request if it has not received the reply. */
bool runner_steered_add(struct runner_job *job, const struct turncast_run_message *m)
{
    struct runner *const r = job->runner;
    struct runner_steered *g = runner_steered_find(r, job->order.conversation, m->id);
    if (g)
        return g->state != STEERED_REFUSED;
    if (job->state != JOB_RUN)
        return false;
    g = xcalloc(1, sizeof *g);
    g->id = xstrdup(m->id);
    g->conversation = xstrdup(job->order.conversation);
    strcpy(g->run, job->run);
    buf_add(&g->text, m->text, m->len);
    g->state = runner_steered_write(job, m);
    LIST_INSERT_HEAD(&r->steered, g, next);
    return g->state != STEERED_REFUSED;
}

void runner_steered_withdraw(struct runner_job *job, const char *id)
{
    struct runner *const r = job->runner;
    struct runner_steered *const g = runner_steered_find(r, job->order.conversation, id);
    if (!g || !runner_steered_is_open(g))
        return;
    turn_scheduler_withdraw_from_turn(r->turns, job->run, id);
    g->state = STEERED_WITHDRAWN;
}

/* ---- from the agent ---- */

static void runner_steering_on_settled(void *ctx, const struct conversation *c, const char *id,
                                       enum dialect_settled how)
{
    struct runner *const r = ctx;
    struct runner_steered *const g = runner_steered_find(r, c->key, id);
    if (!g || !runner_steered_is_open(g))
        return;
    g->state = how == DIALECT_TAKEN ? STEERED_ACCEPTED : STEERED_REFUSED;
    turn_scheduler_emit_notice(
        r->turns, g->run, how == DIALECT_TAKEN ? TURNCAST_RUN_TAKEN : TURNCAST_RUN_REFUSED, id);
}

/* The gateway is not informed: at the end of the turn it treats the message as refused. */
static void runner_steering_on_lost(void *ctx, const struct conversation *c)
{
    const struct runner *const r = ctx;
    struct runner_steered *g;
    LIST_FOREACH (g, &r->steered, next)
        if (strcmp(g->conversation, c->key) == 0 && runner_steered_is_open(g))
            g->state = STEERED_REFUSED;
}

static bool runner_steering_waits(void *ctx, const char *conversation)
{
    const struct runner *const r = ctx;
    const struct runner_steered *g;
    LIST_FOREACH (g, &r->steered, next)
        if (strcmp(g->conversation, conversation) == 0 &&
            (g->state == STEERED_WRITTEN || g->state == STEERED_WITHDRAWN))
            return true;
    return false;
}

/* ---- between two turns ---- */

static bool runner_steering_on_begins(void *ctx, const char *route, char id[37])
{
    return runner_own_begin(ctx, route, id);
}

static void runner_steering_drop(struct runner *r, const char *conversation)
{
    struct runner_steered *g, *next;
    bool has_open = false;
    for (g = LIST_FIRST(&r->steered); g; g = next) {
        next = LIST_NEXT(g, next);
        if (strcmp(g->conversation, conversation) != 0)
            continue;
        has_open |= runner_steered_is_open(g);
        runner_steered_free(g);
    }
    if (has_open)
        turn_scheduler_end_process(r->turns, conversation,
                                   "its gateway did not send the turn of a message that it has");
}

void runner_steering_end_turn(struct runner_job *job)
{
    struct runner *const r = job->runner;
    struct runner_steered *g, *next;
    for (g = LIST_FIRST(&r->steered); g; g = next) {
        next = LIST_NEXT(g, next);
        if (strcmp(g->run, job->run) != 0)
            continue;
        if (g->state != STEERED_WRITTEN && g->state != STEERED_WITHDRAWN)
            runner_steered_free(g);
        else
            g->until_ms =
                clock_mono_ms() +
                (g->state == STEERED_WITHDRAWN || r->is_aside || r->is_draining ? 0 : KEPT_MS);
    }
    loop_timer_set(r->steering_timer, 0);
}

static void runner_steering_on_timer(void *arg)
{
    struct runner *const r = arg;
    const int64_t now = clock_mono_ms();
    int64_t due = INT64_MAX;
    struct runner_steered *g = LIST_FIRST(&r->steered);
    while (g) {
        if (g->until_ms && g->until_ms <= now) {
            char *const conversation = xstrdup(g->conversation);
            runner_steering_drop(r, conversation);
            free(conversation);
            g = LIST_FIRST(&r->steered);
            continue;
        }
        due = g->until_ms && g->until_ms < due ? g->until_ms : due;
        g = LIST_NEXT(g, next);
    }
    loop_timer_set(r->steering_timer, due == INT64_MAX ? -1 : due - now);
}

bool runner_steering_begin_turn(struct runner_job *job)
{
    struct runner *const r = job->runner;
    struct runner_steered *const own =
        runner_steered_find(r, job->order.conversation, job->signal.turn);
    const bool is_given = own && own->state == STEERED_WRITTEN &&
                          str_equal((struct str){own->text.p, own->text.len}, job->prompt);
    if (!is_given) {
        runner_steering_drop(r, job->order.conversation);
        return false;
    }
    runner_steered_free(own);
    struct runner_steered *g;
    LIST_FOREACH (g, &r->steered, next)
        if (strcmp(g->conversation, job->order.conversation) == 0) {
            strcpy(g->run, job->run);
            g->until_ms = 0;
        }
    return true;
}

/* ---- create and free ---- */

void runner_steering_begin(struct runner *r)
{
    LIST_INIT(&r->steered);
    r->steering_hooks =
        (struct conversation_guests){runner_steering_on_settled, runner_steering_on_lost,
                                     runner_steering_waits, runner_steering_on_begins, r};
    r->steering_timer = loop_timer_new(r->link->loop, runner_steering_on_timer, r);
}

void runner_steering_end(struct runner *r)
{
    struct runner_steered *g;
    while ((g = LIST_FIRST(&r->steered)))
        runner_steered_free(g);
    loop_timer_free(r->steering_timer);
    r->steering_timer = NULL;
}
