/* SPDX-License-Identifier: MIT
 * Owns how open requests are told, and how one is decided once: what came too late learns who was
 * first, and who says the same again is told the same again. */
#include "api/turns/request_api.h"

#include <stdlib.h>
#include <string.h>

#include "api/shared/api_internal.h"
#include "api/turns/turn_api.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "event/json/json_writer.h"

/* ---- open ones ---- */

struct listing {
    struct buf *out;
    const char *turn;                  /* of that alone; NULL: of all that may be seen */
    const struct turnlog *log;         /* to look whether it may be */
    const struct principal *principal; /* who looks */
    const struct requests *requests;
    size_t n;
};

static struct requests_decision person_of(const struct principal *p, const char *turn,
                                          const char *request)
{
    return (struct requests_decision){
        .turn = turn,
        .request = request,
        .by = p->name,
        .instance = CONF_PLACE_HTTP,
        .chat = p->name,
        .user = p->name,
    };
}

const char *asked_choices(const struct requests *r, const struct principal *p, const char *turn,
                          const char *request, const char *choices)
{
    const struct requests_decision who = person_of(p, turn, request);
    if (!choices || !(p->grants & CONF_ANSWER))
        return NULL;
    switch (requests_bar(r, &who)) {
    case REQUESTS_ELSEWHERE:
        return NULL;
    case REQUESTS_FOUR_EYES:
        return "[{\"id\":\"deny\",\"label\":\"Deny\"}]";
    case REQUESTS_FREE:
        break;
    }
    return choices;
}

bool asked_tell(const struct requests *r, const struct principal *p, const char *turn,
                const struct event *ev, struct event *told)
{
    const struct tc_request *const q = &ev->u.request;
    if (ev->kind != TC_REQUEST || !q->choices)
        return false;
    const char *const choices = asked_choices(r, p, turn, q->request_id, q->choices);
    if (choices == q->choices)
        return false;
    *told = *ev;
    told->u.meta = &told->meta;
    told->u.request.choices = choices;
    return true;
}

void asked_add_one(struct buf *out, const struct requests_view *v, const char *choices)
{
    buf_add_char(out, '{');
    jsonw_member_str(out, "id", v->request);
    jsonw_member_str(out, "turn", v->turn);
    jsonw_member_str(out, "agent", v->agent);
    jsonw_member_str(out, "conversation", v->conversation);
    jsonw_member_str(out, "kind", v->kind);
    jsonw_member_str(out, "tool", v->shown->tool);
    jsonw_member_str(out, "subject", v->shown->subject);
    jsonw_member_str(out, "preview", v->shown->preview);
    jsonw_member_str(out, "message", v->shown->message);
    jsonw_member_str(out, "reason", v->shown->reason);
    jsonw_member_json(out, "args", v->shown->args);
    jsonw_member_json(out, "questions", v->shown->questions);
    jsonw_member_json(out, "choices", choices);
    jsonw_member_json(out, "to", v->to);
    jsonw_member_int(out, "opened_ms", v->opened_ms);
    if (v->expires_ms)
        jsonw_member_int(out, "expires_ms", v->expires_ms);
    buf_add_char(out, '}');
}

static bool is_listed(const struct listing *l, const struct requests_view *v)
{
    if (l->turn)
        return strcmp(l->turn, v->turn) == 0;
    const struct turnlog_turn *const t = turnlog_find(l->log, v->turn);
    return t && turns_may_see(l->principal, t);
}

static void add_to_list(void *ctx, const struct requests_view *v)
{
    struct listing *const l = ctx;
    if (!is_listed(l, v))
        return;
    if (l->n++)
        buf_add_char(l->out, ',');
    else if (l->turn)
        buf_add_str(l->out, ",\"requests\":[");
    asked_add_one(l->out, v,
                  asked_choices(l->requests, l->principal, v->turn, v->request, v->choices));
}

void asked_add(struct buf *out, const struct requests *r, const char *turn,
               const struct principal *p)
{
    struct listing l = {.out = out, .turn = turn, .principal = p, .requests = r};
    requests_each(r, add_to_list, &l);
    if (l.n)
        buf_add_char(out, ']');
}

struct search {
    const char *turn, *request;
    struct requests_view *found;
    bool is;
};

static void compare(void *ctx, const struct requests_view *v)
{
    struct search *const s = ctx;
    if (s->is || strcmp(v->turn, s->turn) != 0 || strcmp(v->request, s->request) != 0)
        return;
    *s->found = *v;
    s->is = true;
}

bool asked_find(const struct requests *r, const char *turn, const char *request,
                struct requests_view *found)
{
    struct search s = {.turn = turn, .request = request, .found = found};
    requests_each(r, compare, &s);
    return s.is;
}

/* ---- a decision, as it is read ---- */

static const char *read_object(char **to, const json_t *body, const char *key)
{
    const json_t *const value = json_object_get(body, key);
    if (!value || json_is_null(value))
        return NULL;
    if (!json_is_object(value))
        return "answers and input have to be objects";
    *to = json_dumps(value, JSON_COMPACT);
    return NULL;
}

/* One answer without a name is that to the only question. */
static const char *read_answers(struct asked_decision *d, const json_t *body)
{
    const char *const alone = json_string_value(json_object_get(body, "answers"));
    if (!alone)
        return read_object(&d->answers, body, "answers");
    d->text = alone;
    return NULL;
}

const char *asked_read(struct asked_decision *d, const json_t *body)
{
    bool bad = false;
    const char *const choice = reply_text(body, "choice", &bad);
    const char *const decision = reply_text(body, "decision", &bad);
    const json_t *const reason = json_object_get(body, "reason");
    *d = (struct asked_decision){.choice = choice ? choice : decision,
                                 .text = json_string_value(reason)};
    const char *why = read_answers(d, body);
    if (!d->choice && (d->answers || json_object_get(body, "answers")))
        d->choice = "answer";
    if (!why)
        why = read_object(&d->args, body, "input");
    if (bad || (reason && !d->text && !json_is_null(reason)))
        return "choice and reason have to be texts";
    if (choice && decision && strcmp(choice, decision) != 0)
        return "choice and decision are the same thing, and say different things";
    return why || d->choice ? why : "choice is missing";
}

void asked_decision_fini(struct asked_decision *d)
{
    free(d->answers);
    free(d->args);
}

/* ---- what was decided before ---- */

struct past {
    const char *request;
    bool known, over;
    struct buf decision, by, answers; /* answers: JSON, or nothing */
};

static void set(struct buf *to, const char *text)
{
    buf_reset(to);
    buf_add_str(to, text ? text : "");
}

static void see(struct past *past, const struct event *ev)
{
    const struct tc_request *const r = &ev->u.request;
    if (ev->kind != TC_REQUEST || strcmp(r->request_id, past->request) != 0)
        return;
    past->known = true;
    past->over = strcmp(r->state, "resolved") == 0;
    set(&past->decision, r->decision);
    set(&past->by, r->by);
    set(&past->answers, r->answers);
}

static void ignore(void *ctx)
{
    (void)ctx;
}

static void look_back(struct turnlog *log, const char *turn, struct past *past)
{
    struct turnlog_follower *const f = turnlog_follow(log, turn, 0, true, ignore, NULL);
    struct turnlog_item item;
    for (enum turnlog_step step = TURNLOG_GAP;
         f && step != TURNLOG_LATER && step != TURNLOG_OVER;) {
        step = turnlog_next(f, &item);
        if (step == TURNLOG_EVENT)
            see(past, event_box_get(item.box));
    }
    turnlog_unfollow(f);
}

static const char *word_for(const char *choice)
{
    return strncmp(choice, "allow", 5) == 0  ? "allow"
           : strncmp(choice, "deny", 4) == 0 ? "deny"
                                             : "answered";
}

/* A text alone is the only member. */
static bool has_same_answers(const struct past *past, const struct asked_decision *d)
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

static bool is_same(const struct past *past, const struct principal *p,
                    const struct asked_decision *d)
{
    if (!past->over || strcmp(past->by.p, p->name) != 0 ||
        strcmp(past->decision.p, word_for(d->choice)) != 0)
        return false;
    return strcmp(past->decision.p, "answered") != 0 || has_same_answers(past, d);
}

void asked_look(const struct api *a, const struct principal *p, const char *turn,
                const char *request, const struct asked_decision *d, struct asked_outcome *out)
{
    struct past past = {.request = request};
    look_back(a->host.turnlog, turn, &past);
    *out = (struct asked_outcome){.came = !past.known                 ? ASKED_UNKNOWN
                                          : d && is_same(&past, p, d) ? ASKED_DONE
                                                                      : ASKED_LATE};
    if (out->came == ASKED_UNKNOWN)
        buf_add_str(&out->text, "there is no such request");
    else if (past.over)
        buf_printf(&out->text, "this was decided before: %s%s%s", past.decision.p,
                   past.by.len ? " by " : "", past.by.p);
    else
        buf_add_str(&out->text, "this cannot be answered here");
    if (past.over) {
        out->decision = past.decision;
        out->by = past.by;
    } else {
        buf_fini(&past.decision);
        buf_fini(&past.by);
    }
    buf_fini(&past.answers);
}

void asked_outcome_fini(struct asked_outcome *out)
{
    buf_fini(&out->decision);
    buf_fini(&out->by);
    buf_fini(&out->text);
}

/* ---- deciding ---- */

static struct requests_decision decision_of(const struct principal *p, const char *turn,
                                            const char *request, const struct asked_decision *d)
{
    struct requests_decision decision = person_of(p, turn, request);
    decision.choice = d->choice;
    decision.text = d->text;
    decision.answers = d->answers;
    decision.args = d->args;
    return decision;
}

/* What the registry made of it. */
static void come(const struct api *a, const struct principal *p, const struct requests_decision *rd,
                 const struct asked_decision *d, enum tc_accepted accepted,
                 struct asked_outcome *out)
{
    out->came = requests_bar(a->host.requests, rd) == REQUESTS_FREE ? ASKED_WRONG : ASKED_BARRED;
    if (accepted == TC_KNOWN) {
        asked_outcome_fini(out);
        asked_look(a, p, rd->turn, rd->request, d, out);
    } else if (accepted == TC_COMMAND) {
        out->came = ASKED_DONE;
        set(&out->decision, word_for(d->choice));
        set(&out->by, p->name);
    }
}

void asked_decide(const struct api *a, const struct principal *p, const char *turn,
                  const char *request, const struct asked_decision *d, struct asked_outcome *out)
{
    const struct requests_decision decision = decision_of(p, turn, request, d);
    *out = (struct asked_outcome){0};
    come(a, p, &decision, d, requests_answer(a->host.requests, &decision, &out->text), out);
}

void asked_check(const struct api *a, const struct principal *p, const char *turn,
                 const char *request, const struct asked_decision *d, struct asked_outcome *out)
{
    const struct requests_decision decision = decision_of(p, turn, request, d);
    *out = (struct asked_outcome){0};
    come(a, p, &decision, d, requests_check(a->host.requests, &decision, &out->text), out);
}

/* ---- what is asked for ---- */

static void add_decision(struct buf *to, const struct asked_outcome *out)
{
    buf_add_char(to, '{');
    jsonw_member_str(to, "decision", out->decision.p);
    if (out->by.len)
        jsonw_member_str(to, "by", out->by.p);
}

static void answer(struct httpd_request *r, const struct asked_outcome *out)
{
    CLEANUP_BUF struct buf body = {0};
    add_decision(&body, out);
    if (out->came == ASKED_DONE) {
        buf_add_str(&body, "}\n");
        reply_json(r, 200, &body);
    } else if (out->came == ASKED_LATE) {
        reply_error_with(r, 409, "decided", out->text.p, body.len > 1 ? body.p + 1 : NULL);
    } else if (out->came == ASKED_UNKNOWN) {
        reply_error(r, 404, "no_such_request", out->text.p);
    } else if (out->came == ASKED_BARRED) {
        reply_error(r, 403, "not_allowed", out->text.p);
    } else {
        reply_error(r, 400, "invalid_value", out->text.p);
    }
}

static void decide(const struct api *a, struct httpd_request *r, const struct principal *p,
                   const char *turn, const json_t *body)
{
    const char *const tail = strchr(r->path + strlen("/turns/"), '/') + strlen("/requests/");
    CLEANUP_FREE char *request = reply_decode(tail, strlen(tail));
    struct asked_decision d;
    struct asked_outcome out = {0};
    const char *const why = asked_read(&d, body);
    if (why) {
        reply_error(r, 400, "invalid_value", why);
    } else {
        asked_decide(a, p, turn, request, &d, &out);
        answer(r, &out);
    }
    asked_outcome_fini(&out);
    asked_decision_fini(&d);
}

void asked_answer(struct api *a, struct httpd_request *r)
{
    const struct principal *const p = auth_demand(a->auth, r, CONF_ANSWER);
    const struct turnlog_turn *const t = p ? turns_take(a->host.turnlog, r, p) : NULL;
    json_t *const body = t ? reply_take_body(r) : NULL;
    if (body)
        decide(a, r, p, t->spec.id, body);
    json_decref(body);
}

static void on_list(void *arg, struct httpd_request *r)
{
    const struct api *const a = arg;
    const struct principal *const p = auth_demand(a->auth, r, 0);
    if (!p)
        return;
    CLEANUP_BUF struct buf body = {0};
    struct listing l = {
        .out = &body, .log = a->host.turnlog, .principal = p, .requests = a->host.requests};
    buf_add_str(&body, "{\"requests\":[");
    requests_each(a->host.requests, add_to_list, &l);
    buf_add_str(&body, "]}\n");
    reply_json(r, 200, &body);
}

void asked_route(struct api *a)
{
    httpd_route(a->host.httpd, "/requests", HTTPD_GET, on_list, a);
}
