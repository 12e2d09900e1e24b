/* SPDX-License-Identifier: MIT
 * Owns the decision whether a turn runs on this host: it does if this host is the home of the
 * conversation. The home is read from the servers. The journal records which conversations have
 * their home on other hosts, for times when the servers do not answer. */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "core/work/work_internal.h"
#include "core/work/work_move.h"

#define AWAY "away:" /* key in the journal: a conversation that is at home on another host */

struct work_place {
    LIST_ENTRY(work_place) next;
    struct work *work; /* NULL: the caller has cancelled the request */
    bool has_slot;
    bool is_away_known; /* the journal has recorded that its home is another host */
    struct buf key;
    void (*done)(void *ctx, bool here);
    void *ctx;
    bool here, is_reading;
    struct loop_timer *answer;
};

static void work_place_free(struct work_place *p)
{
    buf_fini(&p->key);
    free(p);
}

/* Cancels the request. A read of the journal in flight goes on; its reply frees the request. */
static void work_place_end(struct work_place *p)
{
    LIST_REMOVE(p, next);
    nats_client_forget(p->work->link->client, p);
    loop_timer_free(p->answer);
    p->work = NULL;
    if (!p->is_reading)
        work_place_free(p);
}

static void work_place_on_answer(void *arg)
{
    struct work_place *const p = arg;
    void (*const done)(void *ctx, bool here) = p->done;
    void *const ctx = p->ctx;
    const bool here = p->here;
    work_place_end(p);
    done(ctx, here);
}

static void work_place_answer(struct work_place *p, bool here)
{
    p->here = here;
    loop_timer_set(p->answer, 0);
}

/* Makes this host the home of the conversation, unless another host has become its home since the
 * read. */
static void work_place_claim_home(struct work_place *p, uint64_t revision)
{
    const struct bus_origin from = bus_link_next_origin(p->work->link);
    bus_kv_put_origin(p->work->link, BUS_HOMES, p->key.p, &from, revision, NULL, NULL);
}

/* Written again for each turn, because the journal deletes rows of unused conversations. */
static void work_place_store_away(struct work_place *p, bool is_away)
{
    CLEANUP_BUF struct buf key = {0};
    if (!is_away && !p->is_away_known)
        return;
    buf_printf(&key, AWAY "%s", p->key.p);
    journal_async_kv_put(p->work->journal, key.p, is_away ? "1" : NULL, NULL, NULL);
}

static void work_place_on_home(void *ctx, enum nats_client_result result,
                               const struct nats_client_message *m)
{
    struct work_place *const p = ctx;
    struct bus_kv_entry entry;
    bus_kv_read_entry(p->work->link, BUS_HOMES, result, m, &entry);
    const bool is_own = !p->work->is_aside && work_home_is_here(p->work->link, &entry);
    const bool takes = entry.result == BUS_KV_NONE && p->has_slot && !p->work->is_aside;
    if (takes)
        work_place_claim_home(p, entry.revision);
    if (entry.result == BUS_KV_DONE || entry.result == BUS_KV_NONE)
        work_place_store_away(p, !is_own && !takes);
    work_place_answer(p, is_own || takes);
}

/* Without the servers a turn begins here, because this host has the lock of its conversation,
 * unless the session is on another host. With bus.on_loss = "kill" it does not when the others may
 * have taken this host for lost, and the lock with it. */
static bool work_place_may_begin_alone(const struct work_place *p)
{
    const struct work *const w = p->work;
    return !p->is_away_known && !w->is_aside &&
           !(w->is_strict && bus_link_is_lost(w->link, w->lost_after_ms));
}

static void work_place_on_away_read(void *ctx, enum journal_status status, const char *text)
{
    struct work_place *const p = ctx;
    (void)text;
    p->is_reading = false;
    if (!p->work) {
        work_place_free(p);
        return;
    }
    p->is_away_known = status == JOURNAL_DONE;
    if (p->work->link->is_active)
        bus_kv_get(p->work->link, BUS_HOMES, p->key.p, work_place_on_home, p);
    else
        work_place_answer(p, work_place_may_begin_alone(p));
}

void work_find_place(struct work *w, const struct conf_agent *agent, const char *conversation,
                     bool has_slot, void (*done)(void *ctx, bool here), void *ctx)
{
    struct work_place *const p = xcalloc(1, sizeof *p);
    CLEANUP_BUF struct buf key = {0};
    *p = (struct work_place){.work = w, .has_slot = has_slot, .done = done, .ctx = ctx};
    p->answer = loop_timer_new(w->link->loop, work_place_on_answer, p);
    work_home_key(&p->key, conf_agent_session_name(agent), conversation);
    LIST_INSERT_HEAD(&w->places, p, next);
    p->is_reading = true;
    buf_printf(&key, AWAY "%s", p->key.p);
    journal_async_kv_get(w->journal, key.p, work_place_on_away_read, p);
}

void work_forget_place(struct work *w, const void *ctx)
{
    struct work_place *p = LIST_FIRST(&w->places), *next;
    for (; p; p = next) {
        next = LIST_NEXT(p, next);
        if (p->ctx == ctx)
            work_place_end(p);
    }
}

void work_place_stop(struct work *w)
{
    struct work_place *p;
    while ((p = LIST_FIRST(&w->places)))
        work_place_end(p);
}
