/* SPDX-License-Identifier: MIT
 * Scheduling of turns that other hosts run. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sys/clock.h"
#include "base/sys/uuid.h"
#include "core/conversation/turn_scheduler_internal.h"
#include "core/turnlog/turnlog.h"
#include "core/work/work_background.h"

size_t conversations_count_away(const struct turn_scheduler *cs)
{
    size_t n = 0;
    const struct conversation *c;
    LIST_FOREACH (c, &cs->list, next)
        n += c->job && turn_job_is_away(c->job);
    return n;
}

size_t turn_scheduler_count_here(const struct turn_scheduler *cs)
{
    return cs->running - conversations_count_away(cs);
}

size_t turn_scheduler_count_agent(const struct turn_scheduler *cs, const char *agent)
{
    size_t n = 0;
    const struct conversation *c;
    LIST_FOREACH (c, &cs->list, next)
        n += c->job && !turn_job_is_away(c->job) && strcmp(c->agent->name, agent) == 0;
    return n;
}

bool conversations_is_held(const struct turn_scheduler *cs, const struct conversation *c)
{
    return cs->is_aside && !(cs->spec.work && conf_agent_is_shared(cs->spec.conf, c->agent));
}

void turn_scheduler_set_aside(struct turn_scheduler *cs, bool is_aside)
{
    cs->is_aside = is_aside;
    conversations_pump(cs);
}

void turn_scheduler_cut_off_turn(struct turn_scheduler *cs, const char *turn)
{
    struct conversation *c;
    LIST_FOREACH (c, &cs->list, next)
        if (c->job && strcmp(turn_job_id(c->job), turn) == 0)
            turn_job_cut_off(c->job);
}

/* ---- messages of another host ---- */

static struct turn_job *turn_scheduler_find_job(const struct turn_scheduler *cs, const char *turn)
{
    const struct conversation *const c = turn_scheduler_find_turn(cs, turn);
    return c && c->job && strcmp(turn_job_id(c->job), turn) == 0 ? c->job : NULL;
}

enum dialect_steer turn_scheduler_steer_turn(struct turn_scheduler *cs, const char *turn,
                                             const char *id, struct str text)
{
    struct turn_job *const job = turn_scheduler_find_job(cs, turn);
    return job ? turn_job_steer(job, id, NULL, text) : DIALECT_REFUSED;
}

bool turn_scheduler_withdraw_from_turn(struct turn_scheduler *cs, const char *turn, const char *id)
{
    return turn_job_withdraw(turn_scheduler_find_job(cs, turn), id);
}

void turn_scheduler_emit_notice(struct turn_scheduler *cs, const char *turn, const char *code,
                                const char *text)
{
    struct turn_job *const job = turn_scheduler_find_job(cs, turn);
    if (job)
        turn_job_emit_notice(job, code, text);
}

void turn_scheduler_stop_elsewhere(struct turn_scheduler *cs, const char *key,
                                   const struct conf_agent *agent,
                                   void (*done)(void *ctx, bool ended), void *ctx)
{
    if (cs->spec.work && conf_agent_is_shared(cs->spec.conf, agent))
        work_background_end(cs->spec.work, conf_agent_session_name(agent), key, done, ctx);
    else
        done(ctx, false);
}

/* ---- results that came too late ---- */

#define LATE_MAX 100

struct late_notice {
    TAILQ_ENTRY(late_notice) next;
    char *conversation, *host;
};

static void late_notice_free(struct turn_scheduler *cs, struct late_notice *l)
{
    TAILQ_REMOVE(&cs->late, l, next);
    cs->n_late--;
    free(l->conversation);
    free(l->host);
    free(l);
}

static void late_notice_add(struct turn_scheduler *cs, const struct work_late *late)
{
    struct late_notice *const l = xcalloc(1, sizeof *l);
    l->conversation = xstrdup(late->conversation);
    l->host = xstrdup(late->host);
    TAILQ_INSERT_TAIL(&cs->late, l, next);
    if (++cs->n_late > LATE_MAX)
        late_notice_free(cs, TAILQ_FIRST(&cs->late));
}

/* The turn is over, and nothing follows its end: people are told in the turn of the conversation
 * that runs, or in the next one. */
static void turn_scheduler_on_late(void *ctx, const struct work_late *late)
{
    struct turn_scheduler *const cs = ctx;
    struct conversation *c;
    turnlog_set_late_result(cs->spec.turnlog, late->turn, late->text);
    LIST_FOREACH (c, &cs->list, next)
        if (c->job && strcmp(c->key, late->conversation) == 0 &&
            turn_job_emit_late_notice(c->job, late->host))
            return;
    late_notice_add(cs, late);
}

char *conversations_take_late_host(struct turn_scheduler *cs, const char *key)
{
    struct late_notice *l;
    TAILQ_FOREACH(l, &cs->late, next)
    if (strcmp(l->conversation, key) == 0) {
        char *const host = l->host;
        l->host = NULL;
        late_notice_free(cs, l);
        return host;
    }
    return NULL;
}

void conversations_free_late(struct turn_scheduler *cs)
{
    struct late_notice *l;
    while ((l = TAILQ_FIRST(&cs->late)))
        late_notice_free(cs, l);
}

void turn_scheduler_set_work(struct turn_scheduler *cs, struct work *work)
{
    cs->spec.work = work;
    if (work)
        work_watch_late(work, turn_scheduler_on_late, cs);
}

void turn_scheduler_detach_remote(struct turn_scheduler *cs)
{
    struct conversation *c;
    LIST_FOREACH (c, &cs->list, next)
        if (c->job && turn_job_is_away(c->job)) {
            turn_job_free(c->job);
            c->job = NULL;
        }
}

void conversations_make_id(const struct turn_scheduler *cs, const struct turn_scheduler_message *m,
                           char id[37])
{
    if (m->id && work_share_has(cs->spec.work, m->source))
        work_turn_id(m->source, m->id, id);
    else
        uuid_make(id);
}

void conversations_share(const struct turn_scheduler *cs, const struct turn_scheduler_message *m,
                         const char *id)
{
    if (work_share_has(cs->spec.work, m->source))
        work_share_admit(cs->spec.work,
                         &(struct work_order){.turn = id,
                                              .agent = m->agent->name,
                                              .conversation = m->key,
                                              .source = m->source,
                                              .route = m->route,
                                              .owner = m->owner,
                                              .instances = m->instances,
                                              .user = m->user,
                                              .message = m->id,
                                              .also = m->also,
                                              .prompt = m->prompt,
                                              .admitted_ms = (int64_t)(clock_wall_s() * 1000)});
}
