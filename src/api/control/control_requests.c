/* SPDX-License-Identifier: MIT
 * Owns what the operator sees of the open requests of all turns, and decides on one. */
#include <stdlib.h>

#include "api/control/control_internal.h"
#include "api/shared/api_http.h"
#include "api/turns/request_api.h"
#include "base/cleanup.h"
#include "core/request/request_registry.h"
#include "event/json/json_writer.h"

static void add_request(void *ctx, const struct requests_view *v)
{
    struct buf *const out = ctx;
    if (out->p[out->len - 1] != '[')
        buf_add_char(out, ',');
    asked_add_one(out, v, v->choices);
}

static void list(const struct requests *requests, struct httpd_request *r)
{
    CLEANUP_BUF struct buf body = {0};
    buf_add_str(&body, "{\"requests\":[");
    requests_each(requests, add_request, &body);
    buf_add_str(&body, "]}\n");
    reply_json(r, 200, &body);
}

/* ---- a decision ---- */

static void answer(struct httpd_request *r, enum tc_accepted accepted, const struct buf *text)
{
    CLEANUP_BUF struct buf body = {0};
    if (accepted == TC_KNOWN) {
        reply_error(r, 409, "too_late", text->p);
    } else if (accepted != TC_COMMAND) {
        reply_error(r, 422, "refused", text->p);
    } else {
        buf_add_str(&body, "{");
        jsonw_member_str(&body, "text", text->p);
        buf_add_str(&body, "}\n");
        reply_json(r, 200, &body);
    }
}

static void decide(struct requests *requests, struct httpd_request *r, const char *user,
                   struct requests_decision *d)
{
    CLEANUP_BUF struct buf by = {0}, text = {0};
    buf_printf(&by, "operator (%s)", user);
    d->by = by.p;
    answer(r, requests_answer(requests, d, &text), &text);
}

/* {"id", "turn", "user"} and what asked_read takes. */
static void take(struct requests *requests, struct httpd_request *r, const json_t *body)
{
    bool bad = false;
    struct asked_decision asked;
    const char *const why = asked_read(&asked, body);
    const char *const user = reply_text(body, "user", &bad);
    struct requests_decision d = {
        .turn = reply_text(body, "turn", &bad),
        .request = reply_text(body, "id", &bad),
        .choice = asked.choice,
        .text = asked.text,
        .answers = asked.answers,
        .args = asked.args,
    };
    if (why)
        reply_error(r, 400, "invalid_value", why);
    else if (bad || !d.turn || !d.request || !user)
        reply_error(r, 400, "invalid_value", "id, turn and user have to be texts");
    else
        decide(requests, r, user, &d);
    asked_decision_fini(&asked);
}

void control_requests(void *control, struct httpd_request *r)
{
    const struct control *const c = control;
    struct requests *const requests = server_parts(c->server).requests;
    if (strcmp(r->method, "POST") != 0) {
        list(requests, r);
        return;
    }
    json_t *const body = reply_take_body(r);
    if (body)
        take(requests, r, body);
    json_decref(body);
}

/* ---- how many ---- */

static void count(void *ctx, const struct requests_view *v)
{
    (void)v;
    ++*(int64_t *)ctx;
}

int64_t control_count_requests(const struct control *c)
{
    int64_t n = 0;
    requests_each(server_parts(c->server).requests, count, &n);
    return n;
}
