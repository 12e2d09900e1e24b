/* SPDX-License-Identifier: MIT
 * POST /v1/chat/completions, from the request to the turn whose events form the response. A
 * repeated request attaches to the turn of the first one. */
#include "api/chat/chat_completion.h"

#include <stdlib.h>
#include <string.h>

#include "api/shared/past_turns.h"
#include "api/turns/turn_api.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/sys/uuid.h"
#include "core/settings/session_redis.h"
#include "core/settings/visibility_command.h"

#define PATH "/v1/chat/completions"
#define SOURCE CONVERSATIONS_CHAT

void chat_completion_free(struct chat_completion *c)
{
    writer_stream_fini(&c->writing);
    chat_request_fini(&c->ask);
    json_decref(c->body);
    free(c->principal);
    free(c->agent);
    free(c->user);
    free(c->conversation);
    buf_fini(&c->whole.text);
    buf_fini(&c->whole.code);
    buf_fini(&c->whole.message);
    free(c);
}

static void chat_completion_refuse(struct chat_completion *c, int status, const char *code,
                                   const char *message)
{
    api_http_error(c->request, status, code, message);
    chat_completion_free(c);
}

void chat_completion_on_closed(void *ctx, bool left)
{
    struct chat_completion *const c = ctx;
    (void)left;
    if (c->request)
        api_http_error(
            c->request, 503, "ended",
            "The response was ended: turncast is shutting down, or the API key has changed.");
    chat_completion_free(c);
}

/* ---- the turn ---- */

static void chat_completion_answer(struct chat_completion *c)
{
    if (c->ask.streams)
        chat_stream_start(c);
    else
        chat_response_start(c);
}

/* Answers with the turn of an earlier identical request, which has ended and is no longer in the
 * turn log. */
static void chat_completion_on_known(void *ctx, const struct journal_turn *turn)
{
    struct chat_completion *const c = ctx;
    if (!turn) {
        turn_api_send_refusal(c->request, &(struct conversations_result){.accepted = TC_KNOWN});
        chat_completion_free(c);
    } else if (c->ask.streams) {
        chat_completion_stream_past(c, turn);
    } else {
        chat_completion_whole_past(c, turn);
    }
}

static void chat_completion_add_print(struct buf *out, const struct chat_completion *c)
{
    for (size_t i = 0; i < sizeof c->print.bytes; i++)
        buf_printf(out, "%02x", c->print.bytes[i]);
}

/* Publishes the fingerprint, so that other hosts recognise the repeated request. */
static void chat_completion_set_retry_header(const struct chat_completion *c)
{
    CLEANUP_BUF struct buf print = {0};
    if (!c->api->host.bus)
        return;
    chat_completion_add_print(&print, c);
    turnlog_set_retry(c->api->host.turnlog, c->turn, print.p);
}

static void chat_completion_on_submitted(void *ctx, const struct conversations_result *result)
{
    const char *const turn = result->turn;
    struct chat_completion *const c = ctx;
    const struct turnlog_turn *const t =
        turn ? turnlog_find_turn(c->api->host.turnlog, turn) : NULL;
    if (!t && result->accepted == TC_KNOWN && turn) {
        snprintf(c->turn, sizeof c->turn, "%s", turn);
        past_turns_find(c->api->past, turn, &(struct auth_principal){.name = c->principal},
                        chat_completion_on_known, c);
        return;
    }
    if (!t) {
        turn_api_send_refusal(c->request, result);
        chat_completion_free(c);
        return;
    }
    snprintf(c->turn, sizeof c->turn, "%s", t->spec.id);
    chat_dedup_add(c->api->chats, &c->print, c->turn);
    chat_completion_set_retry_header(c);
    chat_completion_answer(c);
}

/* Id by which the journal recognises the message, also after a restart. The id changes when the
 * earlier turn was cancelled because its client left, so that the repeated request starts a
 * turn. */
static char *chat_completion_message_id(const struct chat_completion *c)
{
    struct buf id = {0};
    chat_completion_add_print(&id, c);
    buf_printf(&id, "-%u", chat_dedup_forgotten(c->api->chats, &c->print));
    return buf_steal(&id);
}

static void chat_completion_submit(struct chat_completion *c, const struct conf_agent *agent,
                                   struct str rest)
{
    CLEANUP_BUF struct buf first = {0};
    CLEANUP_FREE char *id = c->ask.id ? chat_completion_message_id(c) : NULL;
    CLEANUP_FREE char *own = xasprintf(SOURCE ":%s:%s", c->principal, c->turn);
    chat_messages_append_prompt(&c->ask.said, &first, rest);
    const struct turn_scheduler_message m = {
        .key = c->conversation ? c->conversation : own,
        .source = SOURCE,
        .agent = agent,
        .user = c->user,
        .owner = c->principal,
        .id = id,
        .turn = c->turn,
        .prompt = rest,
        .first = {first.p, first.len},
        .alone = true,
        .throwaway = !c->conversation,
    };
    turn_scheduler_submit(c->api->host.conversations, &m, chat_completion_on_submitted, c);
}

static void chat_completion_on_toggled(void *ctx, const struct visibility_command_result *t)
{
    struct chat_completion *const c = ctx;
    const struct conf_agent *const agent = conf_agent_find(c->api->conf, c->agent);
    if (t->why)
        chat_completion_refuse(c, 500, "visibility_not_stored", t->why);
    else if (!agent)
        chat_completion_refuse(c, 404, "model_not_found",
                               "The agent was removed from the configuration.");
    else if (!t->empty)
        chat_completion_submit(c, agent, t->rest);
    else if (c->ask.streams)
        chat_stream_send_visibility(c, t->visibility);
    else
        chat_response_send_visibility(c, t->visibility);
}

/* ---- the same request again ---- */

static struct str chat_completion_str(const char *text)
{
    return (struct str){text ? text : "", text ? strlen(text) : 0};
}

static struct chat_dedup_fingerprint chat_completion_fingerprint(const struct chat_completion *c)
{
    const struct str parts[] = {chat_completion_str(c->principal),
                                chat_completion_str(c->conversation), chat_completion_str(c->user),
                                chat_completion_str(c->ask.id), c->request->body};
    return chat_dedup_make_fingerprint(parts, sizeof parts / sizeof *parts);
}

/* Whether the request may be a repetition: it has an id, or OpenAI's client counts it as a
 * retry. */
static bool chat_completion_may_be_repeated(const struct chat_completion *c)
{
    const char *const count = httpd_find_header(c->request, "X-Stainless-Retry-Count");
    return c->ask.id || (count && strtol(count, NULL, 10) > 0);
}

/* The turn of the same request on another host, unless it was cancelled because its client left. */
static const char *chat_completion_find_remote(const struct chat_completion *c)
{
    CLEANUP_BUF struct buf print = {0};
    if (!c->api->host.bus)
        return NULL;
    chat_completion_add_print(&print, c);
    const struct turnlog_turn *const t = turnlog_find_retry(c->api->host.turnlog, print.p);
    return t && t->spec.host && t->state != TURNLOG_CANCELLED ? t->spec.id : NULL;
}

static bool chat_completion_attach(struct chat_completion *c)
{
    if (!chat_completion_may_be_repeated(c))
        return false;
    const char *turn = chat_dedup_find(c->api->chats, &c->print);
    if (!turn)
        turn = chat_completion_find_remote(c);
    if (!turn || !turnlog_find_turn(c->api->host.turnlog, turn))
        return false;
    snprintf(c->turn, sizeof c->turn, "%s", turn);
    chat_completion_answer(c);
    return true;
}

/* ---- the request ---- */

/* "AGENT" or "AGENT/MODEL". With a single agent any name selects it, because front ends send model
 * names of their own. */
static const struct conf_agent *chat_completion_find_agent(const struct conf *conf,
                                                           const char *model)
{
    if (!model || !*model)
        return conf_agent_find(conf, NULL);
    CLEANUP_FREE char *name = xstrndup(model, strcspn(model, "/"));
    const struct conf_agent *agent = conf_agent_find(conf, model);
    if (!agent)
        agent = conf_agent_find(conf, name);
    return agent || conf->n_agents > 1 ? agent : conf_agent_find(conf, NULL);
}

/* Escapes colons, which separate the parts. */
static void chat_completion_add_part(struct buf *key, const char *part)
{
    buf_add_char(key, ':');
    for (; *part; part++)
        if (*part == ':' || *part == '%')
            buf_add_str(key, *part == ':' ? "%3A" : "%25");
        else
            buf_add_char(key, *part);
}

/* Key of the conversation: it contains the principal, unless its key shares conversations, and the
 * agent, because a session belongs to one agent. */
static char *chat_completion_conversation_key(const struct chat_completion *c)
{
    struct buf key = {0};
    if (c->shares)
        return xasprintf(SESSION_REDIS_SHARED "%s:%s", c->ask.user ? c->ask.user : "-",
                         c->ask.conversation);
    buf_add_str(&key, SOURCE);
    chat_completion_add_part(&key, c->principal);
    chat_completion_add_part(&key, c->agent);
    chat_completion_add_part(&key, c->ask.user ? c->ask.user : "-");
    chat_completion_add_part(&key, c->ask.conversation);
    return buf_steal(&key);
}

static void chat_completion_begin(struct chat_completion *c)
{
    const struct chat_messages *const said = &c->ask.said;
    const struct conf_agent *const agent = chat_completion_find_agent(c->api->conf, c->ask.model);
    if (!agent) {
        CLEANUP_BUF struct buf why = {0};
        buf_printf(&why, "Unknown model \"%s\"; GET /v1/models lists the agents.",
                   c->ask.model ? c->ask.model : "");
        chat_completion_refuse(c, 404, "model_not_found", why.p);
        return;
    }
    c->agent = xstrdup(agent->name);
    c->conversation = c->ask.conversation ? chat_completion_conversation_key(c) : NULL;
    c->user = c->ask.user ? xasprintf("%s:%s", c->principal, c->ask.user) : xstrdup(c->principal);
    c->print = chat_completion_fingerprint(c);
    if (!chat_completion_attach(c))
        visibility_command_apply(c->api->host.switches, c->agent,
                                 (struct str){said->last.p, said->last.len},
                                 chat_completion_on_toggled, c);
}

static void on_chat(void *arg, struct httpd_request *r)
{
    struct api_context *const a = arg;
    const struct auth_principal *const p = auth_require_grant(a->auth, r, CONF_SUBMIT);
    json_t *const body = p ? api_http_parse_body(r) : NULL;
    if (!body)
        return;
    struct chat_completion *const c = xcalloc(1, sizeof *c);
    c->api = a;
    c->request = r;
    c->body = body;
    c->principal = xstrdup(p->name);
    c->shares = p->shares;
    uuid_make(c->turn);
    const char *const why = chat_request_parse(&c->ask, r, body);
    if (why)
        chat_completion_refuse(c, 400, "invalid_value", why);
    else
        chat_completion_begin(c);
}

void chat_completion_add_routes(struct api_context *a)
{
    a->chats = chat_dedup_new();
    httpd_route(a->host.httpd, PATH, HTTPD_POST | HTTPD_NO_DEADLINE, on_chat, a);
}
