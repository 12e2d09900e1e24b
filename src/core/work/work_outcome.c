/* SPDX-License-Identifier: MIT
 * Owns what follows from the servers' answers: a publish that was refused or not answered is
 * decided by reading what is stored. */
#include "core/work/work_outcome.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "event/json/json_writer.h"

#define RETRY_MS 1000

struct work_outcome {
    struct bus_link *link;
    struct bus_origin from;
    struct buf subject, body;
    work_outcome_done *done;
    void *ctx;
    struct loop_timer *retry;
    bool awaits_reply;
};

void work_outcome_subject(struct buf *out, const struct bus_names *names, const char *kind,
                          const char *source, const char *turn)
{
    CLEANUP_BUF struct buf group = {0};
    buf_printf(&group, "%s.%s", kind, source);
    bus_stream_subject(out, names, BUS_TURNS, group.p, turn);
}

void work_outcome_remove(const struct bus_link *link, const char *kind, const char *source,
                         const char *turn)
{
    CLEANUP_BUF struct buf subject = {0}, body = {0}, filter = {0};
    buf_add_str(&subject, "$JS.API.STREAM.PURGE.");
    bus_stream_name(&subject, &link->names, BUS_TURNS);
    work_outcome_subject(&filter, &link->names, kind, source, turn);
    buf_add_char(&body, '{');
    jsonw_member_str(&body, "filter", filter.p);
    buf_add_char(&body, '}');
    nats_client_publish(link->client, &(struct nats_client_publication){
                                          .subject = subject.p, .data = {body.p, body.len}});
}

static void work_outcome_try(struct work_outcome *o);

static void work_outcome_on_read(void *ctx, enum nats_client_result result,
                                 const struct nats_client_message *m)
{
    struct work_outcome *const o = ctx;
    struct bus_origin from;
    o->awaits_reply = false;
    if (result != NATS_CLIENT_REPLIED || !m->sequence) {
        loop_timer_set(o->retry, RETRY_MS);
        return;
    }
    const bool is_own = bus_origin_read(m->data, &from) == 0 && bus_origin_equal(&from, &o->from);
    o->done(o->ctx, is_own, m->data);
}

static void work_outcome_read(struct work_outcome *o)
{
    o->awaits_reply = true;
    bus_link_read_last(o->link, BUS_TURNS, o->subject.p, work_outcome_on_read, o);
}

static void work_outcome_on_stored(void *ctx, enum nats_client_result result,
                                   const struct nats_client_message *m)
{
    struct work_outcome *const o = ctx;
    struct bus_ack ack;
    o->awaits_reply = false;
    const enum bus_link_stored stored = bus_link_read_stored(result, m, &ack);
    if (stored == BUS_LINK_STORED)
        o->done(o->ctx, true, (struct str){o->body.p, o->body.len});
    else if (stored == BUS_LINK_WRONG)
        work_outcome_read(o);
    else
        loop_timer_set(o->retry, RETRY_MS);
}

static void work_outcome_try(struct work_outcome *o)
{
    if (o->awaits_reply || !o->link->is_active)
        return;
    o->awaits_reply = true;
    bus_link_store(o->link, o->subject.p, (struct str){o->body.p, o->body.len}, 0,
                   work_outcome_on_stored, o);
}

static void work_outcome_on_retry(void *arg)
{
    struct work_outcome *const o = arg;
    loop_timer_set(o->retry, RETRY_MS);
    work_outcome_try(o);
}

struct work_outcome *work_outcome_store(struct bus_link *link, const char *source, const char *turn,
                                        const struct bus_origin *from, struct str body,
                                        work_outcome_done *done, void *ctx)
{
    return work_outcome_store_as(link, "out", source, turn, from, body, done, ctx);
}

struct work_outcome *work_outcome_store_as(struct bus_link *link, const char *kind,
                                           const char *source, const char *turn,
                                           const struct bus_origin *from, struct str body,
                                           work_outcome_done *done, void *ctx)
{
    struct work_outcome *const o = xcalloc(1, sizeof *o);
    o->link = link;
    o->from = *from;
    o->done = done;
    o->ctx = ctx;
    work_outcome_subject(&o->subject, &link->names, kind, source, turn);
    buf_add(&o->body, body.p, body.len);
    o->retry = loop_timer_new(link->loop, work_outcome_on_retry, o);
    loop_timer_set(o->retry, RETRY_MS);
    work_outcome_try(o);
    return o;
}

void work_outcome_resume(struct work_outcome *o)
{
    work_outcome_try(o);
}

void work_outcome_free(struct work_outcome *o)
{
    if (!o)
        return;
    nats_client_forget(o->link->client, o);
    loop_timer_free(o->retry);
    buf_fini(&o->subject);
    buf_fini(&o->body);
    free(o);
}
