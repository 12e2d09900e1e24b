/* SPDX-License-Identifier: MIT
 * Owns the list of guests, and decides which turns of other hosts are shown. The host of a turn
 * decides which instances receive the turn, and publishes their names with its state. */
#include "core/host/guest_turns.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/invariant.h"
#include "conf/conf_scope.h"
#include "core/host/guest_internal.h"

#define LOOK_MS 1000

static struct guest_turn *guest_turns_find(const struct guest_turns *g, const char *instance,
                                           const char *turn)
{
    struct guest_turn *t;
    LIST_FOREACH (t, &g->turns, next)
        if (!t->is_over && strcmp(t->id, turn) == 0 && strcmp(t->instance, instance) == 0)
            return t;
    return NULL;
}

/* ---- which turns ---- */

static bool guest_turns_leads(const struct guest_turns *g, const char *instance)
{
    return instance_leaders_leads(g->spec.leaders, instance) &&
           !dispatch_stands_by(g->spec.dispatch, instance);
}

static bool guest_turns_has_host(const struct guest_turns *g, const char *host)
{
    return work_hosts_absent_ms(g->spec.hosts, host) == 0;
}

struct guest_look {
    struct guest_turns *all;
    const struct turnlog_turn *turn;
};

static void guest_turns_look_at(void *ctx, const char *instance)
{
    const struct guest_look *const l = ctx;
    const struct turnlog_turn *const t = l->turn;
    const bool is_whole = conf_scope_has_names(t->spec.led, instance);
    if (!guest_turns_leads(l->all, instance) || guest_turns_find(l->all, instance, t->spec.id))
        return;
    if (is_whole || dispatch_request_names(t->requests, instance))
        guest_turn_new(l->all, t, instance, !is_whole);
}

static bool guest_turns_look(void *ctx, const struct turnlog_turn *t)
{
    struct guest_turns *const g = ctx;
    struct guest_look l = {.all = g, .turn = t};
    if (t->spec.host && t->state == TURNLOG_RUNNING && bus_stream_is_token(t->spec.id) &&
        (t->spec.led || t->requests) && guest_turns_has_host(g, t->spec.host))
        dispatch_each_led(g->spec.dispatch, guest_turns_look_at, &l);
    return true;
}

static void guest_turns_on_changed(void *ctx, const struct turnlog_turn *t)
{
    struct guest_turns *const g = ctx;
    if (g->link->is_active && !g->is_retired)
        guest_turns_look(g, t);
}

/* Those that this host shows no more. */
static void guest_turns_check(struct guest_turns *g)
{
    struct guest_turn *t, *next;
    for (t = LIST_FIRST(&g->turns); t; t = next) {
        next = LIST_NEXT(t, next);
        if (t->is_over)
            continue;
        if (!guest_turns_leads(g, t->instance) || !guest_turns_has_host(g, t->host) ||
            (t->reader && (!t->turn || !dispatch_has_guest(t->turn))))
            guest_turn_end(t, true);
    }
}

static void guest_turns_on_timer(void *arg)
{
    struct guest_turns *const g = arg;
    loop_timer_set(g->timer, LOOK_MS);
    guest_turns_check(g);
    guest_memory_retry(g);
    if (g->link->is_active && !g->is_retired)
        turnlog_each_turn(g->spec.turnlog, guest_turns_look, g);
}

/* Messages may have been missed. */
static void guest_turns_on_active(void *ctx)
{
    struct guest_turns *const g = ctx;
    struct guest_turn *t;
    LIST_FOREACH (t, &g->turns, next)
        if (t->reader)
            bus_reader_repair(t->reader);
}

/* ---- for the parts of the host ---- */

void guest_turns_remember(struct guest_turns *g, const char *instance, const char *turn,
                          const char *text)
{
    const struct turnlog_turn *const t = g ? turnlog_find_turn(g->spec.turnlog, turn) : NULL;
    if (!t || !t->spec.host || g->is_stopped)
        return;
    struct guest_turn *const shown = guest_turns_find(g, instance, turn);
    if (shown) {
        free(shown->memory);
        shown->memory = xstrdup(text);
    }
    guest_memory_put(g, instance, turn, text);
}

const char *guest_turns_memory(const struct guest_turns *g, const char *instance, const char *turn)
{
    const struct guest_turn *const t = g ? guest_turns_find(g, instance, turn) : NULL;
    return t && t->turn ? t->memory : NULL;
}

bool guest_turns_end(struct guest_turns *g, const char *instance, const char *turn, struct str line)
{
    struct guest_turn *const t = g ? guest_turns_find(g, instance, turn) : NULL;
    if (!t)
        return false;
    if (guest_turn_set_outcome(t, line))
        return true;
    guest_turn_end(t, true);
    return false;
}

void guest_turns_end_without_outcome(struct guest_turns *g, const char *instance, const char *turn)
{
    struct guest_turn *t, *next;
    for (t = g ? LIST_FIRST(&g->turns) : NULL; t; t = next) {
        next = LIST_NEXT(t, next);
        if (!t->is_over && (!turn || strcmp(t->id, turn) == 0) &&
            (!instance || strcmp(t->instance, instance) == 0))
            guest_turn_end(t, true);
    }
}

void guest_turns_retire(struct guest_turns *g)
{
    if (!g)
        return;
    g->is_retired = true;
    guest_turns_end_without_outcome(g, NULL, NULL);
}

/* ---- its life ---- */

struct guest_turns *guest_turns_new(const struct guest_turns_spec *spec)
{
    struct guest_turns *const g = xcalloc(1, sizeof *g);
    g->spec = *spec;
    g->link = bus_get_link(spec->bus);
    LIST_INIT(&g->turns);
    LIST_INIT(&g->memories);
    g->timer = loop_timer_new(spec->loop, guest_turns_on_timer, g);
    loop_timer_set(g->timer, LOOK_MS);
    g->watcher = turnlog_watch(spec->turnlog, guest_turns_on_changed, g);
    g->active = bus_watch(spec->bus, guest_turns_on_active, g);
    guest_memory_serve(g);
    return g;
}

void guest_turns_stop(struct guest_turns *g)
{
    if (!g || g->is_stopped)
        return;
    guest_turns_retire(g);
    g->is_stopped = true;
    turnlog_watcher_free(g->watcher);
    bus_watcher_free(g->active);
    loop_timer_free(g->timer);
}

void guest_turns_free(struct guest_turns *g)
{
    if (!g)
        return;
    ASSERT(LIST_EMPTY(&g->turns));
    guest_memory_fini(g);
    free(g);
}
