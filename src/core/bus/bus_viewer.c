/* SPDX-License-Identifier: MIT
 * Owns the states of other hosts' turns, and the list of followed turns. */
#include "core/bus/bus_viewer.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/invariant.h"
#include "core/bus/bus_follow.h"

#define RETRY_MS 2000

struct bus_viewer_turn {
    LIST_ENTRY(bus_viewer_turn) next;
    struct bus_follow *follow;
};

struct bus_viewer {
    struct bus_link *link;
    struct nats_client_subscription *states;
    LIST_HEAD(, bus_viewer_turn) turns;
    uint64_t position; /* sequence while stored states are read one by one; 0: all are read */
    bool awaits_reply;
    struct loop_timer *retry;
    bus_found_unfinished *unfinished; /* or NULL */
    void *unfinished_ctx;
};

/* ---- states of turns ---- */

static struct bus_viewer_turn *bus_viewer_find(const struct bus_viewer *v, const char *id)
{
    struct bus_viewer_turn *t;
    LIST_FOREACH (t, &v->turns, next)
        if (strcmp(bus_follow_turn(t->follow), id) == 0)
            return t;
    return NULL;
}

/* An ended turn may lack its last events here, or have none. */
static void bus_viewer_put(struct bus_viewer *v, const struct turnlog_turn *t, uint64_t sequence)
{
    turnlog_put_remote(v->link->turnlog, t, sequence);
    const struct bus_viewer_turn *const followed = bus_viewer_find(v, t->spec.id);
    if (followed && turnlog_turn_is_finished(t))
        bus_follow_repair(followed->follow);
}

static void bus_viewer_apply_state(struct bus_viewer *v, const struct nats_client_message *m)
{
    struct arena arena = {0};
    struct turnlog_turn t;
    const bool is_state = bus_state_read(m->data, &arena, &t) == 0;
    const bool is_own = is_state && strcmp(t.spec.host, v->link->names.host) == 0;
    if (is_state && !is_own)
        bus_viewer_put(v, &t, m->sequence);
    else if (is_own && v->unfinished && !turnlog_turn_is_finished(&t) &&
             !turnlog_find_turn(v->link->turnlog, t.spec.id))
        v->unfinished(v->unfinished_ctx, t.spec.id, m->data, m->sequence);
    arena_fini(&arena);
}

static void bus_viewer_on_state(void *ctx, const struct nats_client_message *m)
{
    bus_viewer_apply_state(ctx, m);
}

static void bus_viewer_read_on(struct bus_viewer *v);

static void bus_viewer_on_read(void *ctx, enum nats_client_result result,
                               const struct nats_client_message *m)
{
    struct bus_viewer *const v = ctx;
    v->awaits_reply = false;
    if (result == NATS_CLIENT_REPLIED && m->sequence) {
        v->position = m->sequence + 1;
        bus_viewer_apply_state(v, m);
        bus_viewer_read_on(v);
    } else if (result == NATS_CLIENT_REPLIED && m->status == 404) {
        v->position = 0;
    } else {
        loop_timer_set(v->retry, RETRY_MS);
    }
}

/* Reads states that were published before this host subscribed. */
static void bus_viewer_read_on(struct bus_viewer *v)
{
    CLEANUP_BUF struct buf subject = {0};
    if (v->awaits_reply || !v->position || !v->link->is_active)
        return;
    bus_stream_subject(&subject, &v->link->names, BUS_STATES, "*", "*");
    v->awaits_reply = true;
    bus_link_read_next(v->link, BUS_STATES, subject.p, v->position, bus_viewer_on_read, v);
}

static void bus_viewer_on_retry(void *arg)
{
    bus_viewer_read_on(arg);
}

/* ---- followed turns ---- */

static void bus_viewer_remove(struct bus_viewer_turn *t)
{
    LIST_REMOVE(t, next);
    bus_follow_free(t->follow);
    free(t);
}

static void bus_viewer_on_wanted(void *ctx, const struct turnlog_turn *turn)
{
    struct bus_viewer *const v = ctx;
    struct bus_viewer_turn *t = bus_viewer_find(v, turn->spec.id);
    if (t)
        bus_viewer_remove(t);
    if (!bus_stream_is_token(turn->spec.id))
        return;
    t = xcalloc(1, sizeof *t);
    t->follow = bus_follow_new(v->link, turn);
    LIST_INSERT_HEAD(&v->turns, t, next);
}

static void bus_viewer_on_unwanted(void *ctx, const char *id)
{
    struct bus_viewer_turn *const t = bus_viewer_find(ctx, id);
    if (t)
        bus_viewer_remove(t);
}

/* ---- create and free ---- */

void bus_viewer_set_unfinished(struct bus_viewer *v, bus_found_unfinished *found, void *ctx)
{
    v->unfinished = found;
    v->unfinished_ctx = ctx;
}

struct bus_viewer *bus_viewer_new(struct bus_link *link)
{
    CLEANUP_BUF struct buf subject = {0};
    struct bus_viewer *const v = xcalloc(1, sizeof *v);
    v->link = link;
    LIST_INIT(&v->turns);
    v->retry = loop_timer_new(link->loop, bus_viewer_on_retry, v);
    bus_stream_stored_subject(&subject, &link->names, BUS_STATES, "*", "*");
    v->states = nats_client_subscribe(link->client, subject.p, bus_viewer_on_state, v);
    turnlog_set_source(link->turnlog, &(struct turnlog_source){.wanted = bus_viewer_on_wanted,
                                                               .unwanted = bus_viewer_on_unwanted,
                                                               .ctx = v});
    return v;
}

void bus_viewer_free(struct bus_viewer *v)
{
    if (!v)
        return;
    turnlog_set_source(v->link->turnlog, NULL);
    while (!LIST_EMPTY(&v->turns))
        bus_viewer_remove(LIST_FIRST(&v->turns));
    nats_client_unsubscribe(v->states);
    loop_timer_free(v->retry);
    nats_client_forget(v->link->client, v);
    free(v);
}

void bus_viewer_resume(struct bus_viewer *v, bool has_missed)
{
    struct bus_viewer_turn *t;
    if (has_missed) {
        turnlog_restart_remote_order(v->link->turnlog); /* the servers may have lost their data */
        v->position = 1;
    }
    bus_viewer_read_on(v);
    LIST_FOREACH (t, &v->turns, next)
        bus_follow_repair(t->follow);
}

size_t bus_viewer_count(const struct bus_viewer *v)
{
    size_t n = 0;
    const struct bus_viewer_turn *t;
    LIST_FOREACH (t, &v->turns, next)
        n++;
    return n;
}
