/* SPDX-License-Identifier: MIT
 * Lists open requests and decides each once: a late decision gets the earlier one and its author,
 * and the repetition of the same decision succeeds. */
#include "api/turns/request_api.h"

#include <stdlib.h>
#include <string.h>

#include "api/shared/api_internal.h"
#include "api/turns/remote_turns.h"
#include "api/turns/turn_api.h"
#include "base/cleanup.h"
#include "event/json/json_value.h"
#include "event/json/json_writer.h"

/* ---- open requests ---- */

struct request_api_listing {
    struct buf *out;
    const char *turn;                       /* list only this turn; NULL: all visible turns */
    const struct turnlog *log;              /* to check who may see a turn */
    const struct auth_principal *principal; /* the principal who lists */
    const struct request_registry *requests;
    size_t n;
};

static struct request_decision person_of(const struct auth_principal *p, const char *turn,
                                         const char *request)
{
    return (struct request_decision){
        .turn = turn,
        .request = request,
        .by = p->name,
        .instance = CONF_PLACE_HTTP,
        .chat = p->name,
        .user = p->name,
    };
}

/* The choices that the principal may make: a JSON array, or NULL: none. Not an authorisation: each
 * decision is checked when it arrives. `choices`: offered by the request (or NULL). */
static const char *request_api_choices(const struct request_registry *r,
                                       const struct auth_principal *p, const char *turn,
                                       const char *request, const char *choices)
{
    const struct request_decision who = person_of(p, turn, request);
    if (!choices || !(p->grants & CONF_ANSWER))
        return NULL;
    switch (request_registry_bar(r, &who)) {
    case REQUESTS_ELSEWHERE:
        return NULL;
    case REQUESTS_FOUR_EYES:
        return "[{\"id\":\"deny\",\"label\":\"Deny\"}]";
    case REQUESTS_FREE:
        break;
    }
    return choices;
}

bool request_api_adapt_event(const struct request_registry *r, const struct auth_principal *p,
                             const char *turn, const struct event *ev, struct event *told)
{
    const struct tc_request *const q = &ev->u.request;
    if (ev->kind != TC_REQUEST || !q->choices)
        return false;
    const char *const choices = request_api_choices(r, p, turn, q->request_id, q->choices);
    if (choices == q->choices)
        return false;
    *told = *ev;
    told->u.meta = &told->meta;
    told->u.request.choices = choices;
    return true;
}

static bool request_api_is_listed(const struct request_api_listing *l, const struct request_view *v)
{
    if (l->turn)
        return strcmp(l->turn, v->turn) == 0;
    const struct turnlog_turn *const t = turnlog_find_turn(l->log, v->turn);
    return t && turn_api_can_see(l->principal, t);
}

static void request_api_add_to_list(void *ctx, const struct request_view *v)
{
    struct request_api_listing *const l = ctx;
    if (!request_api_is_listed(l, v))
        return;
    if (l->n++)
        buf_add_char(l->out, ',');
    else if (l->turn)
        buf_add_str(l->out, ",\"requests\":[");
    request_view_append_json(
        l->out, v, request_api_choices(l->requests, l->principal, v->turn, v->request, v->choices));
}

/* Appends requests of a turn of another host. */
static void request_api_append_remote(struct buf *out, const struct turnlog_turn *t,
                                      const struct auth_principal *p)
{
    const size_t before = out->len;
    buf_add_str(out, ",\"requests\":[");
    if (remote_turns_append_requests(out, t, p, 0))
        buf_add_char(out, ']');
    else
        out->len = before;
}

void request_api_append_turn(struct buf *out, const struct request_registry *r,
                             const struct turnlog_turn *t, const struct auth_principal *p)
{
    struct request_api_listing l = {.out = out, .turn = t->spec.id, .principal = p, .requests = r};
    if (t->spec.host) {
        request_api_append_remote(out, t, p);
        return;
    }
    request_each_open(r, request_api_add_to_list, &l);
    if (l.n)
        buf_add_char(out, ']');
}

struct request_api_search {
    const char *turn, *request;
    struct request_view *found;
    bool is;
};

static void request_api_compare(void *ctx, const struct request_view *v)
{
    struct request_api_search *const s = ctx;
    if (s->is || strcmp(v->turn, s->turn) != 0 || strcmp(v->request, s->request) != 0)
        return;
    *s->found = *v;
    s->is = true;
}

bool request_api_find(const struct request_registry *r, const char *turn, const char *request,
                      struct request_view *found)
{
    struct request_api_search s = {.turn = turn, .request = request, .found = found};
    request_each_open(r, request_api_compare, &s);
    return s.is;
}

/* ---- parsing of a decision ---- */

static const char *request_api_read_object(char **to, const json_t *body, const char *key)
{
    const json_t *const value = json_object_get(body, key);
    if (!value || json_is_null(value))
        return NULL;
    if (!json_is_object(value))
        return "answers and input must be objects.";
    *to = json_value_text(value);
    return NULL;
}

/* A single answer without an id belongs to the only question. */
static const char *read_answers(struct request_api_decision *d, const json_t *body)
{
    const char *const alone = json_string_value(json_object_get(body, "answers"));
    if (!alone)
        return request_api_read_object(&d->answers, body, "answers");
    d->text = alone;
    return NULL;
}

const char *request_api_parse_decision(struct request_api_decision *d, const json_t *body)
{
    bool bad = false;
    const char *const choice = api_http_get_string(body, "choice", &bad);
    const char *const decision = api_http_get_string(body, "decision", &bad);
    const json_t *const reason = json_object_get(body, "reason");
    *d = (struct request_api_decision){.choice = choice ? choice : decision,
                                       .text = json_string_value(reason)};
    const char *why = read_answers(d, body);
    if (!d->choice && (d->answers || json_object_get(body, "answers")))
        d->choice = "answer";
    if (!why)
        why = request_api_read_object(&d->args, body, "input");
    if (bad || (reason && !d->text && !json_is_null(reason)))
        return "choice and reason must be strings.";
    if (choice && decision && strcmp(choice, decision) != 0)
        return "choice and decision contradict each other.";
    return why || d->choice ? why : "choice is missing.";
}

void request_api_decision_fini(struct request_api_decision *d)
{
    free(d->answers);
    free(d->args);
}

/* ---- what was decided before ---- */

struct request_api_past {
    const char *request;
    bool known, over;
    struct buf decision, by, answers; /* answers: JSON, or empty */
};

static void request_api_set(struct buf *to, const char *text)
{
    buf_reset(to);
    buf_add_str(to, text ? text : "");
}

static void request_api_record_event(struct request_api_past *past, const struct event *ev)
{
    const struct tc_request *const r = &ev->u.request;
    if (ev->kind != TC_REQUEST || strcmp(r->request_id, past->request) != 0)
        return;
    past->known = true;
    past->over = strcmp(r->state, "resolved") == 0;
    request_api_set(&past->decision, r->decision);
    request_api_set(&past->by, r->by);
    request_api_set(&past->answers, r->answers);
}

static void request_api_search_events(struct turnlog *log, const char *turn,
                                      struct request_api_past *past)
{
    struct turnlog_follower *const f = turnlog_follower_new(log, turn, 0, true, NULL, NULL);
    struct turnlog_item item;
    for (enum turnlog_next_result step = TURNLOG_GAP;
         f && step != TURNLOG_WAIT && step != TURNLOG_OVER;) {
        step = turnlog_follower_next(f, &item);
        if (step == TURNLOG_EVENT)
            request_api_record_event(past, shared_event_get(item.shared));
    }
    turnlog_follower_free(f);
}

static const char *request_api_decision_word(const char *choice)
{
    return strncmp(choice, "allow", 5) == 0  ? "allow"
           : strncmp(choice, "deny", 4) == 0 ? "deny"
                                             : "answered";
}

/* A text without answers is the only member. */
static bool has_same_answers(const struct request_api_past *past,
                             const struct request_api_decision *d)
{
    json_t *const told = json_loads(past->answers.len ? past->answers.p : "null", 0, NULL);
    json_t *const given = d->answers ? json_loads(d->answers, 0, NULL) : NULL;
    const json_t *const only =
        json_object_size(told) == 1 ? json_object_iter_value(json_object_iter(told)) : NULL;
    const char *const text = json_string_value(only);
    const bool same = given ? json_equal(told, given) : d->text && text && !strcmp(text, d->text);
    json_decref(told);
    json_decref(given);
    return same;
}

static bool request_api_is_same(const struct request_api_past *past, const struct auth_principal *p,
                                const struct request_api_decision *d)
{
    if (!past->over || strcmp(past->by.p, p->name) != 0 ||
        strcmp(past->decision.p, request_api_decision_word(d->choice)) != 0)
        return false;
    return strcmp(past->decision.p, "answered") != 0 || has_same_answers(past, d);
}

/* Compares with an earlier decision: ASKED_DONE (the same), ASKED_LATE (another), ASKED_UNKNOWN
 * (not decided). d NULL: any earlier decision is another one. */
static void request_api_find_decision(const struct api_context *a, const struct auth_principal *p,
                                      const char *turn, const char *request,
                                      const struct request_api_decision *d,
                                      struct request_api_result *out)
{
    struct request_api_past past = {.request = request};
    request_api_search_events(a->host.turnlog, turn, &past);
    *out =
        (struct request_api_result){.came = !past.known                             ? ASKED_UNKNOWN
                                            : d && request_api_is_same(&past, p, d) ? ASKED_DONE
                                                                                    : ASKED_LATE};
    if (out->came == ASKED_UNKNOWN)
        buf_add_str(&out->text, "Unknown request.");
    else if (past.over)
        request_describe_closed(&out->text, past.decision.p, past.by.p);
    else
        buf_add_str(&out->text, "This request cannot be answered through this interface.");
    if (past.over) {
        out->decision = past.decision;
        out->by = past.by;
    } else {
        buf_fini(&past.decision);
        buf_fini(&past.by);
    }
    buf_fini(&past.answers);
}

void request_api_outcome_fini(struct request_api_result *out)
{
    buf_fini(&out->decision);
    buf_fini(&out->by);
    buf_fini(&out->text);
}

/* ---- deciding ---- */

static struct request_decision decision_of(const struct auth_principal *p, const char *turn,
                                           const char *request,
                                           const struct request_api_decision *d)
{
    struct request_decision decision = person_of(p, turn, request);
    decision.choice = d->choice;
    decision.text = d->text;
    decision.answers = d->answers;
    decision.args = d->args;
    return decision;
}

/* Translates the result of the registry. */
static void request_api_set_result(const struct api_context *a, const struct auth_principal *p,
                                   const struct request_decision *rd,
                                   const struct request_api_decision *d, enum tc_accepted accepted,
                                   struct request_api_result *out)
{
    out->came =
        request_registry_bar(a->host.requests, rd) == REQUESTS_FREE ? ASKED_WRONG : ASKED_BARRED;
    if (accepted == TC_KNOWN) {
        request_api_outcome_fini(out);
        request_api_find_decision(a, p, rd->turn, rd->request, d, out);
    } else if (accepted == TC_COMMAND) {
        out->came = ASKED_DONE;
        request_api_set(&out->decision, request_api_decision_word(d->choice));
        request_api_set(&out->by, p->name);
    }
}

void request_api_decide(const struct api_context *a, const struct auth_principal *p,
                        const char *turn, const char *request, const struct request_api_decision *d,
                        struct request_api_result *out)
{
    const struct request_decision decision = decision_of(p, turn, request, d);
    *out = (struct request_api_result){0};
    request_api_set_result(a, p, &decision, d,
                           request_answer(a->host.requests, &decision, &out->text), out);
}

void request_api_check(const struct api_context *a, const struct auth_principal *p,
                       const char *turn, const char *request, const struct request_api_decision *d,
                       struct request_api_result *out)
{
    const struct request_decision decision = decision_of(p, turn, request, d);
    *out = (struct request_api_result){0};
    request_api_set_result(a, p, &decision, d,
                           request_check_answer(a->host.requests, &decision, &out->text), out);
}

/* ---- routes ---- */

static void add_decision(struct buf *to, const struct request_api_result *out)
{
    buf_add_char(to, '{');
    jsonw_member_str(to, "decision", out->decision.p);
    if (out->by.len)
        jsonw_member_str(to, "by", out->by.p);
}

static void request_api_answer(struct httpd_request *r, const struct request_api_result *out)
{
    CLEANUP_BUF struct buf body = {0};
    add_decision(&body, out);
    if (out->came == ASKED_DONE) {
        buf_add_str(&body, "}\n");
        api_http_send_json(r, 200, &body);
    } else if (out->came == ASKED_LATE) {
        api_http_error_with(r, 409, "decided", out->text.p, body.len > 1 ? body.p + 1 : NULL);
    } else if (out->came == ASKED_UNKNOWN) {
        api_http_error(r, 404, "no_such_request", out->text.p);
    } else if (out->came == ASKED_BARRED) {
        api_http_error(r, 403, "not_allowed", out->text.p);
    } else {
        api_http_error(r, 400, "invalid_value", out->text.p);
    }
}

static void request_api_resolve(const struct api_context *a, struct httpd_request *r,
                                const struct auth_principal *p, const struct turnlog_turn *t,
                                const json_t *body)
{
    const char *const tail = strchr(r->path + strlen("/turns/"), '/') + strlen("/requests/");
    CLEANUP_FREE char *request = api_http_decode_segment(tail, strlen(tail));
    struct request_api_decision d;
    struct request_api_result out = {0};
    const char *const why = request_api_parse_decision(&d, body);
    if (why) {
        api_http_error(r, 400, "invalid_value", why);
    } else if (t->spec.host) {
        remote_turns_decide(a->host.bus, r, t, request, p, NULL, &d, request_api_answer);
    } else {
        request_api_decide(a, p, t->spec.id, request, &d, &out);
        request_api_answer(r, &out);
    }
    request_api_outcome_fini(&out);
    request_api_decision_fini(&d);
}

void request_api_handle_answer(struct api_context *a, struct httpd_request *r)
{
    const struct auth_principal *const p = auth_require_grant(a->auth, r, CONF_ANSWER);
    const struct turnlog_turn *const t = p ? turn_api_find_turn(a->host.turnlog, r, p) : NULL;
    json_t *const body = t ? api_http_parse_body(r) : NULL;
    if (body)
        request_api_resolve(a, r, p, t, body);
    json_decref(body);
}

static bool request_api_add_remote(void *ctx, const struct turnlog_turn *t)
{
    struct request_api_listing *const l = ctx;
    if (t->spec.host && turn_api_can_see(l->principal, t))
        l->n = remote_turns_append_requests(l->out, t, l->principal, l->n);
    return true;
}

static void on_list(void *arg, struct httpd_request *r)
{
    const struct api_context *const a = arg;
    const struct auth_principal *const p = auth_require_grant(a->auth, r, 0);
    if (!p)
        return;
    CLEANUP_BUF struct buf body = {0};
    struct request_api_listing l = {
        .out = &body, .log = a->host.turnlog, .principal = p, .requests = a->host.requests};
    buf_add_str(&body, "{\"requests\":[");
    request_each_open(a->host.requests, request_api_add_to_list, &l);
    turnlog_each_turn(a->host.turnlog, request_api_add_remote, &l);
    buf_add_str(&body, "]}\n");
    api_http_send_json(r, 200, &body);
}

void request_api_add_routes(struct api_context *a)
{
    httpd_route(a->host.httpd, "/requests", HTTPD_GET, on_list, a);
}
