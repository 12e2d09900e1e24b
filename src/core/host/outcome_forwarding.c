/* SPDX-License-Identifier: MIT
 * Owns the outcomes that are to be sent to other hosts, one after the other, and stores those that
 * other hosts send. */
#include "core/host/outcome_forwarding.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/sys/log.h"
#include "base/sys/uuid.h"
#include "core/bus/bus_message.h"
#include "core/host/outcome_message.h"
#include "event/json/json_reader.h"
#include "io/journal/journal_moving.h"

#define RETRY_MS 1000
#define ITEMS_MAX 1000 /* in memory; the others stay in the journal until these are gone */

/* An outcome on its way to the host that leads the instance. */
struct outcome_item {
    STAILQ_ENTRY(outcome_item) next;
    struct outcome_forwarding *all;
    char *instance, *turn;
    struct buf line;
};

/* An instance whose rows in the journal have been read since it stands by. */
struct outcome_known {
    LIST_ENTRY(outcome_known) next;
    bool stands_by;
    char name[];
};

struct outcome_forwarding {
    struct leading_parts parts;
    const struct instance_leaders *leaders;
    struct guest_turns *guests;
    const struct request_forwarding *requests;
    STAILQ_HEAD(, outcome_item) items;
    size_t n;
    struct outcome_item *in_flight; /* the item whose request is in flight; or NULL */
    LIST_HEAD(, outcome_known) known;
    bool is_full; /* some were left in the journal */
    bool is_stopped;
    struct loop_timer *timer;
};

/* ---- outcomes to be sent ---- */

static void outcome_forwarding_free_item(struct outcome_item *i)
{
    buf_fini(&i->line);
    free(i->instance);
    free(i->turn);
    free(i);
}

static bool outcome_forwarding_has(const struct outcome_forwarding *f, const char *instance,
                                   const char *turn)
{
    const struct outcome_item *i;
    STAILQ_FOREACH (i, &f->items, next)
        if (strcmp(i->turn, turn) == 0 && strcmp(i->instance, instance) == 0)
            return true;
    return false;
}

static void outcome_forwarding_put(struct outcome_forwarding *f, const char *instance,
                                   const char *turn, struct str line)
{
    if (f->is_stopped || outcome_forwarding_has(f, instance, turn))
        return;
    if (f->n >= ITEMS_MAX) {
        f->is_full = true;
        return;
    }
    struct outcome_item *const i = xcalloc(1, sizeof *i);
    i->all = f;
    i->instance = xstrdup(instance);
    i->turn = xstrdup(turn);
    buf_add(&i->line, line.p, line.len);
    STAILQ_INSERT_TAIL(&f->items, i, next);
    f->n++;
}

void outcome_forwarding_add(struct outcome_forwarding *f, const char *instance, const char *turn,
                            struct str line)
{
    outcome_forwarding_put(f, instance, turn, line);
    if (!f->in_flight && !f->is_stopped)
        loop_timer_set(f->timer, 0);
}

static void outcome_forwarding_drop(struct outcome_forwarding *f, struct outcome_item *i)
{
    STAILQ_REMOVE(&f->items, i, outcome_item, next);
    f->n--;
    outcome_forwarding_free_item(i);
}

/* Removes the item whose request has ended, and continues with the next. */
static void outcome_forwarding_end(struct outcome_item *i)
{
    struct outcome_forwarding *const f = i->all;
    f->in_flight = NULL;
    outcome_forwarding_drop(f, i);
    loop_timer_set(f->timer, 0);
}

/* Moves the item to the end of the list, to be tried again. */
static void outcome_forwarding_postpone(struct outcome_item *i)
{
    struct outcome_forwarding *const f = i->all;
    f->in_flight = NULL;
    STAILQ_REMOVE(&f->items, i, outcome_item, next);
    STAILQ_INSERT_TAIL(&f->items, i, next);
    loop_timer_set(f->timer, RETRY_MS);
}

/* ---- sending ---- */

static void outcome_forwarding_on_expanded(void *ctx, enum journal_status status, const char *text)
{
    (void)status, (void)text;
    outcome_forwarding_end(ctx);
}

static void outcome_forwarding_on_answer(void *ctx, enum nats_client_result result, struct str body)
{
    struct outcome_item *const i = ctx;
    const struct outcome_forwarding *const f = i->all;
    const bool is_accepted =
        result == NATS_CLIENT_REPLIED && str_is(json_reader_pointer(body, "/ok"), "true");
    if (is_accepted && !f->is_stopped && !instance_leaders_leads(f->leaders, i->instance))
        journal_async_expand(f->parts.journal, i->instance, i->turn, NULL, 0,
                             outcome_forwarding_on_expanded, i);
    else
        outcome_forwarding_postpone(i);
}

static void outcome_forwarding_send(struct outcome_item *i, const struct journal_turn *t)
{
    const struct outcome_forwarding *const f = i->all;
    CLEANUP_BUF struct buf body = {0}, memory = {0};
    if (journal_async_get(f->parts.journal, i->instance, i->turn, &memory) == JOURNAL_FAILED)
        log_write(LOG_ERR, "host", "instance %s: cannot read its stored data of turn %s",
                  i->instance, i->turn);
    outcome_message_write(&body, &(struct outcome_message){
                                     .instance = i->instance,
                                     .turn = i->turn,
                                     .agent = t->agent ? t->agent : "",
                                     .conversation = t->conv ? t->conv : "",
                                     .source = t->source ? t->source : "",
                                     .route = t->route,
                                     .memory = memory.len ? memory.p : NULL,
                                     .line = i->line.p ? i->line.p : "",
                                 });
    bus_ask(f->parts.bus, instance_leaders_holder(f->leaders, i->instance), "deliver",
            (struct str){body.p, body.len}, outcome_forwarding_on_answer, i);
}

/* The journal runs this lookup after the transaction that ends the turn. */
static void outcome_forwarding_on_turn(void *ctx, enum journal_status status,
                                       const struct journal_turn *turn)
{
    struct outcome_item *const i = ctx;
    const bool has_ended = status == JOURNAL_DONE && strcmp(turn->state, "running") != 0;
    const struct work *const work = i->all->parts.work;
    const bool is_handed_over =
        has_ended && strcmp(turn->source, i->instance) == 0 && work_share_has(work, i->instance) &&
        (!work_share_is_loaded(work) || work_share_is_adoptable(work, i->turn));
    if (i->all->is_stopped || is_handed_over) /* then its row is about to be removed */
        outcome_forwarding_postpone(i);
    else if (has_ended)
        outcome_forwarding_send(i, turn);
    else if (status == JOURNAL_NO_CHANGE) /* another host adopted the turn, and gives its outcome */
        journal_async_expand(i->all->parts.journal, i->instance, i->turn, NULL, 0,
                             outcome_forwarding_on_expanded, i);
    else
        outcome_forwarding_end(i); /* it has no outcome in the journal */
}

static bool outcome_forwarding_has_leader(const struct outcome_forwarding *f, const char *instance)
{
    const char *const holder = instance_leaders_holder(f->leaders, instance);
    return *holder && strcmp(holder, f->parts.host) != 0;
}

static void outcome_forwarding_on_timer(void *arg)
{
    struct outcome_forwarding *const f = arg;
    struct outcome_item *const i = STAILQ_FIRST(&f->items);
    if (f->is_stopped || f->in_flight)
        return;
    if (!i) {
        if (f->is_full)
            outcome_forwarding_update(f);
        return;
    }
    if (instance_leaders_leads(f->leaders, i->instance)) {
        outcome_forwarding_drop(f, i); /* this host delivers it */
        loop_timer_set(f->timer, 0);
        return;
    }
    f->in_flight = i;
    if (outcome_forwarding_has_leader(f, i->instance) &&
        !request_forwarding_is_first(f->requests, i->instance))
        journal_async_look_up(f->parts.journal, i->turn, outcome_forwarding_on_turn, i);
    else
        outcome_forwarding_postpone(i);
}

/* ---- undelivered outcomes of the journal ---- */

/* Runs on the journal's thread while the loop thread waits for it. */
static void outcome_forwarding_add_row(void *ctx, const struct journal_row *row)
{
    if (row->kind == JOURNAL_OUTCOME)
        outcome_forwarding_put(ctx, row->conn, row->turn, row->body);
}

static struct outcome_known *outcome_forwarding_add_known(struct outcome_forwarding *f,
                                                          const char *name)
{
    struct outcome_known *k;
    LIST_FOREACH (k, &f->known, next)
        if (strcmp(k->name, name) == 0)
            return k;
    const size_t len = strlen(name);
    k = xmalloc(sizeof *k + len + 1);
    k->stands_by = false;
    memcpy(k->name, name, len + 1);
    LIST_INSERT_HEAD(&f->known, k, next);
    return k;
}

static void outcome_forwarding_update_known(void *ctx, const struct dispatch_instance *i)
{
    struct outcome_forwarding *const f = ctx;
    struct outcome_known *const k = i->is_led ? outcome_forwarding_add_known(f, i->name) : NULL;
    if (!k)
        return;
    const bool is_new = i->stands_by && (!k->stands_by || f->is_full);
    k->stands_by = i->stands_by;
    if (is_new && journal_async_list_open_list_rows(
                      f->parts.journal, i->name, outcome_forwarding_add_row, f) == JOURNAL_FAILED)
        log_write(LOG_ERR, "host", "instance %s: cannot read undelivered outcomes from the journal",
                  i->name);
}

void outcome_forwarding_update(struct outcome_forwarding *f)
{
    if (f->is_stopped)
        return;
    dispatch_each_instance(f->parts.dispatch, outcome_forwarding_update_known, f);
    f->is_full = f->n >= ITEMS_MAX;
    if (f->n && !f->in_flight)
        loop_timer_set(f->timer, 0);
}

/* ---- receiving ---- */

struct outcome_received {
    struct outcome_forwarding *all;
    struct bus_call *call;
    struct arena arena;
    struct outcome_message message;
    const char *origin_turn; /* id of the turn at its host */
};

static void outcome_forwarding_answer(struct bus_call *call, bool ok, const char *why)
{
    CLEANUP_BUF struct buf out = {0};
    buf_printf(&out, ok ? "{\"ok\":true}" : "{\"ok\":false,\"why\":\"%s\"}", why);
    bus_call_answer(call, (struct str){out.p, out.len});
}

static void outcome_forwarding_end_received(struct outcome_received *t, bool ok)
{
    outcome_forwarding_answer(t->call, ok, "not_kept");
    arena_fini(&t->arena);
    free(t);
}

/* An instance that shows the guest turn gets the outcome through it. */
static void outcome_forwarding_deliver(const struct outcome_forwarding *f,
                                       const struct outcome_message *m)
{
    if (!guest_turns_end(f->guests, m->instance, m->turn, (struct str){m->line, strlen(m->line)}))
        dispatch_deliver_outcome(f->parts.dispatch, m->instance, m->turn);
}

static void outcome_forwarding_on_stored(void *ctx, enum journal_status status, const char *text)
{
    struct outcome_received *const t = ctx;
    (void)text;
    if (status == JOURNAL_DONE && !t->all->is_stopped)
        outcome_forwarding_deliver(t->all, &t->message);
    outcome_forwarding_end_received(t, status == JOURNAL_DONE);
}

static void outcome_forwarding_on_admitted(void *ctx, enum journal_status status, const char *text)
{
    struct outcome_received *const t = ctx;
    const struct outcome_message *const m = &t->message;
    const struct journal_target target = {
        .conn = m->instance, .lane = m->conversation, .body = {m->line, strlen(m->line)}};
    (void)text;
    if (status != JOURNAL_DONE) {
        outcome_forwarding_end_received(t, status == JOURNAL_NO_CHANGE);
        return;
    }
    const char *const newer = guest_turns_memory(t->all->guests, m->instance, t->origin_turn);
    const char *const memory = newer ? newer : m->memory;
    if (memory)
        journal_async_memory_put(t->all->parts.journal, m->instance, m->turn, memory, NULL, NULL);
    if (strcmp(t->origin_turn, m->turn) != 0)
        guest_turns_end_without_outcome(t->all->guests, m->instance, t->origin_turn);
    journal_async_end_turn(t->all->parts.journal,
                           &(struct journal_outcome){.turn = m->turn, .targets = &target, .n = 1},
                           outcome_forwarding_on_stored, t);
}

/* An outcome received before is recognised by the id of its message. If the journal knows the turn
 * and the instance is its source, this host has adopted the turn and delivers it itself. If the
 * journal knows the turn because of another instance, the outcome is stored under a new id. */
static void outcome_forwarding_on_known(void *ctx, enum journal_status status,
                                        const struct journal_turn *turn)
{
    struct outcome_received *const t = ctx;
    struct outcome_message *const m = &t->message;
    const char *const message = arena_sprintf(&t->arena, "outcome %s %s", m->instance, m->turn);
    if (status == JOURNAL_DONE && strcmp(turn->source, m->instance) == 0 &&
        (!turn->boot_id || strncmp(turn->boot_id, JOURNAL_GIVEN, strlen(JOURNAL_GIVEN)) != 0)) {
        outcome_forwarding_end_received(t, true);
        return;
    }
    if (status == JOURNAL_DONE) {
        char id[37];
        uuid_make(id);
        m->turn = arena_strdup(&t->arena, id);
    }
    journal_async_admit_turn(
        t->all->parts.journal,
        &(struct journal_turn){.id = m->turn,
                               .agent = m->agent,
                               .conv = m->conversation,
                               .source = m->source,
                               .msg_id = message,
                               .boot_id = arena_sprintf(&t->arena, JOURNAL_GIVEN "%s", m->instance),
                               .route = m->route,
                               .seen = m->instance},
        outcome_forwarding_on_admitted, t);
}

static void outcome_forwarding_on_deliver(void *ctx, struct bus_call *call, struct str body)
{
    struct outcome_forwarding *const f = ctx;
    struct outcome_received *const t = xcalloc(1, sizeof *t);
    const struct outcome_message *const m = &t->message;
    t->all = f;
    t->call = call;
    if (outcome_message_read(body, &t->arena, &t->message) < 0 || f->is_stopped ||
        !instance_leaders_leads(f->leaders, m->instance)) {
        outcome_forwarding_answer(call, false, "not_leader");
        arena_fini(&t->arena);
        free(t);
        return;
    }
    t->origin_turn = m->turn;
    journal_async_look_up(f->parts.journal, m->turn, outcome_forwarding_on_known, t);
}

/* ---- begin and end ---- */

struct outcome_forwarding *outcome_forwarding_new(const struct leading_parts *parts,
                                                  const struct instance_leaders *leaders,
                                                  struct guest_turns *guests,
                                                  const struct request_forwarding *requests)
{
    struct outcome_forwarding *const f = xcalloc(1, sizeof *f);
    f->parts = *parts;
    f->leaders = leaders;
    f->guests = guests;
    f->requests = requests;
    f->parts.host = xstrdup(parts->host);
    STAILQ_INIT(&f->items);
    LIST_INIT(&f->known);
    f->timer = loop_timer_new(parts->loop, outcome_forwarding_on_timer, f);
    bus_serve(parts->bus, "deliver", outcome_forwarding_on_deliver, f);
    return f;
}

void outcome_forwarding_stop(struct outcome_forwarding *f)
{
    if (!f)
        return;
    f->is_stopped = true;
    loop_timer_set(f->timer, -1);
}

void outcome_forwarding_free(struct outcome_forwarding *f)
{
    if (!f)
        return;
    while (!STAILQ_EMPTY(&f->items))
        outcome_forwarding_drop(f, STAILQ_FIRST(&f->items));
    while (!LIST_EMPTY(&f->known)) {
        struct outcome_known *const k = LIST_FIRST(&f->known);
        LIST_REMOVE(k, next);
        free(k);
    }
    loop_timer_free(f->timer);
    free((char *)(uintptr_t)f->parts.host);
    free(f);
}
