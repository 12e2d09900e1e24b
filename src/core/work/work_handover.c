/* SPDX-License-Identifier: MIT
 * Hands a shared turn over to the host that leads its instance. The journal keeps the rows of the
 * turn until the servers know that another host has delivered it. Loop thread only. */
#include <string.h>

#include "base/cleanup.h"
#include "base/sys/log.h"
#include "core/work/work_turn.h"

#define CHECK_LOOKS 10 /* looks of work_share between two reads whether it is delivered */

/* The stored order names no host now, so the leader adopts the turn. The leader makes requests of
 * its own from the stored outcome. Without one, it learns from the claim that the turn was
 * interrupted on this host. */
static void work_turn_on_handed_over(void *ctx, enum nats_client_result result,
                                     const struct nats_client_message *m)
{
    struct work_turn *const t = ctx;
    struct bus_ack ack;
    t->awaits_reply = false;
    if (bus_link_read_stored(result, m, &ack) == BUS_LINK_STORED)
        t->state = TURN_ELSEWHERE;
}

static void work_turn_on_order_read(void *ctx, enum nats_client_result result,
                                    const struct nats_client_message *m)
{
    struct work_turn *const t = ctx;
    struct bus_link *const link = t->share->link;
    CLEANUP_BUF struct buf subject = {0}, body = {0};
    struct arena arena = {0};
    struct work_order order;
    t->awaits_reply = false;
    if (!bus_link_is_answered(result, m))
        return;
    if (!m->sequence || work_order_read(m->data, &arena, &order) < 0 ||
        strcmp(order.gateway, link->names.host) != 0) {
        t->state = TURN_ELSEWHERE; /* adopted, delivered or lost: work_turn_check_delivered */
    } else {
        const struct bus_origin from = bus_link_next_origin(link);
        order.gateway = WORK_SHARE_NOBODY;
        work_order_write(&body, &from, &order);
        work_outcome_subject(&subject, &link->names, "new", t->source, t->id);
        t->awaits_reply = true;
        bus_link_store(link, subject.p, (struct str){body.p, body.len}, m->sequence,
                       work_turn_on_handed_over, t);
    }
    arena_fini(&arena);
}

static void work_turn_on_outcome_read(void *ctx, enum nats_client_result result,
                                      const struct nats_client_message *m)
{
    struct work_turn *const t = ctx;
    t->awaits_reply = false;
    if (bus_link_is_answered(result, m))
        work_turn_read(t, "new", work_turn_on_order_read);
}

void work_turn_hand_back(struct work_turn *t)
{
    if (t->state == TURN_ELSEWHERE || t->state == TURN_ALONE)
        return;
    if (t->revision)
        bus_kv_delete(t->share->link, BUS_RUNS, t->id, t->revision, NULL, NULL);
    t->revision = 0;
    t->state = TURN_ELSEWHERE;
    if (t->share->link->is_active)
        work_turn_read(t, "new", work_turn_on_order_read);
}

/* A host stores the mark of a delivered turn before it removes the order. So if two reads find
 * neither, the servers have lost their data, and only this host is known to have the outcome. */
static void work_turn_on_missing_read(void *ctx, enum nats_client_result result,
                                      const struct nats_client_message *m)
{
    struct work_turn *const t = ctx;
    const bool is_missing = bus_link_is_answered(result, m) && !m->sequence;
    t->awaits_reply = false;
    if (is_missing && t->is_missing) {
        log_write(LOG_WARN, "bus", "turn %s: missing on the servers; this host keeps its outcome",
                  t->id);
        t->in_doubt = true;
        work_turn_tidy(t);
    }
    t->is_missing = is_missing;
}

static void work_turn_on_delivered_elsewhere(void *ctx, enum nats_client_result result,
                                             const struct nats_client_message *m)
{
    struct work_turn *const t = ctx;
    t->awaits_reply = false;
    if (!bus_link_is_answered(result, m))
        return;
    if (m->sequence)
        journal_async_remove_turn(t->share->spec.journal, t->id, NULL, NULL);
    else
        work_turn_read(t, "new", work_turn_on_missing_read);
}

/* Removes the rows of the journal once the host that has adopted the turn has delivered it. */
static void work_turn_check_delivered(struct work_turn *t)
{
    if (t->share->look < t->check_look)
        return;
    t->check_look = t->share->look + CHECK_LOOKS;
    work_turn_read(t, "told", work_turn_on_delivered_elsewhere);
}

void work_turn_hand_over(struct work_turn *t)
{
    const bool is_own = t->state == TURN_HELD || t->state == TURN_BEGUN;
    if (t->awaits_reply || t->done || !t->share->link->is_active)
        return; /* `done`: this host makes the requests when it leads again */
    t->is_wanted = false;
    if (t->state == TURN_ELSEWHERE)
        work_turn_check_delivered(t);
    else if (is_own && !t->outcome)
        work_turn_read(t, "out", work_turn_on_outcome_read);
}
