/* SPDX-License-Identifier: MIT
 * Passes orders to drain to this host, or to another one. */
#include <stdlib.h>
#include <string.h>

#include "api/control/control_internal.h"
#include "api/shared/api_http.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "core/fleet/fleet_member.h"
#include "event/json/json_value.h"

/* A request that waits for the other host to accept the order. */
struct control_drain {
    struct control *control;
    struct httpd_request *request;
    char *host;
};

void control_describe_silence(struct buf *out, const char *host, enum nats_client_result result)
{
    buf_printf(out, "Host \"%s\" %s.", host,
               result == NATS_CLIENT_NOBODY   ? "is not there"
               : result == NATS_CLIENT_UNSENT ? "is out of reach, because the bus is away"
                                              : "does not answer");
}

static void control_drain_on_answer(void *ctx, enum nats_client_result result, struct str body)
{
    struct control_drain *const d = ctx;
    CLEANUP_BUF struct buf out = {0};
    if (result == NATS_CLIENT_REPLIED) {
        buf_add(&out, body.p, body.len);
        api_http_send_json(d->request, 200, &out);
    } else {
        control_describe_silence(&out, d->host, result);
        api_http_error(d->request, 503, "host_unreachable", out.p);
    }
    control_on_reply_sent(d->control);
    free(d->host);
    free(d);
}

static void control_drain_forward(struct control *c, struct httpd_request *r, const char *host,
                                  struct str order)
{
    const struct host_parts parts = host_get_parts(c->server);
    CLEANUP_BUF struct buf out = {0};
    if (!host || strcmp(host, bus_get_status(parts.bus).host) == 0) {
        fleet_member_order(parts.member, order);
        fleet_member_write_reply(parts.member, &out);
        api_http_send_json(r, 200, &out);
        return;
    }
    struct control_drain *const d = xmalloc(sizeof *d);
    *d = (struct control_drain){c, r, xstrdup(host)};
    c->asking++;
    bus_ask(parts.bus, host, FLEET_MEMBER_VERB, order, control_drain_on_answer, d);
}

void control_handle_drain(void *control, struct httpd_request *r)
{
    struct control *const c = control;
    bool bad = false;
    json_t *const body = api_http_parse_body(r);
    if (!body)
        return;
    const char *const host = api_http_get_string(body, "host", &bad);
    CLEANUP_FREE char *order = json_value_text(body);
    if (!host_get_parts(c->server).bus)
        api_http_error(r, 404, "no_bus", "This host is alone: the configuration has no bus.");
    else if (bad || (host && !bus_stream_is_token(host)))
        api_http_error(r, 400, "invalid_value", "host must be the name of a host.");
    else
        control_drain_forward(c, r, host, (struct str){order, strlen(order)});
    json_decref(body);
}
