/* SPDX-License-Identifier: MIT
 * Owns the subscriptions and the list of runs, and refuses invalid requests before a run starts. */
#include "api/bus_runs/bus_runs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/bus_runs/bus_run.h"
#include "api/shared/api_internal.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/sys/clock.h"
#include "base/sys/log.h"
#include "base/sys/uuid.h"
#include "core/bus/bus.h"

#define QUEUE "turncast"
#define LOG_PER_MINUTE 10 /* logged requests per minute that cannot be answered */
#define SUBJECT_SHOWN 100 /* bytes of a refused subject in a log line */

/* Subscriptions of one encoding. */
struct bus_runs_service {
    struct bus_runs *runs;
    const struct bus_run_protocol *protocol;
    struct nats_client_subscription *shared, *own; /* NULL: runs are disabled */
};
enum { SERVICES = 2 };

struct bus_runs {
    struct api_context *api;
    struct nats_client *client;
    struct bus_runs_service services[SERVICES];
    struct nats_client_subscription *replies; /* status messages of the NATS servers about reply
                                               * subjects */
    struct bus_run_list runs;
    uint64_t last_id;
    char inbox[64];          /* prefix of the reply subjects of runs; the id follows */
    struct loop_timer *lost; /* until the clients of interrupted runs are informed */
    int64_t minute_ms;
    unsigned logged; /* logged in the current minute */
};

/* ---- requests ---- */

static void bus_runs_log(struct bus_runs *r, const char *why, const char *subject)
{
    char shown[SUBJECT_SHOWN + 1];
    const int64_t now = clock_mono_ms();
    if (now - r->minute_ms > 60 * 1000) {
        r->minute_ms = now;
        r->logged = 0;
    }
    if (r->logged++ >= LOG_PER_MINUTE)
        return;
    snprintf(shown, sizeof shown, "%s", subject);
    for (char *p = shown; *p; p++)
        if (*p < ' ' || *p > '~')
            *p = '?';
    log_write(LOG_WARN, "bus", "request for a run refused: %s%s%s", why, *shown ? ": " : "", shown);
}

/* Finds the permitted reply subject; NULL: none, which is logged. */
static const char *bus_runs_find_reply(struct bus_runs *r, const json_t *message,
                                       const struct nats_client_message *m)
{
    const char *const reply = bus_run_message_reply(message, m->reply);
    if (!reply)
        bus_runs_log(r, "missing reply subject", "");
    else if (!bus_run_message_may_reply(&r->api->conf->bus.runs, reply))
        bus_runs_log(r, "reply subject not permitted by bus.runs.replies", reply);
    else
        return reply;
    return NULL;
}

/* NULL if another run may start; otherwise the reason. */
static const char *bus_runs_check_room(const struct bus_runs *r, size_t len, struct buf *why)
{
    const struct conf *const conf = r->api->conf;
    if (len > (size_t)conf->http.max_body) {
        buf_printf(why, "The message is larger than the limit of %lld bytes (http.max_body).",
                   (long long)conf->http.max_body);
        return "body_too_large";
    }
    if (bus_run_count(&r->runs) >= (size_t)conf->bus.runs.max) {
        buf_printf(why,
                   "The host has the most runs at the same time that it takes, %lld "
                   "(bus.runs.max); try again later.",
                   (long long)conf->bus.runs.max);
        return "too_many_runs";
    }
    return NULL;
}

static void bus_runs_begin(struct bus_runs *r, const struct bus_run_protocol *protocol,
                           const char *reply, const struct buf *path, const struct buf *body)
{
    bus_run_begin(&(struct bus_run_spec){
        .protocol = protocol,
        .client = r->client,
        .httpd = r->api->host.httpd,
        .list = &r->runs,
        .lost = r->lost,
        .reply = reply,
        .inbox = r->inbox,
        .host = bus_get_status(r->api->host.bus).host,
        .key = r->api->conf->bus.runs.key,
        .path = path->p,
        .body = {body->p, body->len},
        .id = ++r->last_id,
    });
}

static void bus_runs_on_request(void *ctx, const struct nats_client_message *m)
{
    const struct bus_runs_service *const service = ctx;
    struct bus_runs *const r = service->runs;
    const struct bus_run_protocol *const protocol = service->protocol;
    CLEANUP_BUF struct buf why = {0}, path = {0}, body = {0};
    const char *code = bus_runs_check_room(r, m->data.len, &why);
    json_t *const message = code ? NULL : bus_run_message_parse(m->data, &why);
    const char *const reply = bus_runs_find_reply(r, message, m);
    if (!code)
        code = message ? NULL : "invalid_json";
    const char *const wrong = code ? NULL : protocol->read(message, &path, &body);
    if (reply && code)
        bus_run_refuse(r->client, protocol, reply, code, why.p);
    else if (reply && wrong)
        bus_run_refuse(r->client, protocol, reply, "invalid_value", wrong);
    else if (reply)
        bus_runs_begin(r, protocol, reply, &path, &body);
    json_decref(message);
}

/* ---- status messages of the servers ---- */

/* Status 503: nobody listens to the reply subject. Other messages at this subject are ignored. */
static void bus_runs_on_reply(void *ctx, const struct nats_client_message *m)
{
    struct bus_runs *const r = ctx;
    struct bus_run *const run =
        m->status == 503 ? bus_run_find(&r->runs, strtoull(m->subject + strlen(r->inbox), NULL, 10))
                         : NULL;
    if (run)
        bus_run_detach(run);
}

static void bus_runs_on_lost(void *arg)
{
    struct bus_runs *const r = arg;
    if (nats_client_is_connected(r->client))
        bus_run_report_lost(&r->runs);
    if (bus_run_has_any_lost(&r->runs))
        loop_timer_set(r->lost, BUS_RUN_LOST_MS);
}

static void bus_runs_on_connection(void *ctx, bool connected)
{
    struct bus_runs *const r = ctx;
    if (!connected)
        bus_run_mark_all_lost(&r->runs);
}

/* ---- begin and end ---- */

static void bus_runs_listen(struct bus_runs_service *s)
{
    struct bus_runs *const r = s->runs;
    CLEANUP_FREE char *own =
        xasprintf("%s.%s", s->protocol->subject, bus_get_status(r->api->host.bus).host);
    s->own = nats_client_subscribe(r->client, own, bus_runs_on_request, s);
    s->shared =
        nats_client_subscribe_queue(r->client, s->protocol->subject, QUEUE, bus_runs_on_request, s);
    log_write(LOG_INFO, "bus", "taking runs at %s", s->protocol->subject);
}

static void bus_runs_stop(struct bus_runs_service *s)
{
    nats_client_unsubscribe(s->shared);
    nats_client_unsubscribe(s->own);
    s->shared = s->own = NULL;
}

static void bus_runs_set(struct bus_runs_service *s, bool wanted)
{
    if (wanted && !s->shared)
        bus_runs_listen(s);
    else if (!wanted && s->shared)
        bus_runs_stop(s);
}

/* Active runs continue. */
void bus_runs_subscribe(struct bus_runs *r)
{
    if (!r)
        return;
    const struct conf_bus_runs *const conf = &r->api->conf->bus.runs;
    bus_runs_set(&r->services[0], conf->key && conf->ag_ui);
    bus_runs_set(&r->services[1], conf->key && conf->ai_sdk);
}

struct bus_runs *bus_runs_new(struct api_context *a)
{
    char id[37];
    if (!a->host.bus)
        return NULL;
    struct bus_runs *const r = xcalloc(1, sizeof *r);
    r->api = a;
    r->client = bus_get_client(a->host.bus);
    LIST_INIT(&r->runs);
    r->services[0] = (struct bus_runs_service){.runs = r, .protocol = &bus_run_ag_ui};
    r->services[1] = (struct bus_runs_service){.runs = r, .protocol = &bus_run_ai_sdk};
    uuid_make(id);
    snprintf(r->inbox, sizeof r->inbox, "_INBOX.%s.", id);
    r->lost = loop_timer_new(a->host.loop, bus_runs_on_lost, r);
    bus_watch_connection(a->host.bus, bus_runs_on_connection, r);
    CLEANUP_FREE char *replies = xasprintf("%s*", r->inbox);
    r->replies = nats_client_subscribe(r->client, replies, bus_runs_on_reply, r);
    bus_runs_subscribe(r);
    return r;
}

void bus_runs_free(struct bus_runs *r)
{
    if (!r)
        return;
    bus_watch_connection(r->api->host.bus, NULL, NULL);
    for (size_t i = 0; i < SERVICES; i++)
        bus_runs_stop(&r->services[i]);
    nats_client_unsubscribe(r->replies);
    bus_run_abandon_all(&r->runs);
    loop_timer_free(r->lost);
    free(r);
}
