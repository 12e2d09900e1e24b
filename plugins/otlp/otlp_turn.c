/* SPDX-License-Identifier: MIT
 * Makes spans of the events of a turn. A span is queued when it ends; open calls, sub-agents and
 * the turn itself are kept. All ids follow from the id of the turn, so that a child can name a
 * parent that is sent later, and a turn that is told again gives the same trace.
 *
 * Attributes are those of the OpenTelemetry semantic conventions 1.41.0, or begin with
 * "turncast.". */
#include <inttypes.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <string.h>

#include "otlp.h"

#define CONTENT_MAX ((size_t)16 << 10) /* bytes of one attribute */
#define REASON_MAX ((size_t)500)       /* bytes of the description of an error */
#define EVENTS_MAX ((size_t)32 << 10)  /* bytes of the events of one span */
#define ID 16                          /* digits of the id of a span */
enum { KIND_INTERNAL = 1, KIND_CLIENT = 3, STATUS_ERROR = 2 }; /* numbers of the protocol */

struct otlp_span {
    struct otlp_span *next;
    const char *key; /* tool_use_id, also of the sub-agent that this call started; NULL: unused */
    char id[ID + 1], parent[ID + 1];
    const char *operation, *name, *agent; /* agent: id of the sub-agent; the last two or NULL */
    double start, ready;                  /* ready: when the model could begin its next call */
    const char *error, *reason;           /* of a failure, or NULL */
    const char *list, *events;            /* attributes, span events; or NULL */
    bool is_agent, is_told;               /* the agent reports the end of this sub-agent */
};

struct otlp_turn {
    struct otlp_span root, *open;
    const char *provider, *model;
    unsigned agents; /* sub-agents so far */
    bool has_calls;  /* calls of the model were sent, with their tokens */
};
_Static_assert(sizeof(struct otlp_turn) <= OTLP_TURN_SIZE, "OTLP_TURN_SIZE is too small");

/* ---- texts ---- */

/* The first n digits of the SHA-256 of the text. */
static void make_digits(const char *text, char *to, size_t n)
{
    struct sha256_ctx ctx;
    uint8_t digest[SHA256_DIGEST_SIZE];
    sha256_init(&ctx);
    sha256_update(&ctx, strlen(text), (const uint8_t *)text);
    sha256_digest(&ctx, sizeof digest, digest);
    for (size_t i = 0; i < n / 2; i++)
        snprintf(to + 2 * i, 3, "%02x", digest[i]);
}

static void make_id(struct tc_turn *turn, const char *sort, const char *key, char to[ID + 1])
{
    const char *const text = tc_sprint(turn, "%s\n%s\n%s", turn->id, sort, key);
    make_digits(text ? text : key, to, ID);
}

static const char *keep_text(struct tc_turn *turn, const char *text)
{
    return text && *text ? tc_keep(turn, text) : NULL;
}

static const char *join(struct tc_turn *turn, const char *a, const char *b)
{
    return a && b ? tc_sprint(turn, "%s,%s", a, b) : a ? a : b;
}

/* Nanoseconds since 1970, as exact as the events. */
static const char *make_time(struct tc_turn *turn, double seconds)
{
    return tc_sprint(turn, "%" PRIu64 "000", seconds > 0 ? (uint64_t)(seconds * 1e6) : 0);
}

/* ---- attributes ---- */

void otlp_add_text(struct tc_turn *turn, const char **list, const char *key, const char *text)
{
    if (text && *text)
        *list = join(turn, *list,
                     tc_json(turn, "{s:s,s:{s:s}}", "key", key, "value", "stringValue", text));
}

void otlp_add_number(struct tc_turn *turn, const char **list, const char *key, int64_t number)
{
    if (number >= 0)
        *list = join(turn, *list,
                     tc_json(turn, "{s:s,s:{s:s}}", "key", key, "value", "intValue",
                             tc_sprint(turn, "%" PRId64, number)));
}

/* What people, models and tools have written: only if the operator wants that. */
static void add_content(struct tc_turn *turn, struct otlp_span *s, const char *key,
                        const char *text)
{
    const struct otlp_conf *const conf = turn->inst->conf;
    if (conf->content && text)
        otlp_add_text(turn, &s->list, key, tc_cut(turn, text, CONTENT_MAX));
    s->list = keep_text(turn, s->list);
}

/* Tokens from a cache are part of the input tokens, or beside them, as the option says. */
static int64_t count_input(const struct otlp_conf *conf, const struct tc_usage *u)
{
    const int64_t cached = (u->cache_read_tokens > 0 ? u->cache_read_tokens : 0) +
                           (u->cache_write_tokens > 0 ? u->cache_write_tokens : 0);
    const bool is_counted = u->cache_counted != 0;
    if (u->input_tokens < 0 || is_counted == conf->input_includes_cache)
        return u->input_tokens;
    if (conf->input_includes_cache)
        return u->input_tokens + cached;
    return u->input_tokens > cached ? u->input_tokens - cached : 0;
}

static void add_usage(struct tc_turn *turn, const char **list, const char *prefix,
                      const struct tc_usage *u)
{
    const struct {
        const char *name;
        int64_t tokens;
    } rows[] = {{"input_tokens", count_input(turn->inst->conf, u)},
                {"output_tokens", u->output_tokens},
                {"cache_read.input_tokens", u->cache_read_tokens},
                {"cache_creation.input_tokens", u->cache_write_tokens},
                {"reasoning.output_tokens", u->reasoning_tokens}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        otlp_add_number(turn, list, tc_sprint(turn, "%s%s", prefix, rows[i].name), rows[i].tokens);
}

/* ---- spans ---- */

static const char *make_status(struct tc_turn *turn, const struct otlp_span *s)
{
    return s->error ? tc_json(turn, "{s:i,s:s}", "code", STATUS_ERROR, "message",
                              s->reason ? tc_cut(turn, s->reason, REASON_MAX) : "")
                    : "{}";
}

static void send_span(struct tc_turn *turn, const struct otlp_span *s, int kind, double end)
{
    const struct otlp_turn *const t = turn->state;
    const char *list = s->list, *const name = s->name;
    char trace[2 * ID + 1];
    make_digits(turn->id, trace, 2 * ID);
    otlp_add_text(turn, &list, "gen_ai.operation.name", s->operation);
    otlp_add_text(turn, &list, "gen_ai.provider.name", t->provider);
    otlp_add_text(turn, &list, "error.type", s->error);
    otlp_put(turn->inst,
             tc_json(turn, "{s:s,s:s,s:s,s:s,s:i,s:s,s:s,s:j,s:j,s:j}", "traceId", trace, "spanId",
                     s->id, "parentSpanId", s->parent, "name",
                     name ? tc_sprint(turn, "%s %s", s->operation, name) : s->operation, "kind",
                     kind, "startTimeUnixNano", make_time(turn, s->start), "endTimeUnixNano",
                     make_time(turn, end > s->start ? end : s->start), "attributes",
                     tc_sprint(turn, "[%s]", list), "events",
                     tc_sprint(turn, "[%s]", s->events ? s->events : ""), "status",
                     make_status(turn, s)));
}

static struct otlp_span *find_call(struct otlp_turn *t, const char *key)
{
    struct otlp_span *s = t->open;
    while (s && (!key || !s->key || s->is_agent || strcmp(s->key, key) != 0))
        s = s->next;
    return s;
}

/* A child of `parent` that begins; NULL: out of memory. */
static struct otlp_span *open_span(struct tc_turn *turn, const char *operation, const char *key,
                                   const char *parent, double start)
{
    struct otlp_turn *const t = turn->state;
    struct otlp_span *s = t->open;
    while (s && s->key)
        s = s->next;
    if (!s && (s = tc_alloc(turn, sizeof *s))) {
        s->next = t->open;
        t->open = s;
    }
    if (!s)
        return NULL;
    *s = (struct otlp_span){.next = s->next, .key = tc_keep(turn, key), .operation = operation};
    s->start = s->ready = start;
    memcpy(s->parent, parent, sizeof s->parent);
    make_id(turn, "call", key, s->id);
    return s;
}

/* ---- sub-agents ---- */

static struct otlp_span *open_agent(struct tc_turn *turn, const struct tc_meta *meta)
{
    struct otlp_turn *const t = turn->state;
    const struct otlp_span *const call = find_call(t, meta->parent_id);
    char parent[ID + 1];
    make_id(turn, "call", meta->parent_id, parent); /* as the call has or had it */
    struct otlp_span *const s =
        open_span(turn, "invoke_agent", meta->parent_id, parent, call ? call->start : meta->ts);
    if (!s)
        return &t->root;
    s->is_agent = true;
    make_id(turn, "agent", tc_sprint(turn, "%u", t->agents++), s->id);
    return s;
}

static bool is_of_agent(const struct otlp_span *s, const struct tc_meta *meta)
{
    if (!s->key || !s->is_agent)
        return false;
    if (s->agent && meta->agent)
        return strcmp(s->agent, meta->agent) == 0;
    return meta->parent_id && strcmp(s->key, meta->parent_id) == 0;
}

/* The span of the sub-agent that an event belongs to, or of the turn. */
static struct otlp_span *find_scope(struct tc_turn *turn, const struct tc_meta *meta)
{
    struct otlp_turn *const t = turn->state;
    struct otlp_span *s = t->open;
    while (s && !is_of_agent(s, meta))
        s = s->next;
    if (!s)
        s = meta->parent_id ? open_agent(turn, meta) : &t->root;
    if (s->is_agent && !s->agent)
        s->agent = keep_text(turn, meta->agent);
    return s;
}

static void close_agent(struct tc_turn *turn, struct otlp_span *s, double end)
{
    s->name = s->name ? s->name : s->agent;
    otlp_add_text(turn, &s->list, "gen_ai.agent.name", s->name);
    otlp_add_text(turn, &s->list, "gen_ai.agent.id", s->agent);
    send_span(turn, s, KIND_INTERNAL, end);
    s->key = NULL;
}

/* Those that this call has started (NULL: all that are open). */
static void close_agents(struct tc_turn *turn, const char *key, double end)
{
    struct otlp_turn *const t = turn->state;
    for (struct otlp_span *s = t->open; s; s = s->next)
        if (s->key && s->is_agent && (!key || (!s->is_told && strcmp(s->key, key) == 0)))
            close_agent(turn, s, end);
}

static int on_step(struct tc_turn *turn, const struct tc_step *ev)
{
    struct otlp_span *const scope = find_scope(turn, ev->meta);
    scope->ready = ev->meta->ts;
    if (!scope->is_agent || !ev->kind || strcmp(ev->kind, "agent") != 0)
        return 0;
    scope->is_told = true;
    scope->name = scope->name ? scope->name : keep_text(turn, ev->name);
    if (ev->error)
        scope->error = "failed";
    if (strcmp(ev->state, "end") == 0)
        close_agent(turn, scope, ev->meta->ts);
    return 0;
}

/* ---- tools ---- */

static int on_tool_call(struct tc_turn *turn, const struct tc_tool_call *ev)
{
    const struct otlp_span *const scope = find_scope(turn, ev->meta);
    struct otlp_span *const s =
        open_span(turn, "execute_tool", ev->tool_use_id, scope->id, ev->meta->ts);
    if (!s)
        return -1;
    s->name = keep_text(turn, ev->name);
    add_content(turn, s, "gen_ai.tool.call.arguments", ev->args);
    return 0;
}

/* A result whose call is not known belongs to a call that an earlier process was told of. */
static int on_tool_result(struct tc_turn *turn, const struct tc_tool_result *ev)
{
    struct otlp_span *const scope = find_scope(turn, ev->meta);
    struct otlp_span *s = find_call(turn->state, ev->tool_use_id);
    if (!s)
        s = open_span(turn, "execute_tool", ev->tool_use_id, scope->id,
                      ev->meta->ts - (ev->duration_ms > 0 ? ev->duration_ms / 1e3 : 0));
    if (!s)
        return -1;
    close_agents(turn, ev->tool_use_id, ev->meta->ts);
    if (ev->outcome && strcmp(ev->outcome, "succeeded") != 0)
        s->error = ev->outcome;
    else if (ev->is_error)
        s->error = "failed";
    s->name = s->name ? s->name : ev->name;
    add_content(turn, s, "gen_ai.tool.call.result", ev->content);
    otlp_add_text(turn, &s->list, "gen_ai.tool.name", s->name);
    otlp_add_text(turn, &s->list, "gen_ai.tool.call.id", ev->tool_use_id);
    otlp_add_text(turn, &s->list, "gen_ai.tool.type", "function");
    send_span(turn, s, KIND_INTERNAL, ev->meta->ts);
    scope->ready = ev->meta->ts;
    s->key = NULL;
    return 0;
}

/* An approval or a question is an event of the call that waits, or of the turn. */
static int on_request(struct tc_turn *turn, const struct tc_request *ev)
{
    struct otlp_turn *const t = turn->state;
    struct otlp_span *const call = find_call(t, ev->tool_use_id), *const s = call ? call : &t->root;
    const char *list = NULL;
    otlp_add_text(turn, &list, "turncast.request.id", ev->request_id);
    otlp_add_text(turn, &list, "turncast.request.kind", ev->kind);
    otlp_add_text(turn, &list, "turncast.request.decision", ev->decision);
    const char *const event =
        tc_json(turn, "{s:s,s:s,s:j}", "timeUnixNano", make_time(turn, ev->meta->ts), "name",
                tc_sprint(turn, "turncast.request.%s", ev->state), "attributes",
                tc_sprint(turn, "[%s]", list));
    if (event && (!s->events || strlen(s->events) + strlen(event) < EVENTS_MAX))
        s->events = tc_keep(turn, join(turn, s->events, event));
    return 0;
}

/* ---- calls of the model ---- */

static void send_chat(struct tc_turn *turn, const struct tc_usage *ev)
{
    struct otlp_turn *const t = turn->state;
    struct otlp_span *const scope = find_scope(turn, ev->meta);
    struct otlp_span s = {.operation = "chat",
                          .name = ev->model ? ev->model : t->model,
                          .start = scope->ready,
                          .error = ev->is_error == 1 ? "failed" : NULL};
    memcpy(s.parent, scope->id, sizeof s.parent);
    make_id(turn, "chat", tc_sprint(turn, "%" PRIu64, ev->meta->seq), s.id);
    if (ev->duration_ms > 0)
        s.start = ev->meta->ts - ev->duration_ms / 1e3;
    otlp_add_text(turn, &s.list, "gen_ai.request.model", s.name);
    otlp_add_text(turn, &s.list, "gen_ai.response.model", ev->model);
    add_usage(turn, &s.list, "gen_ai.usage.", ev);
    send_span(turn, &s, KIND_CLIENT, ev->meta->ts);
    scope->ready = ev->meta->ts;
    t->has_calls = true;
}

/* Receivers add up the tokens of all spans. So the turn has standard names only if no call of the
 * model has any. */
static int on_usage(struct tc_turn *turn, const struct tc_usage *ev)
{
    struct otlp_turn *const t = turn->state;
    if (strcmp(ev->scope, "call") == 0) {
        send_chat(turn, ev);
        return 0;
    }
    if (!t->has_calls)
        add_usage(turn, &t->root.list, "gen_ai.usage.", ev);
    add_usage(turn, &t->root.list, "turncast.usage.", ev);
    if (ev->cost_usd >= 0)
        t->root.list = join(turn, t->root.list,
                            tc_json(turn, "{s:s,s:{s:f}}", "key", "turncast.cost_usd", "value",
                                    "doubleValue", ev->cost_usd));
    t->root.list = keep_text(turn, t->root.list);
    return 0;
}

/* ---- the turn ---- */

static int on_start(struct tc_turn *turn, const struct tc_start *ev)
{
    struct otlp_turn *const t = turn->state;
    t->root = (struct otlp_span){.operation = "invoke_agent"};
    t->root.name = keep_text(turn, *turn->agent ? turn->agent : ev->source);
    make_id(turn, "turn", "", t->root.id);
    t->root.start = t->root.ready = ev->meta->ts;
    if (turn->memory) { /* an earlier process has sent a part of the trace */
        t->has_calls = true;
        sscanf(turn->memory, "%lf", &t->root.start);
    } else {
        tc_remember(turn, tc_sprint(turn, "%.17g", t->root.start));
    }
    t->provider = keep_text(turn, ev->provider);
    t->model = keep_text(turn, ev->model);
    add_content(turn, &t->root, "gen_ai.input.messages", ev->input);
    return 0;
}

static int on_final(struct tc_turn *turn, const struct tc_final *ev)
{
    struct otlp_turn *const t = turn->state;
    add_content(turn, &t->root, "gen_ai.output.messages",
                tc_json(turn, "[{s:s,s:[{s:s,s:s}],s:s}]", "role", "assistant", "parts", "type",
                        "text", "content", tc_cut(turn, ev->text, CONTENT_MAX / 4), "finish_reason",
                        "stop"));
    return 0;
}

static int on_error(struct tc_turn *turn, const struct tc_error *ev)
{
    struct otlp_turn *const t = turn->state;
    t->root.error = ev->code && *ev->code ? tc_keep(turn, ev->code) : "_OTHER";
    t->root.reason = tc_keep(turn, ev->message);
    return 0;
}

static int on_done(struct tc_turn *turn, const struct tc_done *ev)
{
    struct otlp_turn *const t = turn->state;
    const char **const list = &t->root.list, *const session = ev->meta->session_id;
    close_agents(turn, NULL, ev->meta->ts);
    otlp_add_text(turn, list, "gen_ai.agent.name", t->root.name);
    otlp_add_text(turn, list, "gen_ai.request.model", t->model);
    otlp_add_text(turn, list, "gen_ai.conversation.id",
                  turn->conversation ? turn->conversation : session);
    otlp_add_text(turn, list, "turncast.turn.id", turn->id);
    otlp_add_text(turn, list, "turncast.session.id", session);
    otlp_add_text(turn, list, "turncast.done.reason", ev->reason);
    send_span(turn, &t->root, KIND_INTERNAL, ev->meta->ts);
    otlp_send(turn->inst);
    return 0;
}

static int on_wake(struct tc_turn *lobby)
{
    otlp_send(lobby->inst);
    return 0;
}

const struct tc_sink otlp_sink = {
    .size = sizeof otlp_sink,
    .on_start = on_start,
    .on_step = on_step,
    .on_tool_call = on_tool_call,
    .on_tool_result = on_tool_result,
    .on_request = on_request,
    .on_usage = on_usage,
    .on_final = on_final,
    .on_error = on_error,
    .on_done = on_done,
    .on_wake = on_wake,
    .on_reply = otlp_take_reply,
};
