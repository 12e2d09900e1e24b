/* SPDX-License-Identifier: MIT
 * Context of the API: configuration, host parts and the state of each group of routes. */
#ifndef API_SHARED_API_INTERNAL_H
#define API_SHARED_API_INTERNAL_H

#include <sys/queue.h>

#include "api/shared/api_http.h"
#include "api/shared/auth.h"
#include "api/shared/event_stream.h"
#include "conf/conf.h"
#include "core/conversation/turn_scheduler.h"
#include "core/host/host.h"
#include "core/turnlog/turnlog.h"
#include "io/http/server/httpd.h"

struct api_context {
    const struct conf *conf;
    const struct host *server;
    struct host_parts host;
    struct auth *auth;
    bool is_operator; /* of the control socket: its clients may see and do everything */
    LIST_HEAD(, event_stream) feeds; /* open event streams */
    struct page *page;
    struct chat_dedup *chats; /* recent requests */
    struct ag_ui_legs *legs;  /* AG-UI runs of turns that asked their clients */
    struct metrics *metrics;
    struct health *health;
    struct past *past;
    struct abandoned *abandoned; /* NULL: the API shuts down */
    struct remote_waits *waits;  /* NULL: no bus */
    struct bus_runs *runs;       /* NULL: there is no bus */
};

/* Each function registers the routes of its group. */
void turn_api_add_routes(struct api_context *a);
void ag_ui_endpoint_add_routes(struct api_context *a);
void chat_completion_add_routes(struct api_context *a);
void models_add_routes(struct api_context *a);
void page_add_routes(struct api_context *a);

/* GET /turns/ID/events, GET /turns/events */
void turn_events_handle_turn(struct api_context *a, struct httpd_request *r);
void turn_events_handle_list(struct api_context *a, struct httpd_request *r);

/* The files of the web page; NULL: not installed. */
void page_free(struct page *p);

#endif
