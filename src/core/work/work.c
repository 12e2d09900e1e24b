/* SPDX-License-Identifier: MIT
 * Owns the runs of this host's turns elsewhere, and where conversations are at home. */
#include "core/work/work.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/sys/clock.h"
#include "core/work/work_homes.h"
#include "core/work/work_internal.h"

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

/* ---- where a conversation is at home ---- */

struct work_place {
    LIST_ENTRY(work_place) next;
    struct work *work;
    bool has_slot;
    struct buf key;
    void (*done)(void *ctx, bool here);
    void *ctx;
    bool here;
    struct loop_timer *answer;
};

static void work_place_free(struct work_place *p)
{
    LIST_REMOVE(p, next);
    nats_client_forget(p->work->link->client, p);
    loop_timer_free(p->answer);
    buf_fini(&p->key);
    free(p);
}

static void work_place_on_answer(void *arg)
{
    struct work_place *const p = arg;
    void (*const done)(void *ctx, bool here) = p->done;
    void *const ctx = p->ctx;
    const bool here = p->here;
    work_place_free(p);
    done(ctx, here);
}

static void work_place_answer(struct work_place *p, bool here)
{
    p->here = here;
    loop_timer_set(p->answer, 0);
}

/* It is at home here from now on; should another host have become its home meanwhile, that stays.
 */
static void work_place_settle(struct work_place *p, uint64_t revision)
{
    CLEANUP_BUF struct buf value = {0};
    const struct bus_origin from = bus_link_next_origin(p->work->link);
    buf_add_char(&value, '{');
    bus_origin_write(&value, &from);
    buf_add_char(&value, '}');
    bus_kv_put(p->work->link, BUS_HOMES, p->key.p, (struct str){value.p, value.len}, revision, NULL,
               NULL);
}

static void work_place_on_home(void *ctx, enum nats_client_result result,
                               const struct nats_client_message *m)
{
    struct work_place *const p = ctx;
    struct bus_kv_entry entry;
    struct bus_origin home;
    bus_kv_read_entry(p->work->link, BUS_HOMES, result, m, &entry);
    const bool is_own = entry.result == BUS_KV_DONE && bus_origin_read(entry.value, &home) == 0 &&
                        strcmp(home.host, p->work->link->names.host) == 0;
    const bool takes = entry.result == BUS_KV_NONE && p->has_slot;
    if (takes && !p->work->is_aside)
        work_place_settle(p, entry.revision);
    work_place_answer(p, (is_own || takes) && !p->work->is_aside);
}

void work_find_place(struct work *w, const struct conf_agent *agent, const char *conversation,
                     bool has_slot, void (*done)(void *ctx, bool here), void *ctx)
{
    struct work_place *const p = xcalloc(1, sizeof *p);
    *p = (struct work_place){.work = w, .has_slot = has_slot, .done = done, .ctx = ctx};
    p->answer = loop_timer_new(w->link->loop, work_place_on_answer, p);
    work_home_key(&p->key, conf_agent_session_name(agent), conversation);
    LIST_INSERT_HEAD(&w->places, p, next);
    if (w->is_aside || !w->link->is_active)
        work_place_answer(p, !w->is_aside);
    else
        bus_kv_get(w->link, BUS_HOMES, p->key.p, work_place_on_home, p);
}

void work_forget_place(struct work *w, const void *ctx)
{
    struct work_place *p = LIST_FIRST(&w->places), *next;
    for (; p; p = next) {
        next = LIST_NEXT(p, next);
        if (p->ctx == ctx)
            work_place_free(p);
    }
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
}

static void work_on_looked(void *ctx)
{
    struct work *const w = ctx;
    struct work_run *r;
    LIST_FOREACH (r, &w->runs, next)
        work_run_look(r);
}

struct work *work_new(struct bus *b, const struct conf *conf)
{
    struct work *const w = xcalloc(1, sizeof *w);
    w->bus = b;
    w->link = bus_get_link(b);
    w->lost_after_ms = conf->bus.lost_after_ms;
    w->move_after_ms = conf->bus.move_after_ms;
    LIST_INIT(&w->runs);
    LIST_INIT(&w->places);
    LIST_INIT(&w->farewells);
    w->watcher = bus_watch(b, work_on_active, w);
    w->hosts = work_hosts_new(b, work_on_looked, w);
    return w;
}

void work_stop(struct work *w)
{
    struct work_run *r;
    struct work_place *p;
    struct work_farewell *f;
    if (!w || !w->bus)
        return;
    while ((r = LIST_FIRST(&w->runs)))
        work_run_stop(r);
    while ((p = LIST_FIRST(&w->places)))
        work_place_free(p);
    while ((f = LIST_FIRST(&w->farewells)))
        work_farewell_free(f);
    bus_watcher_free(w->watcher);
    work_homes_free(w->homes);
    w->homes = NULL;
    work_hosts_free(w->hosts);
    w->bus = NULL;
}

void work_free(struct work *w)
{
    work_stop(w);
    free(w);
}

struct work_counters work_get_counters(const struct work *w)
{
    return w->counters;
}
