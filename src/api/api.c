/* SPDX-License-Identifier: MIT
 * Owns the API of a host: its routes, and what they share. */
#include "api/api.h"

#include <stdlib.h>

#include "api/ag_ui/ag_ui_runs.h"
#include "api/health.h"
#include "api/metrics/metrics.h"
#include "api/shared/abandoned_turns.h"
#include "api/shared/api_internal.h"
#include "api/shared/chat_dedup.h"
#include "api/shared/past_turns.h"
#include "api/turns/request_api.h"
#include "base/alloc.h"

struct api *api_new(const struct conf *conf, struct server *server)
{
    const struct server_parts host = server_parts(server);
    if (!host.httpd)
        return NULL;
    struct api *const a = xcalloc(1, sizeof *a);
    a->conf = conf;
    a->server = server;
    a->host = host;
    a->auth = auth_new(&conf->http);
    a->health = health_new(a);
    a->past = past_new(a);
    a->abandoned = abandoned_new(a);
    turns_route(a);
    asked_route(a);
    ag_ui_route(a);
    chat_route(a);
    models_route(a);
    page_route(a);
    a->metrics = metrics_new(a);
    return a;
}

void api_set_conf(struct api *a, const struct conf *conf)
{
    a->conf = conf;
    auth_set_keys(a->auth, &conf->http);
    feed_check_keys(a);
}

void api_drain(struct api *a)
{
    feed_drain(a);
}

void api_free(struct api *a)
{
    if (!a)
        return;
    abandoned_free(a->abandoned);
    a->abandoned = NULL;
    feed_end_all(a);
    metrics_free(a->metrics);
    health_free(a->health);
    past_free(a->past);
    auth_free(a->auth);
    page_free(a->page);
    chat_seen_free(a->chats);
    ag_ui_legs_free(a->legs);
    free(a);
}
