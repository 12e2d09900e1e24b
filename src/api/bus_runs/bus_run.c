/* SPDX-License-Identifier: MIT
 * Owns the state of runs, and the number of messages that are not sent yet. */
#include "api/bus_runs/bus_run.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/invariant.h"
#include "base/sys/log.h"
#include "io/http/server/httpd_local.h"

#define LOST                                                                                       \
    "The connection of the host to NATS was lost, and events may be missing. Send the same run "   \
    "again to receive it from its beginning."

struct bus_run {
    LIST_ENTRY(bus_run) next;
    const struct bus_run_protocol *protocol;
    struct nats_client *client;
    const char *host;
    char *reply, *inbox; /* inbox: subject for replies to this run's messages */
    uint64_t id;
    struct loop_timer *lost;
    struct httpd_local *local; /* request to the route; NULL: no more output is expected */
    unsigned sends;            /* messages given to the connection and not confirmed as sent */
    size_t unsent;             /* bytes of these messages */
    bool in_list;
    bool beginning; /* the route is being called */
    bool gave_up;   /* the client has left, or was informed of the lost connection */
    enum bus_run_state {
        BUS_RUN_ACTIVE,
        BUS_RUN_LOST,   /* the client must be informed of the lost connection */
        BUS_RUN_ENDING, /* the output is complete, or the client has left */
    } state;
};

struct bus_run_send {
    struct bus_run *run;
    size_t len;
};

static void bus_run_free_if_over(struct bus_run *run)
{
    if (run->state != BUS_RUN_ENDING || run->sends || run->beginning)
        return;
    if (run->in_list)
        LIST_REMOVE(run, next);
    httpd_local_free(run->local);
    free(run->reply);
    free(run->inbox);
    free(run);
}

/* ---- the end ---- */

/* Reports to the route, if it is still active, that the client has left. */
static void bus_run_end(struct bus_run *run)
{
    struct httpd_local *const local = run->local;
    run->state = BUS_RUN_ENDING;
    run->local = NULL;
    httpd_local_free(local);
}

static void bus_run_mark_lost(struct bus_run *run)
{
    if (run->gave_up)
        return;
    bus_run_end(run);
    run->state = BUS_RUN_LOST;
    loop_timer_set(run->lost, BUS_RUN_LOST_MS);
}

/* ---- messages to the client ---- */

static void bus_run_set_unsent(struct bus_run *run, size_t n)
{
    run->unsent = n;
    if (run->local)
        httpd_local_set_pending_bytes(run->local, n);
}

static void bus_run_on_sent(void *ctx, bool sent)
{
    struct bus_run_send *const send = ctx;
    struct bus_run *const run = send->run;
    ASSERT(run->sends > 0 && run->unsent >= send->len);
    run->sends--;
    bus_run_set_unsent(run, run->unsent - send->len);
    free(send);
    if (!sent && run->in_list)
        bus_run_mark_lost(run);
    bus_run_free_if_over(run);
}

static void bus_run_send(struct bus_run *run, struct str event)
{
    struct bus_run_send *const send = xmalloc(sizeof *send);
    *send = (struct bus_run_send){run, event.len};
    run->sends++;
    bus_run_set_unsent(run, run->unsent + event.len);
    nats_client_send(
        run->client,
        &(struct nats_client_publication){
            .subject = run->reply, .data = event, .reply = run->inbox, .host = run->host},
        bus_run_on_sent, send);
}

static void bus_run_fail(struct bus_run *run, const char *code, const char *message)
{
    CLEANUP_BUF struct buf event = {0};
    run->protocol->error(&event, code, message);
    bus_run_end(run);
    bus_run_send(run, (struct str){event.p, event.len});
}

static void bus_run_send_split(struct bus_run *run, struct str event)
{
    const size_t max = nats_client_max_payload(run->client);
    if (!max || event.len <= max) {
        bus_run_send(run, event);
        return;
    }
    CLEANUP_BUF struct buf why = {0};
    buf_printf(&why,
               "An event of %zu bytes is larger than the limit of the NATS server, %zu bytes "
               "(max_payload).",
               event.len, max);
    log_write(LOG_WARN, "bus", "run for %s ended: %s", run->reply, why.p);
    bus_run_fail(run, "event_too_large", why.p);
}

/* ---- output of the route ---- */

static void bus_run_on_output(void *ctx, struct str bytes)
{
    struct bus_run *const run = ctx;
    struct str event;
    while (run->state == BUS_RUN_ACTIVE && bus_run_message_next(&bytes, &event))
        bus_run_send_split(run, event);
}

static void bus_run_on_ended(void *ctx)
{
    struct bus_run *const run = ctx;
    bus_run_end(run);
    bus_run_free_if_over(run);
}

/* The route answers with one complete response when it refuses the run. */
static void bus_run_on_answered(void *ctx, const struct httpd_answer *a)
{
    struct bus_run *const run = ctx;
    CLEANUP_BUF struct buf event = {0};
    bus_run_message_error(&event, run->protocol, a->body);
    bus_run_send_split(run, (struct str){event.p, event.len});
    bus_run_end(run);
}

/* ---- the connection ---- */

void bus_run_mark_all_lost(struct bus_run_list *list)
{
    struct bus_run *run;
    LIST_FOREACH (run, list, next)
        bus_run_mark_lost(run);
}

void bus_run_report_lost(struct bus_run_list *list)
{
    struct bus_run *run;
    LIST_FOREACH (run, list, next)
        if (run->state == BUS_RUN_LOST && !run->sends) {
            run->gave_up = true;
            bus_run_fail(run, "connection_lost", LOST);
        }
}

bool bus_run_has_any_lost(const struct bus_run_list *list)
{
    const struct bus_run *run;
    LIST_FOREACH (run, list, next)
        if (run->state == BUS_RUN_LOST)
            return true;
    return false;
}

void bus_run_detach(struct bus_run *run)
{
    run->gave_up = true;
    bus_run_end(run);
    bus_run_free_if_over(run);
}

/* ---- begin and end ---- */

void bus_run_begin(const struct bus_run_spec *spec)
{
    struct bus_run *const run = xcalloc(1, sizeof *run);
    run->protocol = spec->protocol;
    run->client = spec->client;
    run->host = spec->host;
    run->reply = xstrdup(spec->reply);
    run->inbox = xasprintf("%s%" PRIu64, spec->inbox, spec->id);
    run->id = spec->id;
    run->lost = spec->lost;
    run->in_list = true;
    LIST_INSERT_HEAD(spec->list, run, next);
    run->beginning = true;
    struct httpd_local *const local =
        httpd_local_request(spec->httpd, spec->path, spec->body, spec->key,
                            &(struct httpd_local_client){.answered = bus_run_on_answered,
                                                         .wrote = bus_run_on_output,
                                                         .ended = bus_run_on_ended,
                                                         .ctx = run});
    run->beginning = false;
    if (run->state == BUS_RUN_ACTIVE)
        run->local = local;
    else
        httpd_local_free(local);
    bus_run_set_unsent(run, run->unsent);
    bus_run_free_if_over(run);
}

struct bus_run *bus_run_find(const struct bus_run_list *list, uint64_t id)
{
    struct bus_run *run;
    LIST_FOREACH (run, list, next)
        if (run->id == id)
            return run;
    return NULL;
}

size_t bus_run_count(const struct bus_run_list *list)
{
    size_t n = 0;
    const struct bus_run *run;
    LIST_FOREACH (run, list, next)
        n += run->state != BUS_RUN_ENDING;
    return n;
}

void bus_run_abandon_all(struct bus_run_list *list)
{
    struct bus_run *run;
    while ((run = LIST_FIRST(list))) {
        LIST_REMOVE(run, next);
        run->in_list = false;
        bus_run_detach(run);
    }
}

void bus_run_refuse(struct nats_client *client, const struct bus_run_protocol *protocol,
                    const char *reply, const char *code, const char *message)
{
    CLEANUP_BUF struct buf event = {0};
    protocol->error(&event, code, message);
    nats_client_publish(
        client, &(struct nats_client_publication){.subject = reply, .data = {event.p, event.len}});
}
