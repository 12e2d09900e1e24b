/* SPDX-License-Identifier: MIT
 * Lists and decides open requests for the operator. */

#include "api/control/control_internal.h"
#include "api/shared/api_http.h"
#include "api/turns/remote_turns.h"
#include "api/turns/request_api.h"
#include "core/request/request_registry.h"
#include "event/json/json_writer.h"

static void add_request(void *ctx, const struct request_view *v)
{
    struct buf *const out = ctx;
    if (out->p[out->len - 1] != '[')
        buf_add_char(out, ',');
    request_view_append_json(out, v, v->choices);
}

static bool control_requests_add_remote(void *ctx, const struct turnlog_turn *t)
{
    struct buf *const out = ctx;
    if (t->spec.host)
        remote_turns_append_requests(out, t, NULL, out->p[out->len - 1] != '[');
    return true;
}

static void control_requests_list(const struct host_parts *host, struct httpd_request *r)
{
    CLEANUP_BUF struct buf body = {0};
    buf_add_str(&body, "{\"requests\":[");
    request_each_open(host->requests, add_request, &body);
    turnlog_each_turn(host->turnlog, control_requests_add_remote, &body);
    buf_add_str(&body, "]}\n");
    api_http_send_json(r, 200, &body);
}

/* ---- a decision ---- */

static void control_requests_answer(struct httpd_request *r, enum tc_accepted accepted,
                                    const struct buf *text)
{
    CLEANUP_BUF struct buf body = {0};
    if (accepted == TC_KNOWN) {
        api_http_error(r, 409, "too_late", text->p);
    } else if (accepted != TC_COMMAND) {
        api_http_error(r, 422, "refused", text->p);
    } else {
        buf_add_str(&body, "{");
        jsonw_member_str(&body, "text", text->p);
        buf_add_str(&body, "}\n");
        api_http_send_json(r, 200, &body);
    }
}

static void control_requests_decide(struct request_registry *requests, struct httpd_request *r,
                                    const char *user, struct request_decision *d)
{
    CLEANUP_BUF struct buf by = {0}, text = {0};
    buf_printf(&by, "operator (%s)", user);
    d->by = by.p;
    control_requests_answer(r, request_answer(requests, d, &text), &text);
}

/* The host of the turn has answered. */
static void control_requests_answer_remote(struct httpd_request *r,
                                           const struct request_api_result *out)
{
    const enum tc_accepted accepted = out->came == ASKED_DONE   ? TC_COMMAND
                                      : out->came == ASKED_LATE ? TC_KNOWN
                                                                : TC_DENIED;
    control_requests_answer(r, accepted, &out->text);
}

/* Takes {"id", "turn", "user"} and the members of request_api_parse_decision. */
static void control_requests_handle_answer(const struct host_parts *host, struct httpd_request *r,
                                           const json_t *body)
{
    bool bad = false;
    struct request_api_decision asked;
    const char *const why = request_api_parse_decision(&asked, body);
    const char *const user = api_http_get_string(body, "user", &bad);
    struct request_decision d = {
        .turn = api_http_get_string(body, "turn", &bad),
        .request = api_http_get_string(body, "id", &bad),
        .choice = asked.choice,
        .text = asked.text,
        .answers = asked.answers,
        .args = asked.args,
    };
    const struct turnlog_turn *const t = d.turn ? turnlog_find_turn(host->turnlog, d.turn) : NULL;
    if (why)
        api_http_error(r, 400, "invalid_value", why);
    else if (bad || !d.turn || !d.request || !user)
        api_http_error(r, 400, "invalid_value", "id, turn and user must be strings.");
    else if (t && t->spec.host)
        remote_turns_decide(host->bus, r, t, d.request, NULL, user, &asked,
                            control_requests_answer_remote);
    else
        control_requests_decide(host->requests, r, user, &d);
    request_api_decision_fini(&asked);
}

void control_handle_requests(void *control, struct httpd_request *r)
{
    const struct control *const c = control;
    const struct host_parts host = host_get_parts(c->server);
    if (strcmp(r->method, "POST") != 0) {
        control_requests_list(&host, r);
        return;
    }
    json_t *const body = api_http_parse_body(r);
    if (body)
        control_requests_handle_answer(&host, r, body);
    json_decref(body);
}

/* ---- how many ---- */

static void control_requests_count(void *ctx, const struct request_view *v)
{
    (void)v;
    ++*(int64_t *)ctx;
}

int64_t control_count_requests(const struct control *c)
{
    int64_t n = 0;
    request_each_open(host_get_parts(c->server).requests, control_requests_count, &n);
    return n;
}
