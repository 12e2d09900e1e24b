/* SPDX-License-Identifier: MIT
 * The message of a run in the work queue: puts it there, tries again while the queue is full, and
 * removes it when its host is gone, runs no turns now, or is no longer the conversation's home. */
#include <string.h>

#include "base/cleanup.h"
#include "base/sys/clock.h"
#include "base/sys/log.h"
#include "core/work/work_internal.h"
#include "text/sentence/texts.h"

#define FULL_MS 30000 /* duration for which a full queue is tried again */

/* A full queue is tried again for a while. Then the turn ends, so that its author learns of it. */
static void work_run_on_refused(struct work_run *r, const struct bus_ack *ack)
{
    TEXTS_IN(r->notices.language);
    const int64_t now = clock_mono_ms();
    if (ack->error == BUS_TOO_MANY_MESSAGES && !r->since_ms.full) {
        r->since_ms.full = now;
        log_write(LOG_WARN, "bus", "turn %s: the work queue is full: %s", r->order.turn, ack->text);
    }
    if (ack->error == BUS_TOO_MANY_MESSAGES && now - r->since_ms.full >= FULL_MS)
        work_run_end(r, "queue_full", texts_get(TEXT_WORK_QUEUE_FULL));
    else
        work_run_retry(r);
}

static void work_run_on_queued(void *ctx, enum nats_client_result result,
                               const struct nats_client_message *m)
{
    struct work_run *const r = ctx;
    struct bus_ack ack;
    r->awaits_reply = false;
    if (r->state != RUN_QUEUEING)
        return;
    if (bus_link_read_stored(result, m, &ack) != BUS_LINK_STORED) {
        work_run_on_refused(r, &ack);
        return;
    }
    r->since_ms.full = 0;
    r->queued = ack.sequence;
    r->state = RUN_WAITING;
}

void work_run_queue(struct work_run *r)
{
    struct bus_link *const link = r->work->link;
    CLEANUP_BUF struct buf subject = {0}, body = {0};
    const struct bus_origin from = bus_link_next_origin(link);
    bus_stream_subject(&subject, &link->names, BUS_WORK, *r->target ? "host" : "any",
                       *r->target ? r->target : r->order.agent);
    work_signal_write(
        &body, &from,
        &(struct work_signal){.turn = r->order.turn,
                              .agent = r->order.agent,
                              .source = r->order.source,
                              .gateway = link->names.host,
                              .fresh = r->notices.session != SESSION_KEPT ? "true" : NULL});
    r->awaits_reply = true;
    nats_client_request(
        link->client,
        &(struct nats_client_publication){.subject = subject.p, .data = {body.p, body.len}},
        BUS_STORE_MS, work_run_on_queued, r);
}

void work_run_unqueue(struct work_run *r)
{
    CLEANUP_BUF struct buf subject = {0}, body = {0};
    buf_add_str(&subject, "$JS.API.STREAM.MSG.DELETE.");
    bus_stream_name(&subject, &r->work->link->names, BUS_WORK);
    buf_printf(&body, "{\"seq\":%llu}", (unsigned long long)r->queued);
    nats_client_publish(
        r->work->link->client,
        &(struct nats_client_publication){.subject = subject.p, .data = {body.p, body.len}});
    r->queued = 0;
    work_run_enter(r, RUN_PLACING);
}

/* ---- a move while the turn waits ---- */

static void work_run_on_home_again(void *ctx, enum nats_client_result result,
                                   const struct nats_client_message *m)
{
    struct work_run *const r = ctx;
    struct bus_kv_entry entry;
    struct bus_origin home;
    r->awaits_reply = false;
    bus_kv_read_entry(r->work->link, BUS_HOMES, result, m, &entry);
    if (r->state == RUN_WAITING && r->queued && entry.result == BUS_KV_DONE &&
        bus_origin_read(entry.value, &home) == 0 && strcmp(home.host, r->target) != 0)
        work_run_unqueue(r);
}

void work_run_read_home_again(struct work_run *r)
{
    if (r->awaits_reply)
        return;
    r->awaits_reply = true;
    bus_kv_get(r->work->link, BUS_HOMES, r->home_key.p, work_run_on_home_again, r);
}
