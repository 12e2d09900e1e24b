/* SPDX-License-Identifier: MIT
 * Owns the runs of this host's turns elsewhere, and takes what hosts have to say of them too late.
 */
#include "core/work/work.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/sys/clock.h"
#include "core/work/work_homes.h"
#include "core/work/work_internal.h"
#include "event/json/json_reader.h"

/* ---- outcomes of runs that were freed ---- */

struct work_farewell {
    LIST_ENTRY(work_farewell) next;
    struct work_outcome *outcome;
};

static void work_farewell_free(struct work_farewell *f)
{
    LIST_REMOVE(f, next);
    work_outcome_free(f->outcome);
    free(f);
}

static void work_farewell_on_done(void *ctx, bool is_own, struct str body)
{
    (void)is_own;
    (void)body;
    work_farewell_free(ctx);
}

void work_store_farewell(struct work *w, const struct work_order *o, const char *code,
                         const char *text)
{
    CLEANUP_BUF struct buf body = {0};
    const struct bus_origin from = bus_link_next_origin(w->link);
    struct work_farewell *const f = xcalloc(1, sizeof *f);
    work_outcome_write_error(&body, &from, o->turn, clock_wall_s(), code, text);
    LIST_INSERT_HEAD(&w->farewells, f, next);
    f->outcome = work_outcome_store(w->link, o->source, o->turn, &from,
                                    (struct str){body.p, body.len}, work_farewell_on_done, f);
}

/* ---- results that come too late ---- */

void work_watch_late(struct work *w, void (*late)(void *ctx, const struct work_late *late),
                     void *ctx)
{
    w->late.on_outcome = late;
    w->late.ctx = ctx;
}

static const char *work_late_text(struct str body, struct arena *a, const char *pointer)
{
    return json_reader_unescape(a, bus_message_text(body, pointer), NULL);
}

static void work_on_late(void *ctx, struct bus_call *call, struct str body)
{
    const struct work *const w = ctx;
    struct arena arena = {0};
    const struct work_late late = {.turn = work_late_text(body, &arena, "/turn"),
                                   .conversation = work_late_text(body, &arena, "/conversation"),
                                   .host = work_late_text(body, &arena, "/host"),
                                   .text = work_late_text(body, &arena, "/text")};
    if (w->bus && w->late.on_outcome && late.turn && late.conversation && late.host && late.text)
        w->late.on_outcome(w->late.ctx, &late);
    bus_call_answer(call, STR("{}"));
    arena_fini(&arena);
}

void work_set_aside(struct work *w, bool is_aside)
{
    w->is_aside = is_aside;
    work_homes_free(w->homes);
    w->homes = is_aside ? work_homes_release(w->link) : NULL;
}

/* ---- its life ---- */

static void work_on_active(void *ctx)
{
    struct work *const w = ctx;
    struct work_run *r;
    struct work_farewell *f;
    LIST_FOREACH (f, &w->farewells, next)
        work_outcome_resume(f->outcome);
    if (w->homes)
        work_homes_resume(w->homes);
    LIST_FOREACH (r, &w->runs, next)
        work_run_resume(r);
    work_share_resume(w);
}

static void work_on_looked(void *ctx)
{
    struct work *const w = ctx;
    struct work_run *r;
    LIST_FOREACH (r, &w->runs, next)
        work_run_look(r);
}

struct work *work_new(struct bus *b, struct work_hosts *hosts, const struct conf *conf,
                      struct journal_async *journal)
{
    struct work *const w = xcalloc(1, sizeof *w);
    w->bus = b;
    w->link = bus_get_link(b);
    w->lost_after_ms = conf->bus.lost_after_ms;
    w->move_after_ms = conf->bus.move_after_ms;
    w->has_shared_sessions = conf->sessions_shared != NULL;
    w->is_strict = conf->bus.on_loss == CONF_LOSS_KILL;
    w->journal = journal;
    w->instances = xasprintf("%s/instances", conf->state_dir);
    bus_serve(b, "late", work_on_late, w);
    work_files_serve(w);
    LIST_INIT(&w->runs);
    LIST_INIT(&w->places);
    LIST_INIT(&w->farewells);
    w->watcher = bus_watch(b, work_on_active, w);
    w->hosts = hosts;
    w->listener = work_hosts_listen(hosts, work_on_looked, w);
    return w;
}

void work_stop(struct work *w)
{
    struct work_run *r;
    struct work_farewell *f;
    if (!w || !w->bus)
        return;
    while ((r = LIST_FIRST(&w->runs)))
        work_run_stop(r);
    work_place_stop(w);
    while ((f = LIST_FIRST(&w->farewells)))
        work_farewell_free(f);
    work_share_close(w);
    bus_watcher_free(w->watcher);
    work_homes_free(w->homes);
    w->homes = NULL;
    work_hosts_listener_free(w->listener);
    w->bus = NULL;
}

void work_free(struct work *w)
{
    if (!w)
        return;
    work_stop(w);
    free(w->share);
    free(w->instances);
    free(w);
}

int64_t work_host_absent_ms(const struct work *w, const char *host)
{
    return work_hosts_absent_ms(w->hosts, host);
}

struct work_counters work_get_counters(const struct work *w)
{
    return w->counters;
}
