/* SPDX-License-Identifier: MIT
 * Requests messages from the queue. One request is open at a time; it ends with a message, by the
 * servers after PULL_S, or by a timer if that reply is lost. */
#include "core/bus/bus_queue.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/sys/log.h"
#include "event/json/json_writer.h"

#define SECOND INT64_C(1000000000) /* JetStream uses nanoseconds */
#define PULL_S 5
#define GUARD_MS ((PULL_S + 3) * 1000)
#define RETRY_MS 1000

struct bus_queue {
    struct bus_queue_spec spec;
    char *name, *subject, *inbox;
    struct nats_client_subscription *subscription;
    struct loop_timer *timer;
    bool is_ready;     /* the consumer exists */
    bool awaits_reply; /* the consumer is being created */
    bool is_pulling;   /* a request for a message is open */
};

/* ---- the consumer ---- */

static void bus_queue_create(struct bus_queue *q);

static void bus_queue_on_created(void *ctx, enum nats_client_result result,
                                 const struct nats_client_message *m)
{
    struct bus_queue *const q = ctx;
    struct bus_ack ack = {.error = -1};
    q->awaits_reply = false;
    if (result == NATS_CLIENT_REPLIED)
        bus_ack_read(m->data, &ack);
    q->is_ready = !ack.error;
    if (q->is_ready) {
        bus_queue_pull(q);
        return;
    }
    if (result == NATS_CLIENT_REPLIED)
        log_write(LOG_WARN, "bus",
                  "cannot create the consumer %s of the work queue: %s (%" PRId64 ")", q->name,
                  ack.text, ack.error);
    loop_timer_set(q->timer, RETRY_MS);
}

/* Creating an existing consumer with the same configuration succeeds. */
static void bus_queue_create(struct bus_queue *q)
{
    struct bus_link *const link = q->spec.link;
    CLEANUP_BUF struct buf subject = {0}, stream = {0}, body = {0};
    if (q->awaits_reply || !link->is_active)
        return;
    bus_stream_name(&stream, &link->names, BUS_WORK);
    buf_printf(&subject, "$JS.API.CONSUMER.DURABLE.CREATE.%s.%s", stream.p, q->name);
    buf_add_char(&body, '{');
    jsonw_member_str(&body, "stream_name", stream.p);
    jsonw_key(&body, "config");
    buf_add_char(&body, '{');
    jsonw_member_str(&body, "durable_name", q->name);
    jsonw_member_str(&body, "filter_subject", q->subject);
    jsonw_member_str(&body, "deliver_policy", "all");
    jsonw_member_str(&body, "ack_policy", "explicit");
    jsonw_member_int(&body, "ack_wait", BUS_QUEUE_LEASE_S * SECOND);
    jsonw_member_int(&body, "max_deliver", -1);
    jsonw_member_int(&body, "max_ack_pending", 4096);
    buf_add_str(&body, "}}");
    q->awaits_reply = true;
    nats_client_request(
        link->client,
        &(struct nats_client_publication){.subject = subject.p, .data = {body.p, body.len}},
        BUS_STORE_MS, bus_queue_on_created, q);
}

/* ---- requesting messages ---- */

void bus_queue_pull(struct bus_queue *q)
{
    struct bus_link *const link = q->spec.link;
    CLEANUP_BUF struct buf subject = {0}, stream = {0}, body = {0};
    if (!q->is_ready || q->is_pulling || !link->is_active || !q->spec.has_room(q->spec.ctx))
        return;
    bus_stream_name(&stream, &link->names, BUS_WORK);
    buf_printf(&subject, "$JS.API.CONSUMER.MSG.NEXT.%s.%s", stream.p, q->name);
    buf_printf(&body, "{\"batch\":1,\"expires\":%" PRId64 "}", PULL_S * SECOND);
    q->is_pulling = true;
    loop_timer_set(q->timer, GUARD_MS);
    nats_client_publish(link->client,
                        &(struct nats_client_publication){
                            .subject = subject.p, .reply = q->inbox, .data = {body.p, body.len}});
}

/* A ticket is "$JS.ACK.STREAM.CONSUMER.DELIVERIES.…"; later versions have two more tokens before
 * the stream. */
static unsigned bus_queue_count_deliveries(const char *ticket)
{
    unsigned dots = 0;
    for (const char *p = ticket; *p; p++)
        dots += *p == '.';
    const unsigned at = dots > 8 ? 6 : 4;
    for (unsigned i = 0; i < at && ticket; i++)
        ticket = (ticket = strchr(ticket, '.')) ? ticket + 1 : NULL;
    const unsigned long n = ticket ? strtoul(ticket, NULL, 10) : 0;
    return n > 0 && n < 1000000 ? (unsigned)n : 1;
}

/* The reply has no message: the request has expired, or the consumer no longer exists. */
static void bus_queue_on_status(struct bus_queue *q, int status)
{
    if (status == 404 || status == 408) {
        bus_queue_pull(q);
        return;
    }
    q->is_ready = status != 503 && q->is_ready;
    loop_timer_set(q->timer, RETRY_MS);
}

static void bus_queue_on_message(void *ctx, const struct nats_client_message *m)
{
    struct bus_queue *const q = ctx;
    q->is_pulling = false;
    loop_timer_set(q->timer, -1);
    if (m->status || !m->reply || strlen(m->reply) >= BUS_QUEUE_ACK_MAX) {
        bus_queue_on_status(q, m->status);
        return;
    }
    q->spec.on_item(q->spec.ctx,
                    &(struct bus_queue_item){.ticket = m->reply,
                                             .body = m->data,
                                             .deliveries = bus_queue_count_deliveries(m->reply)});
    bus_queue_pull(q);
}

static void bus_queue_on_timer(void *arg)
{
    struct bus_queue *const q = arg;
    q->is_pulling = false;
    if (q->is_ready)
        bus_queue_pull(q);
    else
        bus_queue_create(q);
}

/* ---- create and free ---- */

struct bus_queue *bus_queue_new(const struct bus_queue_spec *spec)
{
    struct bus_queue *const q = xcalloc(1, sizeof *q);
    q->spec = *spec;
    q->name = xstrdup(spec->name);
    q->subject = xstrdup(spec->subject);
    q->inbox = xasprintf("_INBOX.%s.%s", spec->link->boot, spec->name);
    q->timer = loop_timer_new(spec->link->loop, bus_queue_on_timer, q);
    q->subscription = nats_client_subscribe(spec->link->client, q->inbox, bus_queue_on_message, q);
    return q;
}

/* Open requests ended with the previous connection. */
void bus_queue_resume(struct bus_queue *q)
{
    q->is_pulling = q->is_ready = false;
    bus_queue_create(q);
}

void bus_queue_free(struct bus_queue *q)
{
    if (!q)
        return;
    nats_client_unsubscribe(q->subscription);
    nats_client_forget(q->spec.link->client, q);
    loop_timer_free(q->timer);
    free(q->name);
    free(q->subject);
    free(q->inbox);
    free(q);
}

/* ---- received messages ---- */

static void bus_queue_acknowledge(struct bus_link *l, const char *ticket, struct str word)
{
    nats_client_publish(l->client,
                        &(struct nats_client_publication){.subject = ticket, .data = word});
}

void bus_queue_extend(struct bus_link *l, const char *ticket)
{
    bus_queue_acknowledge(l, ticket, STR("+WPI"));
}

void bus_queue_release(struct bus_link *l, const char *ticket, int64_t delay_ms)
{
    CLEANUP_BUF struct buf word = {0};
    buf_printf(&word, "-NAK {\"delay\":%" PRId64 "}", delay_ms * 1000000);
    bus_queue_acknowledge(l, ticket, (struct str){word.p, word.len});
}

void bus_queue_finish(struct bus_link *l, const char *ticket, nats_client_on_reply *on_reply,
                      void *ctx)
{
    nats_client_request(l->client,
                        &(struct nats_client_publication){.subject = ticket, .data = STR("+ACK")},
                        BUS_STORE_MS, on_reply, ctx);
}
