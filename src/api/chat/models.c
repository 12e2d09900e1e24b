/* SPDX-License-Identifier: MIT
 * GET /v1/models: the configured agents as models. */
#include <string.h>

#include "api/shared/api_internal.h"
#include "event/json/json_writer.h"

#define PATH "/v1/models"

static void add_model(struct buf *out, const struct conf_agent *agent)
{
    buf_add_char(out, '{');
    jsonw_member_str(out, "id", agent->name);
    jsonw_member_str(out, "object", "model");
    jsonw_member_int(out, "created", 0);
    jsonw_member_str(out, "owned_by", "turncast");
    buf_add_char(out, '}');
}

static void on_models(void *arg, struct httpd_request *r)
{
    const struct api_context *const a = arg;
    CLEANUP_BUF struct buf body = {0};
    if (!auth_require_grant(a->auth, r, 0))
        return;
    buf_add_str(&body, "{\"object\":\"list\",\"data\":[");
    for (size_t i = 0; i < a->conf->n_agents; i++) {
        if (i)
            buf_add_char(&body, ',');
        add_model(&body, &a->conf->agents[i]);
    }
    buf_add_str(&body, "]}\n");
    api_http_send_json(r, 200, &body);
}

static void on_model(void *arg, struct httpd_request *r)
{
    const struct api_context *const a = arg;
    CLEANUP_BUF struct buf body = {0};
    if (!auth_require_grant(a->auth, r, 0))
        return;
    const char *const name = r->path + strlen(PATH "/");
    const struct conf_agent *const agent = *name ? conf_agent_find(a->conf, name) : NULL;
    if (!agent) {
        api_http_error(r, 404, "model_not_found",
                       "Unknown model; GET /v1/models lists the agents.");
        return;
    }
    add_model(&body, agent);
    buf_add_char(&body, '\n');
    api_http_send_json(r, 200, &body);
}

void models_add_routes(struct api_context *a)
{
    httpd_route(a->host.httpd, PATH, HTTPD_GET, on_models, a);
    httpd_route(a->host.httpd, PATH "/", HTTPD_GET, on_model, a);
}
