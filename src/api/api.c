/* SPDX-License-Identifier: MIT
 * Owns the API of a host: its routes, and the state that they share. */
#include "api/api.h"

#include <stdlib.h>

#include "api/ag_ui/ag_ui_runs.h"
#include "api/bus_runs/bus_runs.h"
#include "api/health.h"
#include "api/metrics/metrics.h"
#include "api/shared/abandoned_turns.h"
#include "api/shared/api_internal.h"
#include "api/shared/chat_dedup.h"
#include "api/shared/past_turns.h"
#include "api/shared/remote_waits.h"
#include "api/turns/remote_turns.h"
#include "api/turns/request_api.h"
#include "base/alloc.h"

struct api_context *api_new(const struct conf *conf, struct host *server)
{
    const struct host_parts host = host_get_parts(server);
    if (!host.httpd)
        return NULL;
    struct api_context *const a = xcalloc(1, sizeof *a);
    a->conf = conf;
    a->server = server;
    a->host = host;
    a->auth = auth_new(&conf->http);
    a->health = health_new(a);
    a->past = past_turns_new(a);
    a->abandoned = abandoned_turns_new(a);
    turn_api_add_routes(a);
    request_api_add_routes(a);
    ag_ui_endpoint_add_routes(a);
    chat_completion_add_routes(a);
    models_add_routes(a);
    page_add_routes(a);
    a->metrics = metrics_new(a);
    a->waits = remote_waits_new(a);
    remote_turns_serve(a);
    a->runs = bus_runs_new(a);
    return a;
}

struct api_context *api_new_operator(const struct conf *conf, struct host *server,
                                     struct httpd *httpd)
{
    static const struct conf_http no_keys = {0};
    struct api_context *const a = xcalloc(1, sizeof *a);
    a->conf = conf;
    a->server = server;
    a->host = host_get_parts(server);
    a->host.httpd = httpd;
    a->is_operator = true;
    a->auth = auth_new(&no_keys);
    a->past = past_turns_new(a);
    a->abandoned = abandoned_turns_new(a);
    turn_api_add_routes(a);
    remote_turns_serve(a);
    return a;
}

void api_set_conf(struct api_context *a, const struct conf *conf)
{
    a->conf = conf;
    if (a->is_operator)
        return;
    auth_set_keys(a->auth, &conf->http);
    event_stream_end_revoked(a);
    bus_runs_subscribe(a->runs);
}

void api_drain(struct api_context *a)
{
    event_stream_drain(a);
}

void api_free(struct api_context *a)
{
    if (!a)
        return;
    remote_waits_free(a->waits);
    a->waits = NULL;
    abandoned_turns_free(a->abandoned);
    a->abandoned = NULL;
    event_stream_end_all(a);
    bus_runs_free(a->runs);
    if (!a->is_operator) {
        metrics_free(a->metrics);
        health_free(a->health);
        page_free(a->page);
    }
    past_turns_free(a->past);
    auth_free(a->auth);
    chat_dedup_free(a->chats);
    ag_ui_runs_free(a->legs);
    free(a);
}
