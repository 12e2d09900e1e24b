/* SPDX-License-Identifier: MIT
 * Reader for agenticore's Redis event stream, one JSON object per entry. */
#include "dialect/agenticore/json_pretty.h"
#include "dialect/dialect_list.h"
#include "dialect/reader/dialect_emit.h"
#include "dialect/reader/tool_args.h"
#include "dialect/reader/value.h"

struct agenticore_reader {
    struct buf text; /* text of the last block */
    bool started, ended, settled, failed;
    double ended_ts;
};

struct redis_entry {
    struct agenticore_reader *r;
    const struct dialect_sink *out;
    struct str self;
    const char *content;
    size_t len;
};

/* Fields common to all events of an entry. */
struct agenticore_sink {
    const struct dialect_sink *to;
    const char *id, *session_id;
};

static void agenticore_redis_emit_marked(void *ctx, struct event *ev)
{
    const struct agenticore_sink *const mark = ctx;
    ev->meta.id = mark->id;
    if (mark->session_id)
        ev->meta.session_id = mark->session_id;
    mark->to->emit(mark->to->ctx, ev);
}

static void agenticore_redis_emit_start(const struct redis_entry *e)
{
    static const char *const kept[] = {"correlation_id", NULL};
    struct event ev;
    event_init(&ev, TC_START);
    ev.meta.x = value_extra_only(e->out->scratch, e->self, kept);
    e->r->started = true;
    dialect_emit_draft(e->out, &ev);
}

static void agenticore_redis_read_thinking(const struct redis_entry *e)
{
    dialect_emit_thinking(e->out, e->content, e->len, NULL);
}

static void agenticore_redis_read_text(const struct redis_entry *e)
{
    dialect_emit_narration(e->out, e->content, e->len, NULL);
    buf_reset(&e->r->text);
    buf_add(&e->r->text, e->content, e->len);
}

/* An invalid call is still emitted as a call. */
static void agenticore_redis_read_tool_use(const struct redis_entry *e)
{
    struct str id = {0}, name = {0}, input = {0};
    const struct value_row rows[] = {{"id", &id}, {"name", &name}, {"input", &input}};
    struct arena *const scratch = e->out->scratch;
    struct event ev;
    event_init(&ev, TC_TOOL_CALL);
    struct tc_tool_call *const call = &ev.u.tool_call;
    call->name = "tool";
    buf_reset(&e->r->text);
    if (value_parse_line(e->content, e->len, VALUE_ROWS(rows)) == 0) {
        const char *const said_id = value_text(scratch, id, NULL);
        const char *const said_name = value_text(scratch, name, NULL);
        call->tool_use_id = said_id ? said_id : "";
        call->name = said_name ? said_name : "tool";
        tool_args_parse(scratch, call, input);
    } else {
        call->args_raw = e->content;
        call->args_raw_len = e->len;
    }
    dialect_emit_draft(e->out, &ev);
}

/* Text of the output; other JSON types in the form in which the producer displays them. */
static void set_output(struct arena *scratch, struct tc_tool_result *result, struct str output)
{
    if (value_string(output).p) {
        result->content = value_text(scratch, output, &result->content_len);
        return;
    }
    CLEANUP_BUF struct buf shown = {0};
    if (output.p)
        json_pretty_append_line(&shown, output.p, output.len);
    result->content = arena_strndup(scratch, shown.p ? shown.p : "", shown.len);
    result->content_len = shown.len;
    result->structured = value_json(scratch, output, NULL);
}

static void agenticore_redis_read_tool_result(const struct redis_entry *e)
{
    struct str id = {0}, is_error = {0}, output = {0};
    const struct value_row rows[] = {
        {"tool_use_id", &id}, {"is_error", &is_error}, {"output", &output}};
    struct event ev;
    event_init(&ev, TC_TOOL_RESULT);
    struct tc_tool_result *const result = &ev.u.tool_result;
    result->content = e->content;
    result->content_len = e->len;
    if (value_parse_line(e->content, e->len, VALUE_ROWS(rows)) == 0) {
        const char *const said_id = value_text(e->out->scratch, id, NULL);
        result->tool_use_id = said_id ? said_id : "";
        result->is_error = value_is_true(is_error);
        set_output(e->out->scratch, result, output);
    }
    result->outcome = result->is_error ? "failed" : "succeeded";
    dialect_emit_draft(e->out, &ev);
}

/* turncast writes such entries (turncast-redis(7)); agenticore does not. */
static void agenticore_redis_read_error(const struct redis_entry *e)
{
    struct str message = {0}, code = {0};
    const struct value_row rows[] = {{"message", &message}, {"code", &code}};
    struct arena *const scratch = e->out->scratch;
    const bool parsed = value_parse_line(e->content, e->len, VALUE_ROWS(rows)) == 0;
    const char *const text = parsed ? value_text(scratch, message, NULL) : NULL;
    e->r->failed = true;
    dialect_emit_error(e->out, text ? text : e->content,
                       parsed ? value_text(scratch, code, NULL) : NULL);
}

static void agenticore_redis_read_done(const struct redis_entry *e)
{
    e->r->ended = true;
    e->r->ended_ts = e->out->ts;
    if (e->r->text.len)
        dialect_emit_message(e->out, e->r->text.p, e->r->text.len, NULL);
}

/* The stream has reported its end; the success is certain when the agent has exited, or when the
 * stream continues with another turn. */
static void agenticore_redis_emit_end(struct agenticore_reader *r, const struct dialect_sink *out)
{
    if (!r->ended || r->settled)
        return;
    r->settled = true;
    struct dialect_sink then = *out;
    then.ts = r->ended_ts;
    if (!r->failed)
        dialect_emit_final(&then, r->text.p, r->text.len, NULL);
    dialect_emit_done(&then, r->failed ? "error" : "completed", NULL);
}

static int agenticore_redis_read_entry(void *state, const struct dialect_sink *out,
                                       const char *line, size_t len)
{
    static const struct {
        const char *type;
        void (*take)(const struct redis_entry *e);
    } types[] = {{"thinking", agenticore_redis_read_thinking},
                 {"assistant_text", agenticore_redis_read_text},
                 {"tool_use", agenticore_redis_read_tool_use},
                 {"tool_result", agenticore_redis_read_tool_result},
                 {"error", agenticore_redis_read_error},
                 {"done", agenticore_redis_read_done}};
    struct redis_entry e = {.r = state, .self = {line, len}, .content = ""};
    struct str id = {0}, type = {0}, content = {0}, ts = {0}, session = {0};
    const struct value_row rows[] = {{"id", &id},
                                     {"event_type", &type},
                                     {"content", &content},
                                     {"ts", &ts},
                                     {"session_id", &session}};
    if (value_parse_line(line, len, VALUE_ROWS(rows)) < 0)
        return -1;
    agenticore_redis_emit_end(state, out);
    struct agenticore_sink mark = {.to = out,
                                   .id = value_text(out->scratch, id, NULL),
                                   .session_id = value_text(out->scratch, session, NULL)};
    struct dialect_sink marked = *out;
    marked.emit = agenticore_redis_emit_marked;
    marked.ctx = &mark;
    marked.ts = value_time(ts);
    e.out = &marked;
    if (content.p)
        e.content = value_text_or_json(out->scratch, content, &e.len);
    if (!e.r->started)
        agenticore_redis_emit_start(&e);
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        if (value_equals(type, types[i].type)) {
            types[i].take(&e);
            return 0;
        }
    const char *const name = value_text(out->scratch, type, NULL);
    dialect_emit_raw(&marked, "agenticore-redis", e.self, name ? name : "unknown");
    return 0;
}

static void agenticore_redis_end_stream(void *state, const struct dialect_sink *out,
                                        const struct stream_end_info *end)
{
    if (end->how == STREAM_EOF)
        agenticore_redis_emit_end(state, out);
}

static void agenticore_redis_close_state(void *state)
{
    struct agenticore_reader *const r = state;
    buf_fini(&r->text);
}

static int sniff_entry(struct str line, const char *event)
{
    (void)event;
    return value_string(value_get_last(line, "event_type")).p &&
                   value_string(value_get_last(line, "content")).p &&
                   value_get_last(line, "correlation_id").p
               ? DIALECT_SCORE_CERTAIN
               : 0;
}

const struct dialect dialect_agenticore_redis = {
    .name = "agenticore-redis",
    .summary = "entries of an agenticore event stream",
    .state_size = sizeof(struct agenticore_reader),
    .sniff = sniff_entry,
    .line = agenticore_redis_read_entry,
    .end = agenticore_redis_end_stream,
    .close = agenticore_redis_close_state,
};
