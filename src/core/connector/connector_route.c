/* SPDX-License-Identifier: MIT
 * HTTP routes registered by an instance: forwards matching requests of the HTTP server to it, and
 * unregisters them when it stops. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "core/connector/connector_internal.h"
#include "io/http/server/httpd_error.h"

struct connector_route {
    struct connector_route *next;
    char *path; /* limit of a whole request */
};

/* Response of the host if the instance does not answer: the service shall retry. */
#define UNAVAILABLE 503
#define LATER_MS 25000 /* deadline of a response that the instance has promised */

static void connector_route_on_answered(void *arg, const struct tc_answer *answer)
{
    struct httpd_request *const request = arg;
    if (answer && answer->later) {
        httpd_extend_deadline(request, LATER_MS);
        return;
    }
    if (!answer) {
        httpd_answer_error(
            request,
            &(struct httpd_error){.status = UNAVAILABLE,
                                  .code = "instance_unavailable",
                                  .message = "The instance is not responding; try again later."});
        return;
    }
    const char *const body = answer->body ? answer->body : "";
    httpd_answer(request, answer->status ? answer->status : 200, answer->content_type,
                 (struct str){body, answer->body_len ? answer->body_len : strlen(body)});
}

static const struct tc_header *connector_route_copy_headers(struct arena *a,
                                                            const struct httpd_request *request)
{
    struct tc_header *const all = arena_alloc(a, (request->header_count + 1) * sizeof *all);
    for (size_t i = 0; i < request->header_count; i++)
        all[i] = (struct tc_header){
            .name = arena_strdup(a, request->headers[i].name),
            .value = arena_strdup(a, request->headers[i].value),
        };
    return all;
}

static size_t prefix_len(const struct connector_instance *r)
{
    return strlen("/hooks/") + strlen(r->name);
}

static void connector_route_on_request(void *arg, struct httpd_request *request)
{
    struct connector_instance *const r = arg;
    struct channel_hit *const h = xcalloc(1, sizeof *h);
    h->hit = (struct tc_hit){
        .method = arena_strdup(&h->arena, request->method),
        .path = arena_strdup(&h->arena, request->path + prefix_len(r)),
        .query = arena_strdup(&h->arena, request->query),
        .headers = connector_route_copy_headers(&h->arena, request),
        .header_count = request->header_count,
        .body = arena_memdup(&h->arena, request->body.p, request->body.len),
        .body_len = request->body.len,
    };
    h->answered = connector_route_on_answered;
    h->arg = request;
    r->channel->ops->hit(r->channel, h);
}

static bool has_route(const struct connector_instance *r, const char *whole)
{
    const struct connector_route *route = r->routes;
    while (route && strcmp(route->path, whole) != 0)
        route = route->next;
    return route;
}

/* A restarted instance registers its routes again. */
void connector_route_add(void *instance, const char *path)
{
    struct connector_instance *const r = instance;
    if (r->is_silent)
        return;
    char *const whole = xasprintf("/hooks/%s%s", r->name, path);
    if (has_route(r, whole)) {
        free(whole);
        return;
    }
    struct connector_route *const route = xmalloc(sizeof *route);
    *route = (struct connector_route){r->routes, whole};
    r->routes = route;
    httpd_route(r->services.httpd, route->path, HTTPD_ANY, connector_route_on_request, r);
}

void connector_routes_fini(struct connector_instance *r)
{
    while (r->routes) {
        struct connector_route *const route = r->routes;
        r->routes = route->next;
        httpd_unroute(r->services.httpd, route->path);
        free(route->path);
        free(route);
    }
}
