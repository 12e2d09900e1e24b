/* SPDX-License-Identifier: MIT
 * What the files of the API share: the parts of the host they speak with. */
#ifndef API_SHARED_API_INTERNAL_H
#define API_SHARED_API_INTERNAL_H

#include "api/shared/api_http.h"
#include "api/shared/auth.h"
#include "api/shared/event_stream.h"
#include "conf/conf.h"
#include "core/conversation/turn_scheduler.h"
#include "core/host/host.h"
#include "core/turnlog/turnlog.h"
#include "io/http/server/httpd.h"

struct api {
    const struct conf *conf;
    const struct server *server;
    struct server_parts host;
    struct auth *auth;
    struct feed *feeds; /* all that are being written */
    struct page *page;
    struct chat_seen *chats; /* that were asked for lately */
    struct ag_ui_legs *legs; /* of turns that asked AG-UI clients */
    struct metrics *metrics;
    struct health *health;
    struct past *past;
    struct abandoned *abandoned; /* NULL: the API ends */
};

/* Each registers its routes. */
void turns_route(struct api *a);
void ag_ui_route(struct api *a);
void chat_route(struct api *a);
void models_route(struct api *a);
void page_route(struct api *a);

/* GET /turns/ID/events, GET /turns/events */
void events_answer(struct api *a, struct httpd_request *r);
void events_answer_list(struct api *a, struct httpd_request *r);

/* What is served as files; NULL: it is not installed. */
void page_free(struct page *p);

#endif
