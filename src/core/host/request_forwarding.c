/* SPDX-License-Identifier: MIT
 * Owns the state of each instance whose requests are given to its leader: the position in the
 * journal, and the offer whose answer is awaited. */
#include "core/host/request_forwarding.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/sys/crash_point.h"
#include "base/sys/log.h"
#include "base/sys/uuid.h"
#include "core/bus/bus_message.h"
#include "core/host/request_message.h"
#include "core/work/work.h"
#include "event/json/json_reader.h"
#include "io/journal/journal_async.h"
#include "io/journal/journal_moving.h"
#include "io/nats/nats_client.h"

#define VERB "send"
#define RETRY_MS 1000
#define PASS_MS 5000 /* between looks at the journal: an operator may retry dead letters */
#define ASKS_MAX 2   /* unanswered ones of a host that does not lead the instance any more */

/* Before the name of the instance: key of the offer in the journal. */
#define OFFER_ROW "offer:"

/* A request that was offered to another host, which may have stored it. It is in the journal before
 * the host is asked: "SEQ HOST ID". */
struct request_offer {
    int64_t seq; /* its row; 0: there is no offer */
    char host[BUS_HOST_MAX + 1];
    char id[37];
    bool may_be_stored; /* an earlier question was not answered */
    unsigned asks;      /* by this process */
};

struct request_instance {
    LIST_ENTRY(request_instance) next;
    struct request_forwarding *all;
    struct loop_timer *timer;
    bool is_pending;   /* an operation of the journal or a question is in progress */
    bool is_loaded;    /* the offer is that of the journal */
    bool has_seen_all; /* in this pass */
    bool has_passed;   /* all rows were tried since the host stands by */
    struct journal_place after;
    struct request_offer offer;
    struct buf message;
    size_t given;
    bool has_warned;
    void (*gained)(void *ctx, const char *instance); /* request_forwarding_prepare; or NULL */
    void *gained_ctx;
    char name[];
};

struct request_forwarding {
    struct leading_parts parts;
    const struct instance_leaders *leaders;
    LIST_HEAD(, request_instance) instances;
    bool is_stopped;
};

static void request_forwarding_continue(struct request_instance *i);

/* ---- the offer ---- */

static void request_forwarding_store_offer(struct request_instance *i, journal_done_fn *done)
{
    CLEANUP_FREE char *key = xasprintf(OFFER_ROW "%s", i->name);
    CLEANUP_FREE char *value =
        i->offer.seq ? xasprintf("%" PRId64 " %s %s", i->offer.seq, i->offer.host, i->offer.id)
                     : NULL;
    journal_async_kv_put(i->all->parts.journal, key, value, done, i);
}

static void request_forwarding_clear_offer(struct request_instance *i)
{
    i->offer = (struct request_offer){0};
    request_forwarding_store_offer(i, NULL);
}

/* Ends the row of the offer. */
static void request_forwarding_settle_offer(struct request_instance *i,
                                            struct journal_settlement settlement)
{
    journal_async_settle_row(i->all->parts.journal, i->offer.seq, &settlement, NULL, NULL);
    request_forwarding_clear_offer(i);
}

static void request_forwarding_read_offer(struct request_offer *o, const char *text)
{
    *o = (struct request_offer){.may_be_stored = true};
    if (!text || sscanf(text, "%" SCNd64 " %32s %36s", &o->seq, o->host, o->id) != 3)
        *o = (struct request_offer){0};
}

/* ---- whether and to whom ---- */

static const char *request_forwarding_leader(const struct request_instance *i)
{
    const struct request_forwarding *const f = i->all;
    const char *const holder = instance_leaders_holder(f->leaders, i->name);
    const bool is_other = *holder && strcmp(holder, f->parts.host) != 0 &&
                          !instance_leaders_leads(f->leaders, i->name) &&
                          dispatch_stands_by(f->parts.dispatch, i->name);
    return is_other ? holder : NULL;
}

/* The leader adopts the turn, and makes its requests anew: the row is about to be removed. */
static bool request_forwarding_is_handed_over(const struct request_instance *i,
                                              const struct journal_moving *m)
{
    const struct work *const work = i->all->parts.work;
    return m->source && strcmp(m->source, i->name) == 0 && work_share_has(work, i->name) &&
           (!work_share_is_loaded(work) || work_share_is_adoptable(work, m->turn));
}

/* An offer was made already: its host is asked again, whether or not it still leads. */
static bool request_forwarding_is_movable(const struct request_instance *i,
                                          const struct journal_moving *m)
{
    return i->offer.seq ||
           (!i->gained && request_forwarding_leader(i) && !request_forwarding_is_handed_over(i, m));
}

static void request_forwarding_warn(struct request_instance *i, int64_t seq, const char *why)
{
    if (!i->has_warned)
        log_write(LOG_WARN, "host",
                  "instance %s: keeping request %" PRId64 ": %s; this host sends it when it leads"
                  " the instance again",
                  i->name, seq, why);
    i->has_warned = true;
}

/* ---- one request ---- */

static void request_forwarding_pause(struct request_instance *i, int64_t ms)
{
    i->is_pending = false;
    if (!i->all->is_stopped)
        loop_timer_set(i->timer, ms);
}

static void request_forwarding_on_answer(void *ctx, enum nats_client_result result,
                                         struct str body);

static void request_forwarding_ask(struct request_instance *i)
{
    const struct request_forwarding *const f = i->all;
    i->offer.asks++;
    bus_ask(f->parts.bus, i->offer.host, VERB, (struct str){i->message.p, i->message.len},
            request_forwarding_on_answer, i);
}

static void request_forwarding_on_offer_stored(void *ctx, enum journal_status status,
                                               const char *text)
{
    struct request_instance *const i = ctx;
    (void)text;
    if (i->all->is_stopped) {
        request_forwarding_pause(i, RETRY_MS);
    } else if (status == JOURNAL_DONE && !i->gained) {
        request_forwarding_ask(i);
    } else { /* nobody was asked */
        request_forwarding_clear_offer(i);
        request_forwarding_continue(i);
    }
}

/* An outcome of the turn follows with its record (outcome_forwarding.h). A turn that came from this
 * instance may have been adopted by another host meanwhile. */
static void request_forwarding_write(struct request_instance *i, const struct journal_moving *m)
{
    struct journal_moving sent = *m;
    sent.in_doubt |= m->source && strcmp(m->source, i->name) == 0;
    if (m->is_open || m->has_outcome)
        sent.agent = sent.conversation = sent.source = sent.route = NULL;
    buf_reset(&i->message);
    request_message_write(&i->message, i->offer.id, &sent);
}

static void request_forwarding_offer(struct request_instance *i, const struct journal_moving *m)
{
    const struct request_forwarding *const f = i->all;
    const size_t max = nats_client_max_payload(bus_get_client(f->parts.bus));
    const bool is_new = !i->offer.seq;
    if (is_new) {
        i->offer.seq = m->seq;
        snprintf(i->offer.host, sizeof i->offer.host, "%s", request_forwarding_leader(i));
        uuid_make(i->offer.id);
    }
    request_forwarding_write(i, m);
    if (is_new && max && i->message.len > max) {
        request_forwarding_warn(i, m->seq, "it is larger than max_payload of the NATS server");
        i->offer = (struct request_offer){0};
        request_forwarding_continue(i);
    } else if (is_new) {
        request_forwarding_store_offer(i, request_forwarding_on_offer_stored);
    } else {
        request_forwarding_ask(i);
    }
}

/* ---- the pass over the rows of an instance ---- */

static void request_forwarding_end_pass(struct request_instance *i)
{
    if (i->given)
        log_write(LOG_INFO, "host", "instance %s: gave %zu request%s to the host that leads it",
                  i->name, i->given, i->given == 1 ? "" : "s");
    i->given = 0;
    i->has_passed = true;
    request_forwarding_pause(i, PASS_MS);
}

static void request_forwarding_end_preparing(struct request_instance *i)
{
    void (*const gained)(void *, const char *) = i->gained;
    i->gained = NULL;
    i->has_passed = i->is_loaded = false;
    request_forwarding_pause(i, PASS_MS);
    gained(i->gained_ctx, i->name);
}

/* The journal cannot be read. */
static void request_forwarding_give_up(struct request_instance *i)
{
    if (i->gained && !i->all->is_stopped)
        request_forwarding_end_preparing(i);
    else
        request_forwarding_pause(i, RETRY_MS);
}

static void request_forwarding_on_found(void *ctx, enum journal_status status,
                                        const struct journal_moving *m)
{
    struct request_instance *const i = ctx;
    const bool is_offered = i->offer.seq != 0;
    if (i->all->is_stopped) {
        request_forwarding_pause(i, RETRY_MS);
        return;
    }
    if (status == JOURNAL_FAILED) {
        request_forwarding_give_up(i);
        return;
    }
    if (m && !is_offered)
        i->after = m->place;
    if (m && request_forwarding_is_movable(i, m)) {
        request_forwarding_offer(i, m);
        return;
    }
    if (!m && is_offered)
        request_forwarding_clear_offer(i); /* the row is gone */
    else if (!m)
        i->has_seen_all = true;
    request_forwarding_continue(i);
}

static void request_forwarding_on_loaded(void *ctx, enum journal_status status, const char *text)
{
    struct request_instance *const i = ctx;
    i->is_loaded = status == JOURNAL_DONE || status == JOURNAL_NO_CHANGE;
    request_forwarding_read_offer(&i->offer, status == JOURNAL_DONE ? text : NULL);
    if (i->is_loaded)
        request_forwarding_continue(i);
    else
        request_forwarding_give_up(i);
}

/* No attempt of this host is in flight, because the outbox of an instance that stands by is
 * closed. */
static void request_forwarding_load(struct request_instance *i)
{
    CLEANUP_FREE char *key = xasprintf(OFFER_ROW "%s", i->name);
    if (!i->gained)
        journal_async_take_over(i->all->parts.journal, i->name, NULL, NULL);
    journal_async_kv_get(i->all->parts.journal, key, request_forwarding_on_loaded, i);
}

/* An offer whose answer is unknown comes before everything else. */
static void request_forwarding_continue(struct request_instance *i)
{
    const struct request_forwarding *const f = i->all;
    if (f->is_stopped || (!i->gained && !request_forwarding_leader(i)))
        request_forwarding_pause(i, PASS_MS);
    else if (!i->is_loaded)
        request_forwarding_load(i);
    else if (i->gained && !i->offer.seq)
        request_forwarding_end_preparing(i);
    else if (i->has_seen_all && !i->offer.seq)
        request_forwarding_end_pass(i);
    else
        journal_async_find_moving(f->parts.journal, i->name, i->after, i->offer.seq,
                                  request_forwarding_on_found, i);
}

static void request_forwarding_on_timer(void *arg)
{
    struct request_instance *const i = arg;
    if (i->is_pending)
        return;
    i->is_pending = true;
    i->after = JOURNAL_BEFORE_ALL;
    i->has_seen_all = false;
    request_forwarding_continue(i);
}

/* ---- answers ---- */

/* The host of the offer does not say whether it has the request. */
static void request_forwarding_doubt(struct request_instance *i, enum nats_client_result result)
{
    const char *const leader = request_forwarding_leader(i);
    const bool is_leader = leader && strcmp(leader, i->offer.host) == 0;
    const bool is_hopeless = result == NATS_CLIENT_NOBODY || i->offer.asks >= ASKS_MAX;
    if (is_hopeless && (i->gained || (leader && !is_leader)))
        request_forwarding_settle_offer(
            i, (struct journal_settlement){.verdict = JOURNAL_RETRY, .in_doubt = true});
    if (i->gained)
        request_forwarding_continue(i);
    else
        request_forwarding_pause(i, RETRY_MS);
}

static void request_forwarding_on_refusal(struct request_instance *i, struct str body)
{
    const struct str why = json_reader_pointer(body, "/why");
    const int64_t seq = i->offer.seq;
    request_forwarding_clear_offer(i);
    if (str_is(why, "\"refused\"")) {
        request_forwarding_warn(i, seq, "the host that leads it cannot read the request");
        request_forwarding_continue(i);
    } else if (i->gained) {
        request_forwarding_continue(i);
    } else {
        request_forwarding_pause(i, RETRY_MS);
    }
}

/* The question did not reach the host, and no earlier one did. A host of an earlier version does
 * not serve it: outcomes do not wait for that. */
static void request_forwarding_on_unreached(struct request_instance *i,
                                            enum nats_client_result result)
{
    request_forwarding_clear_offer(i);
    i->has_passed |= result == NATS_CLIENT_NOBODY;
    if (i->gained)
        request_forwarding_continue(i);
    else
        request_forwarding_pause(i, RETRY_MS);
}

static void request_forwarding_on_answer(void *ctx, enum nats_client_result result, struct str body)
{
    struct request_instance *const i = ctx;
    const struct str is_stored =
        result == NATS_CLIENT_REPLIED ? json_reader_pointer(body, "/ok") : (struct str){0};
    if (i->all->is_stopped) {
        request_forwarding_pause(i, RETRY_MS);
    } else if (str_is(is_stored, "true")) {
        i->given++;
        request_forwarding_settle_offer(i, (struct journal_settlement){.verdict = JOURNAL_SENT});
        request_forwarding_continue(i);
    } else if (str_is(is_stored, "false")) {
        request_forwarding_on_refusal(i, body);
    } else if (!i->offer.may_be_stored &&
               (result == NATS_CLIENT_NOBODY || result == NATS_CLIENT_UNSENT)) {
        request_forwarding_on_unreached(i, result);
    } else {
        i->offer.may_be_stored = true;
        request_forwarding_doubt(i, result);
    }
}

/* ---- instances ---- */

static struct request_instance *request_forwarding_find(const struct request_forwarding *f,
                                                        const char *name)
{
    struct request_instance *i;
    LIST_FOREACH (i, &f->instances, next)
        if (strcmp(i->name, name) == 0)
            return i;
    return NULL;
}

static struct request_instance *request_forwarding_add(struct request_forwarding *f,
                                                       const char *name)
{
    struct request_instance *i = request_forwarding_find(f, name);
    if (i)
        return i;
    const size_t len = strlen(name);
    i = xcalloc(1, sizeof *i + len + 1);
    i->all = f;
    i->timer = loop_timer_new(f->parts.loop, request_forwarding_on_timer, i);
    memcpy(i->name, name, len + 1);
    LIST_INSERT_HEAD(&f->instances, i, next);
    return i;
}

static void request_forwarding_look_at(void *ctx, const struct dispatch_instance *instance)
{
    struct request_forwarding *const f = ctx;
    struct request_instance *const i =
        instance->is_led ? request_forwarding_add(f, instance->name) : NULL;
    if (i && !i->is_pending)
        loop_timer_set(i->timer, 0);
}

void request_forwarding_update(struct request_forwarding *f)
{
    if (!f->is_stopped)
        dispatch_each_instance(f->parts.dispatch, request_forwarding_look_at, f);
}

bool request_forwarding_is_first(const struct request_forwarding *f, const char *instance)
{
    const struct request_instance *const i = request_forwarding_find(f, instance);
    return i && !i->has_passed;
}

void request_forwarding_prepare(struct request_forwarding *f, const char *instance,
                                void (*done)(void *ctx, const char *instance), void *ctx)
{
    struct request_instance *const i = request_forwarding_add(f, instance);
    if (f->is_stopped || i->gained) /* gained: done is called for the lead that began before */
        return;
    i->gained = done;
    i->gained_ctx = ctx;
    if (!i->is_pending)
        request_forwarding_on_timer(i);
}

/* ---- receiving ---- */

struct request_received {
    struct request_forwarding *all;
    struct bus_call *call;
    struct arena arena;
    const char *id;
    struct journal_moving moving;
    int64_t seq; /* of the new row; 0: this host does not lead the instance */
};

static void request_forwarding_answer(struct request_received *t, bool ok, const char *why)
{
    CLEANUP_BUF struct buf out = {0};
    buf_printf(&out, ok ? "{\"ok\":true}" : "{\"ok\":false,\"why\":\"%s\"}", why);
    bus_call_answer(t->call, (struct str){out.p, out.len});
    arena_fini(&t->arena);
    free(t);
}

static void request_forwarding_on_stored(void *ctx, enum journal_status status)
{
    struct request_received *const t = ctx;
    if (status == JOURNAL_DONE)
        CRASH_POINT("after-request-stored");
    if (status == JOURNAL_DONE && !t->all->is_stopped)
        dispatch_deliver_row(t->all->parts.dispatch, t->moving.conn, t->seq);
    request_forwarding_answer(t, status == JOURNAL_DONE || status == JOURNAL_NO_CHANGE,
                              status == JOURNAL_TOO_BIG ? "refused" : "not_kept");
}

/* This host does not lead the instance, but may have stored the request before. */
static void request_forwarding_on_offer_found(void *ctx, enum journal_status status)
{
    struct request_received *const t = ctx;
    if (status == JOURNAL_FAILED) { /* unknown: neither yes nor no */
        bus_call_answer(t->call, STR("{}"));
        arena_fini(&t->arena);
        free(t);
        return;
    }
    request_forwarding_answer(t, status == JOURNAL_DONE, "not_leader");
}

static void request_forwarding_on_send(void *ctx, struct bus_call *call, struct str body)
{
    struct request_forwarding *const f = ctx;
    struct request_received *const t = xcalloc(1, sizeof *t);
    *t = (struct request_received){.all = f, .call = call};
    if (request_message_read(body, &t->arena, &t->id, &t->moving) < 0)
        request_forwarding_answer(t, false, "refused");
    else if (!f->is_stopped && instance_leaders_leads(f->leaders, t->moving.conn))
        t->seq = journal_async_store_moving(f->parts.journal, t->id, &t->moving,
                                            request_forwarding_on_stored, t);
    else
        journal_async_find_offer(f->parts.journal, t->moving.conn, t->id,
                                 request_forwarding_on_offer_found, t);
}

/* ---- begin and end ---- */

struct request_forwarding *request_forwarding_new(const struct leading_parts *parts,
                                                  const struct instance_leaders *leaders)
{
    struct request_forwarding *const f = xcalloc(1, sizeof *f);
    f->parts = *parts;
    f->parts.host = xstrdup(parts->host);
    f->leaders = leaders;
    LIST_INIT(&f->instances);
    bus_serve(parts->bus, VERB, request_forwarding_on_send, f);
    return f;
}

void request_forwarding_stop(struct request_forwarding *f)
{
    struct request_instance *i;
    if (!f)
        return;
    f->is_stopped = true;
    LIST_FOREACH (i, &f->instances, next)
        loop_timer_set(i->timer, -1);
}

void request_forwarding_free(struct request_forwarding *f)
{
    struct request_instance *i;
    if (!f)
        return;
    while ((i = LIST_FIRST(&f->instances))) {
        LIST_REMOVE(i, next);
        loop_timer_free(i->timer);
        buf_fini(&i->message);
        free(i);
    }
    free((char *)(uintptr_t)f->parts.host);
    free(f);
}
