/* SPDX-License-Identifier: MIT
 * POST /move: moves a conversation to another host, if that host may run its agent, replies, and
 * does not drain. */
#include <stdlib.h>
#include <string.h>

#include "api/control/control_internal.h"
#include "api/shared/api_http.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "core/fleet/fleet_member.h"
#include "core/work/work_move.h"
#include "event/json/json_reader.h"
#include "event/json/json_writer.h"

struct control_move {
    struct control *control;
    struct httpd_request *request;
    char *agent, *conversation, *host;
};

static void control_move_end(struct control_move *m)
{
    control_on_reply_sent(m->control);
    free(m->agent);
    free(m->conversation);
    free(m->host);
    free(m);
}

static void control_move_refuse(struct control_move *m, int status, const char *code,
                                const char *text)
{
    api_http_error(m->request, status, code, text);
    control_move_end(m);
}

static void control_move_on_moved(void *ctx, int moved)
{
    struct control_move *const m = ctx;
    CLEANUP_BUF struct buf out = {0};
    if (moved < 0) {
        control_move_refuse(m, 503, "bus_unreachable", "The NATS servers do not answer.");
    } else if (!moved) {
        control_move_refuse(m, 404, "no_home",
                            "The conversation is bound to no host: its next turn runs where there "
                            "is a free slot.");
    } else {
        buf_add_char(&out, '{');
        jsonw_member_str(&out, "host", m->host);
        buf_add_str(&out, "}\n");
        api_http_send_json(m->request, 200, &out);
        control_move_end(m);
    }
}

static void control_move_execute(struct control_move *m, struct str state)
{
    if (str_is(json_reader_pointer(state, "/draining"), "true")) {
        control_move_refuse(m, 409, "draining", "The host drains, so it runs no more turns.");
        return;
    }
    work_move_conversation(&(struct work_move_spec){
        .link = bus_get_link(host_get_parts(m->control->server).bus),
        .agent = m->agent,
        .conversation = m->conversation,
        .host = m->host,
        .done = control_move_on_moved,
        .ctx = m,
    });
}

static void control_move_on_state(void *ctx, enum nats_client_result result, struct str state)
{
    struct control_move *const m = ctx;
    CLEANUP_BUF struct buf out = {0};
    if (result == NATS_CLIENT_REPLIED) {
        control_move_execute(m, state);
        return;
    }
    control_describe_silence(&out, m->host, result);
    control_move_refuse(m, 503, "host_unreachable", out.p);
}

static bool control_move_may_run(const struct conf_agent *agent, const char *host)
{
    for (char *const *name = agent->runners.hosts; *name; name++)
        if (strcmp(*name, host) == 0)
            return true;
    return false;
}

/* NULL: the request was refused. */
static const struct conf_agent *control_move_find_agent(struct control *c, struct httpd_request *r,
                                                        const char *agent, const char *host)
{
    CLEANUP_BUF struct buf why = {0};
    const struct conf_agent *const found = conf_agent_find(host_conf(c->server), agent);
    if (!found) {
        buf_printf(&why, "unknown agent \"%s\"", agent);
        api_http_error(r, 404, "unknown_agent", why.p);
    } else if (!control_move_may_run(found, host)) {
        buf_printf(&why, "Host \"%s\" may not run agent \"%s\" (agents.%s.hosts).", host, agent,
                   agent);
        api_http_error(r, 400, "invalid_value", why.p);
        return NULL;
    }
    return found;
}

static void control_move_begin(struct control *c, struct httpd_request *r, const char *agent,
                               const char *conversation, const char *host)
{
    const struct host_parts parts = host_get_parts(c->server);
    if (!control_move_find_agent(c, r, agent, host))
        return;
    struct control_move *const m = xmalloc(sizeof *m);
    *m = (struct control_move){c, r, xstrdup(agent), xstrdup(conversation), xstrdup(host)};
    c->asking++;
    bus_ask(parts.bus, host, FLEET_MEMBER_VERB, STR("{\"do\":\"look\"}"), control_move_on_state, m);
}

void control_handle_move(void *control, struct httpd_request *r)
{
    struct control *const c = control;
    bool bad = false;
    json_t *const body = api_http_parse_body(r);
    if (!body)
        return;
    const char *const agent = api_http_get_string(body, "agent", &bad),
                      *const conversation = api_http_get_string(body, "conversation", &bad),
                      *const host = api_http_get_string(body, "host", &bad);
    if (!host_get_parts(c->server).bus)
        api_http_error(r, 404, "no_bus", "This host is alone: the configuration has no bus.");
    else if (bad || !agent || !conversation || !host || !bus_stream_is_token(host))
        api_http_error(r, 400, "invalid_value", "agent, conversation and host are required.");
    else
        control_move_begin(c, r, agent, conversation, host);
    json_decref(body);
}
