/* SPDX-License-Identifier: MIT
 * Turns that agents begin by themselves in conversations whose gateway is another host. Such a turn
 * runs at once, because the agent works already. Meanwhile it is stored on the servers like a turn
 * that a gateway has sent: first the claim of this host, then the order. A gateway that finds both
 * continues it like any turn that another host runs: the leader of the instance if the source is
 * shared (core/host/adoption.h), otherwise the gateway of the turn before, for which the order is
 * stored a second time, in a list of that host (core/host/begun_turns.h). Nothing is lost without a
 * connection: everything is stored when it is back.
 *
 * The route of each turn on this host is the order of the last message without its text. So the
 * agent's process, while it waits, has what the turn that it begins needs. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/sys/clock.h"
#include "base/sys/uuid.h"
#include "core/runner/runner_internal.h"

#define RETRY_MS 1000

struct runner_own {
    struct runner_job *job;
    bool is_claimed, awaits_claim;
    bool is_over;  /* the outcome is stored */
    unsigned open; /* messages that are not stored yet */
    struct work_outcome *order, *mail;
};

void runner_own_write_route(struct buf *out, const struct runner_job *job)
{
    const struct bus_origin from = bus_link_next_origin(job->runner->link);
    struct work_order o = job->order;
    o.gateway = job->signal.gateway;
    o.user = o.session = o.message = o.also = o.files = NULL;
    o.prompt = STR("");
    work_order_write(out, &from, &o);
}

/* ---- its record on the servers ---- */

static void runner_own_on_stored(struct runner_own *own)
{
    own->open--;
    if (!own->open && own->is_over)
        runner_job_end(own->job);
}

static void runner_own_on_mail_stored(void *ctx, bool is_own, struct str body)
{
    struct runner_own *const own = ctx;
    (void)is_own, (void)body;
    work_outcome_free(own->mail);
    own->mail = NULL;
    runner_own_on_stored(own);
}

/* What is stored as `kind` of that source; `done` frees it. */
static struct work_outcome *runner_own_store(struct runner_own *own, const char *kind,
                                             const char *source, work_outcome_done *done)
{
    const struct runner_job *const job = own->job;
    struct bus_link *const link = job->runner->link;
    CLEANUP_BUF struct buf body = {0};
    const struct bus_origin from = bus_link_next_origin(link);
    work_order_write(&body, &from, &job->order);
    return work_outcome_store_as(link, kind, source, job->order.turn, &from,
                                 (struct str){body.p, body.len}, done, own);
}

static void runner_own_on_order_stored(void *ctx, bool is_own, struct str body)
{
    struct runner_own *const own = ctx;
    const struct work_order *const o = &own->job->order;
    (void)is_own, (void)body;
    work_outcome_free(own->order);
    own->order = NULL;
    if (!o->shared)
        own->mail = runner_own_store(own, "own", o->gateway, runner_own_on_mail_stored);
    runner_own_on_stored(own);
}

/* The id of the turn is new, so another claim cannot exist. */
static void runner_own_on_claimed(void *ctx, enum nats_client_result result,
                                  const struct nats_client_message *m)
{
    struct runner_job *const job = ctx;
    struct bus_kv_entry entry;
    job->own->awaits_claim = false;
    bus_kv_read_written(result, m, &entry);
    if (entry.result != BUS_KV_DONE && entry.result != BUS_KV_CONFLICT) {
        loop_timer_set(job->timer, RETRY_MS);
        return;
    }
    job->own->is_claimed = true;
    job->own->order =
        runner_own_store(job->own, "new", job->order.source, runner_own_on_order_stored);
}

void runner_own_go_on(struct runner_job *job)
{
    struct runner_own *const own = job->own;
    if (own->is_claimed || own->awaits_claim || !job->runner->link->is_active)
        return;
    own->awaits_claim = true;
    runner_job_write_claim(job, runner_own_on_claimed);
}

void runner_own_resume(struct runner_job *job)
{
    if (job->own->order)
        work_outcome_resume(job->own->order);
    if (job->own->mail)
        work_outcome_resume(job->own->mail);
}

bool runner_own_is_stored(struct runner_job *job)
{
    job->own->is_over = true;
    return !job->own->open;
}

void runner_own_free(struct runner_own *own)
{
    if (!own)
        return;
    work_outcome_free(own->order);
    work_outcome_free(own->mail);
    free(own);
}

/* ---- its beginning ---- */

static void runner_own_fill(struct runner_job *job, const char *turn)
{
    struct work_order *const o = &job->order;
    job->signal = (struct work_signal){
        .turn = turn, .agent = o->agent, .source = o->source, .gateway = o->gateway};
    o->turn = turn;
    o->follows = "yes";
    o->gateway = o->shared ? WORK_SHARE_NOBODY : o->gateway;
    o->admitted_ms = (int64_t)(clock_wall_s() * 1000);
}

/* False: the process is of no turn of another host. */
bool runner_own_begin(struct runner *r, const char *route, char id[WORK_ID])
{
    char turn[WORK_ID];
    struct arena arena = {0};
    struct work_order order;
    uuid_make(turn);
    if (r->is_stopped || !route ||
        work_order_read((struct str){route, strlen(route)}, &arena, &order) < 0 ||
        !work_run_id(turn, id)) {
        arena_fini(&arena);
        return false;
    }
    struct runner_job *const job = runner_job_new(r);
    job->arena = arena;
    job->order = order;
    job->own = xcalloc(1, sizeof *job->own);
    job->own->job = job;
    job->own->open = order.shared ? 1 : 2;
    job->state = JOB_RUN;
    strcpy(job->run, id);
    runner_own_fill(job, arena_strdup(&job->arena, turn));
    loop_timer_set(job->timer, 0);
    return true;
}
