/* SPDX-License-Identifier: MIT
 * Encodes and decodes requests between hosts about turns. */
#include "api/turns/remote_turns.h"

#include <stdlib.h>
#include <string.h>

#include "api/shared/api_internal.h"
#include "api/turns/turn_api.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "core/bus/bus.h"
#include "event/json/json_value.h"

/* ---- a client that waits for another host ---- */

struct remote_turns_wait {
    struct httpd_request *request; /* kept until it is answered, even if the client disconnects */
    char *host;
    remote_turns_answer *answer;   /* set for a decision; otherwise the members below belong to a
                                    * cancellation */
    const struct api_context *api; /* valid as long as the bus answers */
    char *turn, *name;             /* name: of the principal */
    unsigned grants;
};

static struct remote_turns_wait *remote_turns_wait_new(struct httpd_request *r, const char *host,
                                                       remote_turns_answer *answer)
{
    struct remote_turns_wait *const w = xcalloc(1, sizeof *w);
    w->request = r;
    w->host = xstrdup(host);
    w->answer = answer;
    return w;
}

static void remote_turns_wait_free(struct remote_turns_wait *w)
{
    free(w->host);
    free(w->turn);
    free(w->name);
    free(w);
}

/* The reply as an object, owned; NULL: none, and the client got an error. */
static json_t *remote_turns_read(const struct remote_turns_wait *w, enum nats_client_result result,
                                 struct str body)
{
    CLEANUP_BUF struct buf why = {0};
    json_t *const answer =
        result == NATS_CLIENT_REPLIED ? json_loadb(body.p, body.len, 0, NULL) : NULL;
    if (json_is_object(answer))
        return answer;
    json_decref(answer);
    bus_describe_failure(&why, result, w->host);
    api_http_error(w->request, 503, "host_unreachable", why.p);
    return NULL;
}

static void remote_turns_send_request(struct bus *bus, const char *verb, json_t *body,
                                      bus_on_answer *on_answer, struct remote_turns_wait *w)
{
    char *const text = json_value_text(body);
    json_decref(body);
    bus_ask(bus, w->host, verb, (struct str){text, strlen(text)}, on_answer, w);
    free(text);
}

/* Takes ownership of the reply. */
static void remote_turns_reply(struct bus_call *call, json_t *answer)
{
    char *const text = json_value_text(answer);
    json_decref(answer);
    bus_call_answer(call, (struct str){text, strlen(text)});
    free(text);
}

/* ---- cancel ---- */

/* Answers with the turn as known here; its host will publish the new state soon. */
static void remote_turns_report_cancelled(const struct remote_turns_wait *w)
{
    const struct auth_principal p = {.name = w->name, .grants = w->grants};
    const struct turnlog_turn *const t = turnlog_find_turn(w->api->host.turnlog, w->turn);
    if (t)
        turn_api_answer(w->api, w->request, 202, t, &p);
    else
        turn_api_answer_past(w->request, NULL);
}

static void remote_turns_on_cancelled(void *ctx, enum nats_client_result result, struct str body)
{
    struct remote_turns_wait *const w = ctx;
    json_t *const answer = remote_turns_read(w, result, body);
    if (answer && json_is_true(json_object_get(answer, "cancelled")))
        remote_turns_report_cancelled(w);
    else if (answer)
        api_http_error(w->request, 409, "over", "The turn has already ended.");
    json_decref(answer);
    remote_turns_wait_free(w);
}

void remote_turns_cancel(const struct api_context *a, struct httpd_request *r,
                         const struct turnlog_turn *t, const struct auth_principal *p)
{
    struct remote_turns_wait *const w = remote_turns_wait_new(r, t->spec.host, NULL);
    w->api = a;
    w->turn = xstrdup(t->spec.id);
    w->name = xstrdup(p->name);
    w->grants = p->grants;
    remote_turns_send_request(a->host.bus, "cancel", json_pack("{s:s}", "turn", t->spec.id),
                              remote_turns_on_cancelled, w);
}

static void remote_turns_handle_cancel(void *ctx, struct bus_call *call, struct str body)
{
    const struct api_context *const a = ctx;
    json_t *const asked = json_loadb(body.p, body.len, 0, NULL);
    const char *const id = json_string_value(json_object_get(asked, "turn"));
    const struct turnlog_turn *const t = id ? turnlog_find_turn(a->host.turnlog, id) : NULL;
    const bool is_own = t && !t->spec.host;
    remote_turns_reply(
        call, json_pack("{s:b}", "cancelled", is_own && turn_api_stop(a->host.conversations, t)));
    json_decref(asked);
}

/* ---- decisions ---- */

static const char *const came_names[] = {
    [ASKED_DONE] = "done",   [ASKED_LATE] = "late",     [ASKED_UNKNOWN] = "unknown",
    [ASKED_WRONG] = "wrong", [ASKED_BARRED] = "barred",
};

static enum request_api_status remote_turns_parse_status(const char *name)
{
    size_t i = ASKED_DONE;
    while (i < ASKED_BARRED && (!name || strcmp(came_names[i], name) != 0))
        i++;
    return (enum request_api_status)i;
}

static void remote_turns_copy_member(struct buf *to, const json_t *from, const char *key)
{
    const char *const text = json_string_value(json_object_get(from, key));
    buf_add_str(to, text ? text : "");
}

static void remote_turns_on_decided(void *ctx, enum nats_client_result result, struct str body)
{
    struct remote_turns_wait *const w = ctx;
    struct request_api_result out = {0};
    json_t *const answer = remote_turns_read(w, result, body);
    if (answer) {
        out.came = remote_turns_parse_status(json_string_value(json_object_get(answer, "came")));
        remote_turns_copy_member(&out.decision, answer, "decision");
        remote_turns_copy_member(&out.by, answer, "by");
        remote_turns_copy_member(&out.text, answer, "text");
        w->answer(w->request, &out);
        request_api_outcome_fini(&out);
    }
    json_decref(answer);
    remote_turns_wait_free(w);
}

/* NULL for an absent member. */
static json_t *remote_turns_parse_object(const char *text)
{
    return text ? json_loads(text, 0, NULL) : NULL;
}

void remote_turns_decide(struct bus *bus, struct httpd_request *r, const struct turnlog_turn *t,
                         const char *request, const struct auth_principal *p, const char *user,
                         const struct request_api_decision *d, remote_turns_answer *answer)
{
    json_t *const body = json_pack(
        "{s:s, s:s, s:s, s:s*, s:o*, s:o*, s:s*, s:s*}", "turn", t->spec.id, "request", request,
        "choice", d->choice, "text", d->text, "answers", remote_turns_parse_object(d->answers),
        "args", remote_turns_parse_object(d->args), "key", user ? NULL : p->name, "operator", user);
    remote_turns_send_request(bus, "answer", body, remote_turns_on_decided,
                              remote_turns_wait_new(r, t->spec.host, answer));
}

/* `to` and four_eyes do not restrict the operator. */
static void remote_turns_decide_as_operator(const struct api_context *a, const char *turn,
                                            const char *request, const char *user,
                                            const struct request_api_decision *d,
                                            struct request_api_result *out)
{
    CLEANUP_BUF struct buf by = {0};
    buf_printf(&by, "operator (%s)", user);
    const struct request_decision decision = {.turn = turn,
                                              .request = request,
                                              .choice = d->choice,
                                              .text = d->text,
                                              .answers = d->answers,
                                              .args = d->args,
                                              .by = by.p};
    const enum tc_accepted accepted = request_answer(a->host.requests, &decision, &out->text);
    out->came = accepted == TC_COMMAND ? ASKED_DONE
                : accepted == TC_KNOWN ? ASKED_LATE
                                       : ASKED_WRONG;
}

static void remote_turns_handle_decision(const struct api_context *a, const json_t *asked,
                                         struct request_api_result *out)
{
    const char *const turn = json_string_value(json_object_get(asked, "turn"));
    const char *const request = json_string_value(json_object_get(asked, "request"));
    const char *const key = json_string_value(json_object_get(asked, "key"));
    const char *const user = json_string_value(json_object_get(asked, "operator"));
    json_t *const answers = json_object_get(asked, "answers");
    json_t *const args = json_object_get(asked, "args");
    const struct auth_principal p = {.name = key, .grants = CONF_ANSWER};
    struct request_api_decision d = {
        .choice = json_string_value(json_object_get(asked, "choice")),
        .text = json_string_value(json_object_get(asked, "text")),
        .answers = json_value_text(answers),
        .args = json_value_text(args),
    };
    out->came = ASKED_WRONG;
    if (turn && request && d.choice && user)
        remote_turns_decide_as_operator(a, turn, request, user, &d, out);
    else if (turn && request && d.choice && key)
        request_api_decide(a, &p, turn, request, &d, out);
    request_api_decision_fini(&d);
}

static void remote_turns_handle_answer(void *ctx, struct bus_call *call, struct str body)
{
    struct request_api_result out = {0};
    json_t *const asked = json_loadb(body.p, body.len, 0, NULL);
    remote_turns_handle_decision(ctx, asked, &out);
    remote_turns_reply(call,
                       json_pack("{s:s, s:s*, s:s*, s:s*}", "came", came_names[out.came],
                                 "decision", out.decision.p, "by", out.by.p, "text", out.text.p));
    request_api_outcome_fini(&out);
    json_decref(asked);
}

void remote_turns_serve(struct api_context *a)
{
    if (!a->host.bus)
        return;
    bus_serve(a->host.bus, "cancel", remote_turns_handle_cancel, a);
    bus_serve(a->host.bus, "answer", remote_turns_handle_answer, a);
}

/* ---- open requests ---- */

static void remote_turns_append_request(struct buf *out, json_t *request,
                                        const struct auth_principal *p)
{
    if (p && !(p->grants & CONF_ANSWER))
        json_object_del(request, "choices");
    char *const text = json_value_text(request);
    buf_add_str(out, text);
    free(text);
}

size_t remote_turns_append_requests(struct buf *out, const struct turnlog_turn *t,
                                    const struct auth_principal *p, size_t n)
{
    size_t i;
    json_t *request;
    json_t *const all =
        t->requests && !turnlog_turn_is_finished(t) ? json_loads(t->requests, 0, NULL) : NULL;
    json_array_foreach(all, i, request)
    {
        if (n++)
            buf_add_char(out, ',');
        remote_turns_append_request(out, request, p);
    }
    json_decref(all);
    return n;
}
