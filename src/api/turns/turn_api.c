/* SPDX-License-Identifier: MIT
 * Routes of /turns: list, show, start and cancel turns. */
#include "api/turns/turn_api.h"

#include <stdlib.h>
#include <string.h>

#include "api/shared/api_internal.h"
#include "api/shared/past_turns.h"
#include "api/turns/remote_turns.h"
#include "api/turns/request_api.h"
#include "api/turns/turn_instances.h"
#include "base/alloc.h"
#include "base/bytes/utf8.h"
#include "base/cleanup.h"
#include "base/sys/uuid.h"
#include "core/settings/visibility_command.h"
#include "core/turn/turn_result.h"
#include "event/json/json_writer.h"
#include "io/http/server/httpd_error.h"

#define NO_SUCH_TURN                                                                               \
    "Unknown turn, or its events have been deleted; GET /turns/ID returns the outcome of a turn."
#define LIST_DEFAULT 100
#define LIST_MAX 1000
#define TASK_BYTES ((size_t)400)
#define KEY_BYTES 200 /* longest id or name given by a client */

/* ---- a turn ---- */

static void turn_api_add_time(struct buf *out, const char *key, int64_t ms)
{
    if (ms)
        jsonw_member_int(out, key, ms);
}

void turn_api_append_json(struct buf *out, const struct turnlog_turn *t,
                          const struct request_registry *requests, const struct auth_principal *p)
{
    const struct turnlog_spec *const s = &t->spec;
    const char *const task = s->task ? s->task : "";
    buf_add_char(out, '{');
    jsonw_member_str(out, "id", s->id);
    jsonw_member_str(out, "agent", s->agent);
    jsonw_member_str(out, "conversation", s->conversation);
    jsonw_member_str(out, "source", s->source);
    jsonw_member_str(out, "state", turnlog_state_name(t->state));
    jsonw_member_str(out, "code", t->code);
    jsonw_member_str(out, "into", t->into);
    jsonw_member_str(out, "late_result", t->late_result);
    jsonw_key(out, "task");
    jsonw_string(out, task, utf8_truncated_len(task, strlen(task), TASK_BYTES));
    turn_instances_append_json(out, s->instances);
    turn_api_add_time(out, "created_ms", t->created_ms);
    turn_api_add_time(out, "started_ms", t->started_ms);
    turn_api_add_time(out, "ended_ms", t->ended_ms);
    jsonw_member_int(out, "last_seq", (int64_t)t->last_seq);
    if (t->cost_usd >= 0)
        jsonw_member_real(out, "cost_usd", t->cost_usd);
    jsonw_member_int(out, "tools", t->tools);
    if (t->works)
        jsonw_member_bool(out, "background", true);
    jsonw_member_str(out, "host", s->host);
    request_api_append_turn(out, requests, t, p);
    buf_add_char(out, '}');
}

bool turn_api_can_see(const struct auth_principal *p, const struct turnlog_turn *t)
{
    return (p->grants & CONF_WATCH) || (t->spec.owner && strcmp(t->spec.owner, p->name) == 0);
}

/* `body`: the turn as a JSON object. */
static void answer_object(struct httpd_request *r, int status, const char *id, struct buf *body)
{
    CLEANUP_BUF struct buf where = {0};
    buf_add_char(body, '\n');
    buf_printf(&where, "/turns/%s", id);
    const struct httpd_header location = {"Location", where.p};
    httpd_answer_full(r, &(struct httpd_answer){
                             .status = status,
                             .content_type = REPLY_JSON,
                             .headers = &location,
                             .header_count = status == 202,
                             .body = {body->p, body->len},
                         });
}

/* Appends the answer or error and the usage of the turn from its events, regardless of
 * visibility. */
static void turn_api_add_outcome(struct buf *out, struct turnlog *log, const char *id)
{
    struct turn_result result = {0};
    struct turnlog_item item;
    enum turnlog_next_result step;
    struct turnlog_follower *const f = turnlog_follower_new(log, id, 0, true, NULL, NULL);
    while (f && (step = turnlog_follower_next(f, &item)) <= TURNLOG_GAP)
        if (step == TURNLOG_EVENT)
            turn_result_feed(&result, shared_event_get(item.shared));
    turnlog_follower_free(f);
    turn_result_outcome(out, &result);
    turn_result_fini(&result);
}

void turn_api_answer(const struct api_context *a, struct httpd_request *r, int status,
                     const struct turnlog_turn *t, const struct auth_principal *p)
{
    CLEANUP_BUF struct buf body = {0};
    turn_api_append_json(&body, t, a->host.requests, p);
    if (turnlog_turn_is_finished(t) && !t->into) {
        body.len--; /* bytes of the closing bracket */
        turn_api_add_outcome(&body, a->host.turnlog, t->spec.id);
        buf_add_char(&body, '}');
    }
    answer_object(r, status, t->spec.id, &body);
}

/* The id in "/turns/ID[/tail]"; owned. */
static char *turn_api_copy_id(const struct httpd_request *r)
{
    static const char prefix[] = "/turns/";
    const char *const from = r->path + sizeof prefix - 1;
    return xstrndup(from, strcspn(from, "/"));
}

const struct turnlog_turn *turn_api_find_turn(const struct turnlog *log, struct httpd_request *r,
                                              const struct auth_principal *p)
{
    CLEANUP_FREE char *id = turn_api_copy_id(r);
    const struct turnlog_turn *const t = turnlog_find_turn(log, id);
    if (t && turn_api_can_see(p, t))
        return t;
    api_http_error(r, 404, "no_such_turn", NO_SUCH_TURN);
    return NULL;
}

/* ---- the list ---- */

struct turn_api_list {
    const struct auth_principal *principal;
    const struct request_registry *requests;
    struct buf body;
    size_t left;
};

static bool turn_api_add_to_list(void *ctx, const struct turnlog_turn *t)
{
    struct turn_api_list *const l = ctx;
    if (!turn_api_can_see(l->principal, t))
        return true;
    if (l->body.p[l->body.len - 1] == '}')
        buf_add_char(&l->body, ',');
    turn_api_append_json(&l->body, t, l->requests, l->principal);
    return --l->left > 0;
}

/* Parses "limit=N" of the query; default if it is absent or not a number. */
static size_t turn_api_parse_limit(const char *query)
{
    static const char name[] = "limit=";
    const char *const at = strstr(query, name);
    const unsigned long n =
        at && (at == query || at[-1] == '&') ? strtoul(at + sizeof name - 1, NULL, 10) : 0;
    return n == 0 ? LIST_DEFAULT : n < LIST_MAX ? n : LIST_MAX;
}

static void turn_api_add_name(struct buf *out, const char *name)
{
    if (out->p[out->len - 1] != '[')
        buf_add_char(out, ',');
    jsonw_string(out, name, strlen(name));
}

/* Appends the principal and its grants, so that the page hides functions that are not granted. */
static void turn_api_add_principal(struct buf *out, const struct auth_principal *p)
{
    buf_add_str(out, ",\"me\":{");
    jsonw_member_str(out, "name", p->name);
    buf_add_str(out, ",\"grants\":[");
    for (unsigned grant = CONF_SUBMIT; grant <= CONF_ANSWER; grant <<= 1)
        if (p->grants & grant)
            turn_api_add_name(out, conf_grant_name(grant));
    buf_add_str(out, "]}");
}

/* Lists the default agent first. */
static void add_agents(struct buf *out, const struct conf *conf)
{
    const struct conf_agent *const first = conf_agent_find(conf, NULL);
    buf_add_str(out, ",\"agents\":[");
    if (first)
        turn_api_add_name(out, first->name);
    for (size_t i = 0; i < conf->n_agents; i++)
        if (&conf->agents[i] != first)
            turn_api_add_name(out, conf->agents[i].name);
    buf_add_char(out, ']');
}

static void turn_api_list(const struct api_context *a, struct httpd_request *r)
{
    const struct auth_principal *const p = auth_require_grant(a->auth, r, 0);
    if (!p)
        return;
    struct turn_api_list l = {
        .principal = p, .requests = a->host.requests, .left = turn_api_parse_limit(r->query)};
    buf_add_str(&l.body, "{\"turns\":[");
    turnlog_each_turn(a->host.turnlog, turn_api_add_to_list, &l);
    buf_add_char(&l.body, ']');
    turn_api_add_principal(&l.body, p);
    add_agents(&l.body, a->conf);
    buf_add_str(&l.body, "}\n");
    api_http_send_json(r, 200, &l.body);
    buf_fini(&l.body);
}

/* ---- starting a turn ---- */

struct wanted {
    struct api_context *api;
    struct httpd_request *request;
    char *principal, *conversation, *key; /* conversation, key: or NULL */
    const struct conf *conf;              /* configuration of the agent; holds a reference */
    const struct conf_agent *agent;
    char *instances; /* names, separated by newlines, or NULL */
    bool follows;
    char turn[37];
};

static void free_wanted(struct wanted *w)
{
    free(w->principal);
    free(w->conversation);
    free(w->key);
    free(w->instances);
    conf_unref(w->conf);
    free(w);
}

bool turn_api_is_cancelled_by_shutdown(const struct api_context *a, const struct turnlog_turn *t)
{
    return t && t->state == TURNLOG_CANCELLED && !t->started_ms && host_is_stopping(a->server);
}

void turn_api_send_refusal(struct httpd_request *r, const struct conversations_result *why)
{
    switch (why->refusal) {
    case CONVERSATIONS_NOT_REFUSED:
        api_http_error(r, 409, "known",
                       "A request with this Idempotency-Key has already completed, and its result "
                       "is no longer stored.");
        return;
    case CONVERSATIONS_QUEUE_FULL:
        api_http_error(r, 429, "queue_full", why->text);
        return;
    case CONVERSATIONS_BUDGET:
        httpd_answer_error(r, &(struct httpd_error){.status = 429,
                                                    .code = "over_budget",
                                                    .message = why->text,
                                                    .retry_s = why->retry_s});
        return;
    case CONVERSATIONS_TOO_LONG:
        api_http_error(r, 413, "message_too_long",
                       "The message for the agent is longer than the limit of 1048576 bytes.");
        return;
    case CONVERSATIONS_DISK_FULL:
        api_http_error(r, 503, "disk_full", why->text);
        return;
    case CONVERSATIONS_NOT_KEPT:
        api_http_error(r, 503, "not_kept",
                       "The message cannot be stored at the moment; see the log of turncast.");
        return;
    case CONVERSATIONS_NO_AGENT:
        api_http_error(r, 404, "no_such_agent", "The agent was removed from the configuration.");
        return;
    case CONVERSATIONS_ENDING:
        api_http_error(r, 503, "shutting_down", TURNS_DISMISSED);
        return;
    }
}

/* Answers with the turn of the same Idempotency-Key, which has ended and is no longer in the turn
 * log. */
static void turn_api_on_known(void *ctx, const struct journal_turn *turn)
{
    struct wanted *const w = ctx;
    CLEANUP_BUF struct buf body = {0};
    if (turn) {
        past_turns_add(&body, turn);
        answer_object(w->request, 202, turn->id, &body);
    } else {
        turn_api_send_refusal(w->request, &(struct conversations_result){.accepted = TC_KNOWN});
    }
    free_wanted(w);
}

static void turn_api_on_submitted(void *ctx, const struct conversations_result *answer)
{
    struct wanted *const w = ctx;
    const char *const turn = answer->turn;
    const struct turnlog_turn *const t =
        turn ? turnlog_find_turn(w->api->host.turnlog, turn) : NULL;
    if (!t && answer->accepted == TC_KNOWN && turn) {
        past_turns_find(w->api->past, turn, &(struct auth_principal){.name = w->principal},
                        turn_api_on_known, w);
        return;
    }
    if (t)
        turn_api_answer(w->api, w->request, 202, t, &(struct auth_principal){.name = w->principal});
    else
        turn_api_send_refusal(w->request, answer);
    free_wanted(w);
}

static void turn_api_answer_switches(struct httpd_request *r, struct visibility v)
{
    CLEANUP_BUF struct buf body = {0};
    buf_add_str(&body, "{\"visibility\":");
    visibility_append_json(&body, v);
    buf_add_str(&body, "}\n");
    api_http_send_json(r, 200, &body);
}

static void turn_api_on_toggled(void *ctx, const struct visibility_command_result *t)
{
    struct wanted *const w = ctx;
    if (t->why) {
        api_http_error(w->request, 500, "visibility_not_stored", t->why);
        free_wanted(w);
        return;
    }
    if (t->empty) {
        turn_api_answer_switches(w->request, t->visibility);
        free_wanted(w);
        return;
    }
    const struct turn_scheduler_message m = {
        .key = w->conversation,
        .source = TURN_SCHEDULER_DETACHED,
        .agent = w->agent,
        .user = w->principal,
        .owner = w->principal,
        .route = w->principal,
        .id = w->key,
        .instances = w->instances,
        .turn = w->turn,
        .prompt = t->rest,
        .alone = true,
        .throwaway = strstr(w->conversation, w->turn),
        .follows = w->follows,
    };
    turn_scheduler_submit(w->api->host.conversations, &m, turn_api_on_submitted, w);
}

/* Key of the conversation. Without a name, the turn gets a new conversation named after it.
 * Conversations belong to one agent. */
static struct wanted *new_wanted(struct api_context *a, struct httpd_request *r,
                                 const struct auth_principal *p, const struct conf_agent *agent,
                                 const char *conversation)
{
    const char *const key = httpd_find_header(r, "Idempotency-Key");
    struct wanted *const w = xcalloc(1, sizeof *w);
    uuid_make(w->turn);
    w->api = a;
    w->request = r;
    w->principal = xstrdup(p->name);
    w->conf = conf_ref(a->conf);
    w->agent = agent;
    w->conversation = xasprintf(TURN_SCHEDULER_DETACHED ":%s:%s:%s", p->name, agent->name,
                                conversation ? conversation : w->turn);
    w->key = key ? xasprintf("%s:%s", p->name, key) : NULL;
    return w;
}

/* A request to start a turn. */
struct wish {
    const char *prompt, *agent, *conversation; /* agent, conversation: or NULL */
    bool follows;
};

static void check_length(const char *what, const char *name, struct buf *why)
{
    if (name && strlen(name) > KEY_BYTES)
        buf_printf(why, "%s is too long (limit: %d bytes).", what, KEY_BYTES);
}

/* Whether results of background work may be separate turns. */
static bool read_background(const json_t *body, struct buf *why)
{
    const char *const word = api_http_member(body, "background", why);
    const bool follows = word && strcmp(word, "follow") == 0;
    if (word && !follows && strcmp(word, "wait") != 0)
        buf_add_str(why, "background must be \"wait\" or \"follow\".");
    return follows;
}

/* False with the reason in `why`. */
static bool turn_api_read_request(struct wish *w, const struct httpd_request *r, const json_t *body,
                                  struct buf *why)
{
    w->prompt = api_http_member(body, "prompt", why);
    if (!w->prompt && !why->len)
        buf_add_str(why, "prompt is missing.");
    if (!why->len)
        w->agent = api_http_member(body, "agent", why);
    if (!why->len)
        w->conversation = api_http_member(body, "conversation", why);
    if (!why->len)
        w->follows = read_background(body, why);
    if (!why->len)
        check_length("conversation", w->conversation, why);
    if (!why->len)
        check_length("Idempotency-Key", httpd_find_header(r, "Idempotency-Key"), why);
    return !why->len;
}

static void turn_api_begin_from_body(struct api_context *a, struct httpd_request *r,
                                     const struct auth_principal *p, const json_t *body)
{
    struct wish wish = {0};
    CLEANUP_BUF struct buf why = {0};
    if (!turn_api_read_request(&wish, r, body, &why)) {
        api_http_error(r, 400, "invalid_value", why.p);
        return;
    }
    const struct conf_agent *const agent = conf_agent_find(a->conf, wish.agent);
    if (!agent) {
        buf_printf(&why, "Unknown agent \"%s\"; GET /v1/models lists the agents.",
                   wish.agent ? wish.agent : "");
        api_http_error(r, 404, "no_such_agent", why.p);
        return;
    }
    struct wanted *const w = new_wanted(a, r, p, agent, wish.conversation);
    w->follows = wish.follows;
    const struct conf_scope_turn turn = {.agent = agent->name, .conversation = w->conversation};
    w->instances = turn_instances_read(body, a->host.dispatch, &turn, &why);
    if (why.len) {
        api_http_error(r, 400, "invalid_value", why.p);
        free_wanted(w);
        return;
    }
    visibility_command_apply(a->host.switches, agent->name,
                             (struct str){wish.prompt, strlen(wish.prompt)}, turn_api_on_toggled,
                             w);
}

static void turn_api_begin(struct api_context *a, struct httpd_request *r)
{
    const struct auth_principal *const p = auth_require_grant(a->auth, r, CONF_SUBMIT);
    json_t *const body = p ? api_http_parse_body(r) : NULL;
    if (body)
        turn_api_begin_from_body(a, r, p, body);
    json_decref(body);
}

/* ---- one turn ---- */

void turn_api_answer_past(void *ctx, const struct journal_turn *turn)
{
    struct httpd_request *const r = ctx;
    CLEANUP_BUF struct buf body = {0};
    if (!turn) {
        api_http_error(r, 404, "no_such_turn", "Unknown turn, or it is no longer stored.");
        return;
    }
    past_turns_add(&body, turn);
    answer_object(r, 200, turn->id, &body);
}

bool turn_api_stop(struct turn_scheduler *all, const struct turnlog_turn *t)
{
    return turnlog_turn_is_finished(t) ? turn_scheduler_stop_background(all, t->spec.conversation)
                                       : turn_scheduler_cancel_turn(all, t->spec.id);
}

static void turn_api_cancel(struct api_context *a, struct httpd_request *r)
{
    const struct auth_principal *const p = auth_require_grant(a->auth, r, CONF_CANCEL);
    const struct turnlog_turn *const t = p ? turn_api_find_turn(a->host.turnlog, r, p) : NULL;
    if (!t)
        return;
    if (t->spec.host)
        remote_turns_cancel(a, r, t, p);
    else if (!turn_api_stop(a->host.conversations, t))
        api_http_error(r, 409, "over", "The turn has already ended.");
    else
        turn_api_answer(a, r, 202, t, p);
}

static void turn_api_show(struct api_context *a, struct httpd_request *r)
{
    const struct auth_principal *const p = auth_require_grant(a->auth, r, 0);
    if (!p)
        return;
    CLEANUP_FREE char *id = turn_api_copy_id(r);
    const struct turnlog_turn *const t = turnlog_find_turn(a->host.turnlog, id);
    if (!t)
        past_turns_find(a->past, id, p, turn_api_answer_past, r);
    else if (!turn_api_can_see(p, t))
        turn_api_answer_past(r, NULL);
    else if (turnlog_turn_is_finished(t) && !turnlog_is_complete(a->host.turnlog, id))
        remote_turns_fetch(a, r, t, p);
    else
        turn_api_answer(a, r, 200, t, p);
}

/* ---- routes ---- */

static void on_turns(void *arg, struct httpd_request *r)
{
    if (strcmp(r->method, "POST") == 0)
        turn_api_begin(arg, r);
    else
        turn_api_list(arg, r);
}

static const struct part {
    const char *name; /* paths below "/turns/", or below a turn's id; a slash at the end: any longer
                       * path */
    bool posts;
    void (*fn)(struct api_context *a, struct httpd_request *r);
} parts[] = {
    {"events", false, turn_events_handle_list},      {"", false, turn_api_show},
    {"/events", false, turn_events_handle_turn},     {"/cancel", true, turn_api_cancel},
    {"/requests/", true, request_api_handle_answer},
};

static bool turn_api_path_matches(const char *name, const char *text)
{
    const size_t len = strlen(name);
    return len > 1 && name[len - 1] == '/' ? strncmp(text, name, len) == 0 && text[len]
                                           : strcmp(text, name) == 0;
}

static const struct part *turn_api_find_part(const char *path)
{
    const char *const tail = path + strcspn(path, "/");
    for (size_t i = 0; *path && i < sizeof parts / sizeof *parts; i++)
        if (turn_api_path_matches(parts[i].name, i ? tail : path))
            return &parts[i];
    return NULL;
}

static void turn_api_on_turn(void *arg, struct httpd_request *r)
{
    const struct part *const part = turn_api_find_part(r->path + strlen("/turns/"));
    if (!part)
        api_http_error(r, 404, "not_found", "There is nothing at this path.");
    else if (part->posts != (strcmp(r->method, "POST") == 0))
        api_http_send_405(r, part->posts ? "POST" : "GET, HEAD");
    else
        part->fn(arg, r);
}

void turn_api_add_routes(struct api_context *a)
{
    httpd_route(a->host.httpd, "/turns", HTTPD_GET | HTTPD_POST, on_turns, a);
    httpd_route(a->host.httpd, "/turns/", HTTPD_GET | HTTPD_POST, turn_api_on_turn, a);
}
