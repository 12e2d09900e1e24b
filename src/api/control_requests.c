/* SPDX-License-Identifier: MIT
 * Owns what the operator sees of the open requests of all turns, and decides on one. */
#include <stdlib.h>

#include "api/control_impl.h"
#include "api/reply.h"
#include "base/cleanup.h"
#include "core/requests.h"
#include "event/jsonw.h"

static void add_request(void *ctx, const struct requests_view *v)
{
    struct buf *const out = ctx;
    buf_add_str(out, out->p[out->len - 1] == '[' ? "{" : ",{");
    jsonw_member_str(out, "id", v->request);
    jsonw_member_str(out, "turn", v->turn);
    jsonw_member_str(out, "agent", v->agent);
    jsonw_member_str(out, "conversation", v->conversation);
    jsonw_member_str(out, "kind", v->kind);
    jsonw_member_str(out, "tool", v->tool);
    jsonw_member_str(out, "subject", v->subject);
    jsonw_member_str(out, "message", v->message);
    jsonw_member_json(out, "questions", v->questions);
    jsonw_member_json(out, "choices", v->choices);
    jsonw_member_json(out, "to", v->to);
    jsonw_member_int(out, "opened_ms", v->opened_ms);
    if (v->expires_ms)
        jsonw_member_int(out, "expires_ms", v->expires_ms);
    buf_add_str(out, "}");
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

static char *object_text(const json_t *body, const char *key, bool *bad)
{
    const json_t *const value = json_object_get(body, key);
    *bad |= value && !json_is_object(value);
    return json_is_object(value) ? json_dumps(value, JSON_COMPACT) : NULL;
}

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

/* {"id", "turn", "user", "choice", "reason"?, "answers"?, "input"?} */
static void decide(struct requests *requests, struct httpd_request *r, const json_t *body)
{
    bool bad = false;
    CLEANUP_FREE char *answers = object_text(body, "answers", &bad);
    CLEANUP_FREE char *input = object_text(body, "input", &bad);
    CLEANUP_BUF struct buf by = {0}, text = {0};
    const char *const user = reply_text(body, "user", &bad);
    struct requests_decision d = {
        .turn = reply_text(body, "turn", &bad),
        .request = reply_text(body, "id", &bad),
        .choice = reply_text(body, "choice", &bad),
        .text = reply_text(body, "reason", &bad),
        .answers = answers,
        .args = input,
    };
    if (bad || !d.turn || !d.request || !d.choice || !user) {
        reply_error(r, 400, "invalid_value",
                    "id, turn, user and choice have to be texts, as reason "
                    "when it is there; answers and input objects");
        return;
    }
    buf_printf(&by, "operator (%s)", user);
    d.by = by.p;
    answer(r, requests_answer(requests, &d, &text), &text);
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
        decide(requests, r, body);
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
