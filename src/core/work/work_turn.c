/* SPDX-License-Identifier: MIT
 * Owns the states of a shared turn (work_share.h). */
#include "core/work/work_turn.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/sys/crash_point.h"
#include "base/sys/log.h"
#include "event/codec.h"
#include "event/json/json_writer.h"

#define RETRY_MS 1000

/* ---- the answer to work_share_begin ---- */

void work_turn_release(struct work_turn *head)
{
    struct work_turn *t;
    LIST_FOREACH (t, &head->share->turns, next) {
        if (t->head == head)
            t->head = NULL;
        if (t->ctx == head)
            t->done = NULL;
    }
}

/* One of the messages of the prompt cannot begin with the others, which are handed back to the
 * leader. */
static void work_turn_split(struct work_turn *head)
{
    struct work_turn *t;
    LIST_FOREACH (t, &head->share->turns, next)
        if (t->head == head)
            work_turn_hand_back(t);
    if (work_turn_was_begun(head))
        work_turn_release(head);
    else
        work_turn_hand_back(head);
}

static enum work_share_answer work_turn_find_answer(const struct work_turn *t)
{
    if (t->state == TURN_ELSEWHERE)
        return WORK_SHARE_ELSEWHERE;
    if (work_turn_was_begun(t))
        return WORK_SHARE_BEGUN;
    return t->is_split ? WORK_SHARE_ELSEWHERE : WORK_SHARE_BEGIN;
}

/* Calls `done` if it is known whether the turn may begin. */
static void work_turn_answer(struct work_turn *t)
{
    work_share_done *const done = t->done;
    const enum work_share_answer answer = work_turn_find_answer(t);
    const bool is_known = t->state >= TURN_BEGUN || (t->state == TURN_HELD && !t->claims);
    if (!done || !is_known || t->joining)
        return;
    t->done = NULL;
    if (answer != WORK_SHARE_BEGIN)
        work_turn_split(t);
    else if (t->claims)
        work_turn_release(t);
    done(t->ctx, answer, t->state == TURN_ALONE ? 0 : t->after);
}

static void work_turn_enter(struct work_turn *t, enum work_turn_state state)
{
    t->state = state;
    work_turn_go_on(t);
}

static void work_turn_retry(struct work_turn *t)
{
    loop_timer_set(t->timer, RETRY_MS);
}

void work_turn_read(struct work_turn *t, const char *kind, nats_client_on_reply *on_reply)
{
    CLEANUP_BUF struct buf subject = {0};
    t->awaits_reply = true;
    work_outcome_subject(&subject, &t->share->link->names, kind, t->source, t->id);
    bus_link_read_last(t->share->link, BUS_TURNS, subject.p, on_reply, t);
}

/* Without a connection, a turn that no other host can know begins without the servers. */
static void work_turn_on_no_answer(struct work_turn *t)
{
    const bool is_cut = !t->share->link->is_active;
    if (t->done && (t->hurries || (is_cut && t->state < TURN_HELD && t->order.len)))
        work_turn_enter(t, TURN_ALONE);
    else
        work_turn_retry(t);
}

/* ---- which host owns the turn ---- */

/* This host has delivered the outcome, and still sends the requests that follow it. */
static bool work_turn_was_delivered_here(const struct work_turn *t,
                                         const struct nats_client_message *m)
{
    struct bus_origin from;
    return t->left == WORK_LEFT_LATER && bus_origin_read(m->data, &from) == 0 &&
           strcmp(from.host, t->share->link->names.host) == 0;
}

void work_turn_tidy(struct work_turn *t)
{
    t->was_sent = false; /* nothing more is stored on the servers */
    work_turn_enter(t, TURN_ALONE);
}

/* The servers have nothing of it. */
static void work_turn_stay(struct work_turn *t)
{
    t->in_doubt |= t->was_elsewhere;
    work_turn_enter(t, TURN_ALONE);
}

static void work_turn_on_delivered_read(void *ctx, enum nats_client_result result,
                                        const struct nats_client_message *m)
{
    struct work_turn *const t = ctx;
    t->awaits_reply = false;
    if (!bus_link_is_answered(result, m))
        work_turn_on_no_answer(t);
    else if (m->sequence && work_turn_was_delivered_here(t, m))
        work_turn_tidy(t);
    else if (m->sequence)
        work_turn_enter(t, TURN_ELSEWHERE);
    else if (t->is_missing)
        work_turn_stay(t);
    else
        work_turn_enter(t, t->order.len ? TURN_STORING : TURN_READING);
}

static void work_turn_on_stored(void *ctx, enum nats_client_result result,
                                const struct nats_client_message *m)
{
    struct work_turn *const t = ctx;
    struct bus_ack ack;
    t->awaits_reply = false;
    switch (bus_link_read_stored(result, m, &ack)) {
    case BUS_LINK_STORED:
        t->after = ack.sequence;
        t->was_sent = true;
        work_turn_enter(t, TURN_HELD);
        break;
    case BUS_LINK_WRONG:
        t->was_sent = true;
        work_turn_enter(t, TURN_READING);
        break;
    case BUS_LINK_REFUSED:
        log_write(LOG_WARN, "bus",
                  "turn %s: the servers refused to store it: %s; other hosts cannot adopt it",
                  t->id, ack.text);
        work_turn_enter(t, TURN_ALONE);
        break;
    case BUS_LINK_LOST:
        t->was_sent = true;
        work_turn_on_no_answer(t);
        break;
    case BUS_LINK_UNSENT:
        work_turn_on_no_answer(t);
        break;
    }
}

static void work_turn_store(struct work_turn *t)
{
    CLEANUP_BUF struct buf subject = {0};
    struct bus_link *const link = t->share->link;
    t->awaits_reply = true;
    work_outcome_subject(&subject, &link->names, "new", t->source, t->id);
    bus_link_store(link, subject.p, (struct str){t->order.p, t->order.len}, t->after,
                   work_turn_on_stored, t);
}

static bool work_turn_has_outcome(const struct work_turn *t)
{
    return t->left && t->left != WORK_LEFT_RUNNING;
}

/* A mark older than the order that names this host is of another host, or of this host before it
 * handed the turn over. Deliveries that this host has begun since then are in its journal, unless
 * the journal was restored from a backup, and therefore lacks the outcome. */
static void work_turn_on_delivering_read(void *ctx, enum nats_client_result result,
                                         const struct nats_client_message *m)
{
    struct work_turn *const t = ctx;
    t->awaits_reply = false;
    if (!bus_link_is_answered(result, m)) {
        work_turn_on_no_answer(t);
        return;
    }
    t->in_doubt |= m->sequence && (m->sequence < t->after || !work_turn_has_outcome(t));
    work_turn_enter(t, TURN_HELD);
}

static void work_turn_on_reclaim_read(void *ctx, enum nats_client_result result,
                                      const struct nats_client_message *m)
{
    struct work_turn *const t = ctx;
    t->awaits_reply = false;
    if (!bus_link_is_answered(result, m)) {
        buf_fini(&t->order);
        work_turn_on_no_answer(t);
        return;
    }
    t->in_doubt |= m->sequence != 0;
    work_turn_enter(t, TURN_STORING);
}

/* This host leads again, and its journal has the outcome. The host that had adopted the turn has
 * not delivered it completely and cannot go on without the lead. So this host delivers from its
 * journal. */
static void work_turn_reclaim(struct work_turn *t, const struct work_order *found,
                              uint64_t sequence)
{
    struct bus_link *const link = t->share->link;
    const struct bus_origin from = bus_link_next_origin(link);
    struct work_order own = *found;
    own.gateway = link->names.host;
    work_order_write(&t->order, &from, &own);
    t->after = sequence;
    work_turn_read(t, "tell", work_turn_on_reclaim_read);
}

/* The order is stored already. If it names another host that is absent, and this host has received
 * the message, too, this host takes the turn over. */
static void work_turn_resolve_owner(struct work_turn *t, const struct work_order *found,
                                    uint64_t sequence)
{
    const struct work *const w = t->share->work;
    t->was_sent = true;
    if (strcmp(found->gateway, t->share->link->names.host) == 0) {
        t->after = sequence;
        t->message = t->message ? t->message : xstrdup(found->message);
        t->also = t->also ? t->also : xstrdup(found->also);
        work_turn_read(t, "tell", work_turn_on_delivering_read);
    } else if (t->order.len && work_hosts_absent_ms(w->hosts, found->gateway) > 0) {
        t->after = sequence;
        work_turn_enter(t, TURN_STORING);
    } else if (t->is_wanted && t->left == WORK_LEFT_OUTCOME) {
        work_turn_reclaim(t, found, sequence);
    } else {
        work_turn_enter(t, TURN_ELSEWHERE);
    }
}

static void work_turn_on_read(void *ctx, enum nats_client_result result,
                              const struct nats_client_message *m)
{
    struct work_turn *const t = ctx;
    struct arena arena = {0};
    struct work_order found;
    t->awaits_reply = false;
    if (!bus_link_is_answered(result, m)) {
        work_turn_on_no_answer(t);
    } else if (!m->sequence) { /* never stored, lost, or removed after the delivery */
        t->is_missing = !t->order.len;
        t->after = 0;
        work_turn_enter(t, TURN_ASKING);
    } else if (work_order_read(m->data, &arena, &found) == 0) {
        work_turn_resolve_owner(t, &found, m->sequence);
    } else {
        work_turn_enter(t, TURN_ALONE);
    }
    arena_fini(&arena);
}

/* ---- the claim ---- */

static void work_turn_write_claim(struct work_turn *t, uint64_t revision,
                                  nats_client_on_reply *on_reply)
{
    if (!t->claim.n)
        t->claim = bus_link_next_origin(t->share->link);
    bus_kv_put_origin(t->share->link, BUS_RUNS, t->id, &t->claim, revision, on_reply,
                      on_reply ? t : NULL);
}

void work_turn_claim_again(struct work_turn *t)
{
    work_turn_write_claim(t, 0, NULL);
}

static void work_turn_on_claimed(void *ctx, enum nats_client_result result,
                                 const struct nats_client_message *m)
{
    struct work_turn *const t = ctx;
    struct bus_kv_entry entry;
    t->awaits_reply = false;
    bus_kv_read_written(result, m, &entry);
    t->revision = entry.revision;
    if (entry.result == BUS_KV_DONE)
        work_turn_enter(t, TURN_CLAIMED);
    else if (entry.result == BUS_KV_CONFLICT || entry.result == BUS_KV_UNKNOWN)
        work_turn_enter(t, TURN_DISPUTED);
    else
        work_turn_retry(t);
}

static void work_turn_on_claim_read(void *ctx, enum nats_client_result result,
                                    const struct nats_client_message *m)
{
    struct work_turn *const t = ctx;
    struct bus_kv_entry entry;
    struct bus_origin from;
    t->awaits_reply = false;
    bus_kv_read_entry(t->share->link, BUS_RUNS, result, m, &entry);
    if (entry.result == BUS_KV_NONE) {
        t->awaits_reply = true;
        work_turn_write_claim(t, entry.revision, work_turn_on_claimed);
    } else if (entry.result != BUS_KV_DONE || bus_origin_read(entry.value, &from) < 0) {
        work_turn_retry(t);
    } else if (work_is_former_life(t->share->work, &from)) {
        work_turn_take_begun(t, &from);
    } else if (bus_origin_equal(&from, &t->claim)) {
        t->revision = entry.revision;
        work_turn_enter(t, TURN_CLAIMED);
    } else {
        work_turn_enter(t, TURN_ELSEWHERE);
    }
}

/* Another host has the turn, so the claim that this host has written must not count. */
static void work_turn_withdraw_claim(struct work_turn *t)
{
    bus_kv_delete(t->share->link, BUS_RUNS, t->id, t->revision, NULL, NULL);
    work_turn_enter(t, TURN_ELSEWHERE);
}

/* The order is missing. If there is a mark that the outcome was delivered, another host has adopted
 * and delivered the turn before the claim was written. Otherwise the servers have lost data. */
static void work_turn_on_delivery_verified(void *ctx, enum nats_client_result result,
                                           const struct nats_client_message *m)
{
    struct work_turn *const t = ctx;
    t->awaits_reply = false;
    if (!bus_link_is_answered(result, m))
        work_turn_retry(t);
    else if (m->sequence)
        work_turn_withdraw_claim(t);
    else
        work_turn_enter(t, TURN_BEGUN);
}

/* A host that adopts a turn first writes its name into the order, then reads the claim. A host that
 * begins a turn first writes the claim, then reads the order. So of two such hosts, at least one
 * sees the other. */
static void work_turn_on_verified(void *ctx, enum nats_client_result result,
                                  const struct nats_client_message *m)
{
    struct work_turn *const t = ctx;
    t->awaits_reply = false;
    if (!bus_link_is_answered(result, m)) {
        work_turn_retry(t);
    } else if (!m->sequence) {
        work_turn_read(t, "told", work_turn_on_delivery_verified);
    } else if (m->sequence != t->after) {
        work_turn_withdraw_claim(t);
    } else {
        work_turn_enter(t, TURN_BEGUN);
    }
}

/* ---- the steps ---- */

static void work_turn_send_request(struct work_turn *t)
{
    switch (t->state) {
    case TURN_ASKING:
        work_turn_read(t, "told", work_turn_on_delivered_read);
        break;
    case TURN_STORING:
        work_turn_store(t);
        break;
    case TURN_READING:
        work_turn_read(t, "new", work_turn_on_read);
        break;
    case TURN_HELD:
        if (!t->done || !t->claims)
            break;
        t->awaits_reply = true;
        work_turn_write_claim(t, 0, work_turn_on_claimed);
        break;
    case TURN_DISPUTED:
        t->awaits_reply = true;
        bus_kv_get(t->share->link, BUS_RUNS, t->id, work_turn_on_claim_read, t);
        break;
    case TURN_CLAIMED:
        work_turn_read(t, "new", work_turn_on_verified);
        break;
    case TURN_BEGUN:
    case TURN_ALONE:
    case TURN_ELSEWHERE:
        break;
    }
}

void work_turn_go_on(struct work_turn *t)
{
    work_turn_answer(t);
    if (t->awaits_reply || t->state >= TURN_BEGUN)
        return;
    if (t->share->link->is_active)
        work_turn_send_request(t);
    else
        work_turn_on_no_answer(t);
}

static void work_turn_on_timer(void *arg)
{
    work_turn_go_on(arg);
}

struct work_turn *work_turn_new(struct work_share *s, const char *id, const char *source)
{
    struct work_turn *const t = xcalloc(1, sizeof *t);
    t->share = s;
    t->id = xstrdup(id);
    t->source = xstrdup(source);
    t->look = s->look;
    t->number = ++s->count;
    t->timer = loop_timer_new(s->link->loop, work_turn_on_timer, t);
    LIST_INSERT_HEAD(&s->turns, t, next);
    return t;
}

/* Whether the servers may have a newer state of it than this host. */
static bool work_turn_may_differ(const struct work_turn *t)
{
    if (t->state == TURN_ELSEWHERE) /* that host may be gone, or the servers have lost their data */
        return t->left == WORK_LEFT_OUTCOME || t->left == WORK_LEFT_REQUESTS;
    return t->state == TURN_HELD || t->state == TURN_BEGUN ||
           (t->state == TURN_ALONE && (t->was_sent || t->in_doubt));
}

void work_turn_check(struct work_turn *t)
{
    t->is_wanted = true;
    if (t->delivered || t->done || !work_turn_may_differ(t))
        return;
    if (t->awaits_reply) /* from before this host lost the lead */
        nats_client_forget(t->share->link->client, t);
    t->awaits_reply = false;
    buf_fini(&t->order);
    t->is_missing = false;
    t->was_sent |= t->in_doubt; /* other hosts must learn of the delivery */
    t->was_elsewhere |= t->state == TURN_ELSEWHERE;
    work_turn_enter(t, TURN_ASKING);
}

bool work_turn_is_checked(const struct work_turn *t)
{
    return t->state >= TURN_HELD;
}

void work_turn_free(struct work_turn *t)
{
    LIST_REMOVE(t, next);
    work_turn_release(t);
    nats_client_forget(t->share->link->client, t);
    work_outcome_free(t->outcome);
    work_outcome_free(t->delivered);
    loop_timer_free(t->timer);
    buf_fini(&t->order);
    free(t->id);
    free(t->source);
    free(t->message);
    free(t->also);
    free(t);
}

/* ---- its end ---- */

/* The outcome stays, for hosts that still read it, and so does the mark of the delivery. */
static void work_turn_remove(const struct work_turn *t, const char *kind)
{
    work_outcome_remove(t->share->link, kind, t->source, t->id);
}

static void work_turn_on_delivered_stored(void *ctx, bool is_own, struct str body)
{
    struct work_turn *const t = ctx;
    (void)is_own;
    (void)body;
    CRASH_POINT("after-told");
    work_turn_remove(t, "new");
    work_turn_remove(t, "mem");
    work_turn_remove(t, "tell");
    work_outcome_free(t->delivered);
    t->delivered = NULL;
    if (t->left == WORK_LEFT_LATER)
        work_turn_tidy(t);
    else
        work_turn_free(t);
}

void work_turn_end(struct work_turn *t)
{
    CLEANUP_BUF struct buf body = {0};
    struct bus_link *const link = t->share->link;
    const struct bus_origin from = bus_link_next_origin(link);
    if (t->state == TURN_ELSEWHERE || (t->state == TURN_ALONE && !t->was_sent)) {
        work_turn_free(t);
        return;
    }
    CRASH_POINT("before-told");
    work_outcome_write(&body, &from, STR(""));
    t->delivered =
        work_outcome_store_as(link, "told", t->source, t->id, &from, (struct str){body.p, body.len},
                              work_turn_on_delivered_stored, t);
}

/* ---- for the next leader ---- */

static void work_turn_on_outcome(void *ctx, bool is_own, struct str body)
{
    struct work_turn *const t = ctx;
    (void)is_own;
    (void)body;
    work_outcome_free(t->outcome);
    t->outcome = NULL;
}

void work_turn_store_outcome(struct work_turn *t, const struct event *outcome)
{
    struct bus_link *const link = t->share->link;
    CLEANUP_BUF struct buf body = {0}, lines = {0};
    struct event done;
    if (t->outcome || t->state == TURN_ALONE || t->state == TURN_ELSEWHERE)
        return;
    event_init(&done, TC_DONE);
    done.meta = outcome->meta;
    done.meta.seq = outcome->meta.seq + 1;
    done.u.meta = &done.meta;
    done.u.done.reason = outcome->kind == TC_FINAL ? "completed" : "error";
    codec_encode(&lines, outcome);
    buf_add_char(&lines, '\n');
    codec_encode(&lines, &done);
    buf_add_char(&lines, '\n');
    const struct bus_origin from = bus_link_next_origin(link);
    work_outcome_write(&body, &from, (struct str){lines.p, lines.len});
    t->outcome = work_outcome_store(link, t->source, t->id, &from, (struct str){body.p, body.len},
                                    work_turn_on_outcome, t);
}

void work_turn_publish(const struct work_turn *t, const char *kind, const char *text)
{
    CLEANUP_BUF struct buf subject = {0}, body = {0};
    struct bus_link *const link = t->share->link;
    const struct bus_origin from = bus_link_next_origin(link);
    work_outcome_subject(&subject, &link->names, kind, t->source, t->id);
    buf_add_char(&body, '{');
    bus_origin_write(&body, &from);
    jsonw_member_str(&body, "text", text);
    buf_add_char(&body, '}');
    nats_client_publish(link->client, &(struct nats_client_publication){
                                          .subject = subject.p, .data = {body.p, body.len}});
}
