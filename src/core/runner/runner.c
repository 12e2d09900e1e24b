/* SPDX-License-Identifier: MIT
 * Owns the queues from which the host pulls turns, the count of slots, and the scheduler and stores
 * that these turns use. */
#include "core/runner/runner.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/invariant.h"
#include "core/runner/runner_internal.h"
#include "core/work/work_background.h"
#include "event/json/json_reader.h"

#define TICK_MS 250

/* ---- slots ---- */

size_t runner_free_slots(const struct runner *r, const struct conf_agent *agent)
{
    const struct runner_job *job;
    size_t used = turn_scheduler_count_agent(r->spec.own, agent->name);
    size_t all = turn_scheduler_count_running(r->spec.own);
    for (job = LIST_FIRST(&r->jobs); job; job = runner_job_next(job)) {
        used += runner_job_is_of_agent(job, agent->name);
        all++;
    }
    const size_t slots = (size_t)agent->runners.slots,
                 most = (size_t)r->conf->conversations.max_turns;
    if (r->is_draining || r->is_aside || used >= slots || all >= most)
        return 0;
    return slots - used < most - all ? slots - used : most - all;
}

bool runner_may_run(const struct runner *r, const struct conf_agent *agent)
{
    return agent->runners.hosts[0] && bus_stream_is_token(agent->name) &&
           conf_agent_runs_here(r->conf, agent);
}

static bool runner_has_room(void *ctx)
{
    const struct runner_queue *const q = ctx;
    const struct runner *const r = q->runner;
    for (size_t i = 0; i < r->conf->n_agents; i++) {
        const struct conf_agent *const agent = &r->conf->agents[i];
        if (runner_may_run(r, agent) && (!q->agent || strcmp(q->agent, agent->name) == 0) &&
            runner_free_slots(r, agent))
            return true;
    }
    return false;
}

void runner_pull_orders(struct runner *r)
{
    struct runner_queue *q;
    if (r->is_stopped)
        return;
    LIST_FOREACH (q, &r->queues, next)
        bus_queue_pull(q->queue);
    if (r->is_draining && r->drained && LIST_EMPTY(&r->jobs)) {
        void (*const drained)(void *ctx) = r->drained;
        r->drained = NULL;
        drained(r->drained_ctx);
    }
}

size_t runner_count(const struct runner *r)
{
    size_t n = 0;
    for (const struct runner_job *job = LIST_FIRST(&r->jobs); job; job = runner_job_next(job))
        n++;
    return n;
}

struct runner_counters runner_get_counters(const struct runner *r)
{
    return r->counters;
}

/* ---- queues ---- */

static void runner_on_item(void *ctx, const struct bus_queue_item *item)
{
    const struct runner_queue *const q = ctx;
    runner_job_begin(q->runner, item);
}

/* agent NULL: messages for this host. */
static void runner_add_queue(struct runner *r, const char *agent)
{
    struct runner_queue *const q = xcalloc(1, sizeof *q);
    CLEANUP_BUF struct buf subject = {0}, name = {0};
    const char *const whose = agent ? agent : r->link->names.host;
    q->runner = r;
    q->agent = xstrdup(agent);
    buf_printf(&name, "%s-%s", agent ? "any" : "host", whose);
    bus_stream_subject(&subject, &r->link->names, BUS_WORK, agent ? "any" : "host", whose);
    q->queue = bus_queue_new(&(struct bus_queue_spec){.link = r->link,
                                                      .name = name.p,
                                                      .subject = subject.p,
                                                      .has_room = runner_has_room,
                                                      .on_item = runner_on_item,
                                                      .ctx = q});
    LIST_INSERT_HEAD(&r->queues, q, next);
}

static void runner_open_queues(struct runner *r)
{
    bool has_any = false;
    for (size_t i = 0; i < r->conf->n_agents; i++) {
        const struct conf_agent *const agent = &r->conf->agents[i];
        if (!runner_may_run(r, agent))
            continue;
        has_any = true;
        runner_add_queue(r, agent->name);
    }
    if (has_any)
        runner_add_queue(r, NULL);
}

static void runner_close_queues(struct runner *r)
{
    struct runner_queue *q;
    while ((q = LIST_FIRST(&r->queues))) {
        LIST_REMOVE(q, next);
        bus_queue_free(q->queue);
        free(q->agent);
        free(q);
    }
}

static void runner_on_active(void *ctx)
{
    struct runner *const r = ctx;
    struct runner_queue *q;
    struct runner_job *job = LIST_FIRST(&r->jobs), *next;
    for (; job; job = next) {
        next = runner_job_next(job);
        runner_job_resume(job);
    }
    LIST_FOREACH (q, &r->queues, next)
        bus_queue_resume(q->queue);
}

/* ---- turns ---- */

static void runner_on_finished(void *ctx, const struct turnlog_turn *t)
{
    struct runner *const r = ctx;
    struct runner_job *const job = r->is_stopped ? NULL : runner_job_find(r, t->spec.id);
    if (job)
        runner_job_finish(job, t);
}

static void runner_on_fenced(void *ctx, const char *run)
{
    struct runner_job *const job = runner_job_find(ctx, run);
    if (job)
        runner_job_abort(job, "another publisher has taken its events over");
}

static void runner_on_line(void *ctx, struct bus_call *call, struct str body)
{
    const struct runner *const r = ctx;
    struct arena arena = {0};
    const struct str run = bus_message_text(body, "/run");
    struct runner_job *const job = runner_job_find(r, arena_strndup(&arena, run.p, run.len));
    bus_call_answer(call, job ? runner_job_handle_line(job, bus_message_value(body, "/line"))
                              : STR("{\"run\":false}"));
    arena_fini(&arena);
}

/* The gateway asks for it on behalf of a person. */
static void runner_on_background(void *ctx, struct bus_call *call, struct str body)
{
    const struct runner *const r = ctx;
    struct arena arena = {0};
    const char *const conversation =
        json_reader_unescape(&arena, bus_message_text(body, "/conversation"), NULL);
    const bool ended =
        !r->is_stopped && conversation && turn_scheduler_stop_background(r->turns, conversation);
    bus_call_answer(call, ended ? STR("{\"ended\":true}") : STR("{\"ended\":false}"));
    arena_fini(&arena);
}

/* ---- loss of the bus ---- */

static void runner_on_tick(void *ctx)
{
    struct runner *const r = ctx;
    loop_timer_set(r->tick, r->conf->bus.on_loss == CONF_LOSS_KILL ? TICK_MS : -1);
    if (r->conf->bus.on_loss != CONF_LOSS_KILL ||
        !bus_link_is_lost(r->link, r->conf->bus.lost_after_ms))
        return;
    for (struct runner_job *job = LIST_FIRST(&r->jobs); job; job = runner_job_next(job))
        runner_job_cut_off(job);
}

/* ---- create and free ---- */

static void runner_make_parts(struct runner *r)
{
    struct turn_scheduler_spec parts = r->spec.parts;
    r->turnlog = turnlog_new(parts.loop, NULL);
    r->dispatch = dispatch_new_mute(
        r->conf, &(struct connector_services){.loop = parts.loop, .turnlog = r->turnlog});
    r->requests = request_registry_new(
        &(struct request_registry_spec){.loop = parts.loop, .journal = parts.journal});
    parts.dispatch = r->dispatch;
    parts.turnlog = r->turnlog;
    parts.requests = r->requests;
    parts.history = NULL;
    parts.usage = NULL;
    parts.budgets = NULL;
    parts.work = NULL;
    parts.guests = &r->steering_hooks;
    r->turns = turn_scheduler_new(&parts);
    r->finished = turnlog_watch_finished(r->turnlog, runner_on_finished, r);
}

struct runner *runner_new(const struct runner_spec *spec)
{
    struct runner *const r = xcalloc(1, sizeof *r);
    r->spec = *spec;
    r->conf = conf_ref(spec->parts.conf);
    r->link = bus_get_link(spec->bus);
    LIST_INIT(&r->queues);
    LIST_INIT(&r->jobs);
    runner_steering_begin(r);
    runner_make_parts(r);
    r->tick = loop_timer_new(r->link->loop, runner_on_tick, r);
    loop_timer_set(r->tick, 0);
    bus_share_runs(spec->bus, r->turnlog, runner_on_fenced, r);
    bus_serve(spec->bus, "run", runner_on_line, r);
    bus_serve(spec->bus, WORK_BACKGROUND_VERB, runner_on_background, r);
    runner_open_queues(r);
    r->watcher = bus_watch(spec->bus, runner_on_active, r);
    return r;
}

void runner_set_conf(struct runner *r, const struct conf *conf)
{
    struct runner_queue *q;
    const struct conf *const before = r->conf;
    r->conf = conf_ref(conf);
    loop_timer_set(r->tick, 0);
    turn_scheduler_set_conf(r->turns, conf);
    runner_close_queues(r);
    if (!r->is_draining)
        runner_open_queues(r);
    if (r->link->is_active)
        LIST_FOREACH (q, &r->queues, next)
            bus_queue_resume(q->queue);
    conf_unref(before);
}

static void runner_on_drained(void *ctx)
{
    runner_pull_orders(ctx);
}

void runner_drain(struct runner *r, void (*drained)(void *ctx), void *ctx)
{
    if (!r->is_draining) {
        r->drained = drained;
        r->drained_ctx = ctx;
    }
    r->is_draining = true;
    turn_scheduler_drain(r->turns, runner_on_drained, r);
}

void runner_set_aside(struct runner *r, bool is_aside)
{
    r->is_aside = is_aside;
    runner_pull_orders(r);
}

void runner_stop(struct runner *r)
{
    struct runner_job *job;
    if (!r || r->is_stopped)
        return;
    r->is_stopped = true;
    runner_close_queues(r);
    while ((job = LIST_FIRST(&r->jobs)))
        runner_job_stop(job);
    runner_steering_end(r);
    bus_watcher_free(r->watcher);
    loop_timer_free(r->tick);
}

void runner_free(struct runner *r)
{
    if (!r)
        return;
    runner_stop(r);
    turn_scheduler_free(r->turns);
    turnlog_watcher_free(r->finished);
    request_registry_free(r->requests);
    dispatch_free(r->dispatch, 0);
    turnlog_free(r->turnlog);
    conf_unref(r->conf);
    free(r);
}
