/* SPDX-License-Identifier: MIT
 * Tool calls, progress, results and suspensions. */
#include <math.h>

#include "dialect/awaken/awaken_write.h"
#include "dialect/reader/value.h"

static void write_call_start(const struct awaken_write_ctx *e, const char *id, const char *name)
{
    if (open_calls_contains(&e->w->started, id))
        return;
    open_calls_add(&e->w->started, id, name);
    struct buf *const b = awaken_begin(e, "tool_call_start");
    json_style_member_str(b, SERDE, "id", id);
    json_style_member_str(b, SERDE, "name", name ? name : "tool");
    awaken_end(e, b);
}

void awaken_write_call(const struct awaken_write_ctx *e)
{
    const struct tc_tool_call *const call = &e->ev->u.tool_call;
    const struct str args = awaken_rest(e->ev, "/arguments");
    if (awaken_rest(e->ev, "/synthesized").p) /* made and written in an earlier run */
        return;
    write_call_start(e, call->tool_use_id, call->name);
    struct buf *const b = awaken_begin(e, "tool_call_ready");
    json_style_member_str(b, SERDE, "id", call->tool_use_id);
    json_style_member_str(b, SERDE, "name", call->name);
    awaken_add_slice(b, "arguments", args.p ? args : (struct str){call->args, call->args_len});
    awaken_end(e, b);
}

static void write_activity_content(struct buf *b, const struct awaken_write_ctx *e)
{
    const struct tc_progress *const p = &e->ev->u.progress;
    const char *const phase = p->phase && strcmp(p->phase, "preparing") == 0 ? "pending" : p->phase;
    const char *const known =
        p->tool_use_id ? open_calls_get_name(&e->w->started, p->tool_use_id) : NULL;
    json_style_append_key(b, SERDE, "content");
    buf_add_char(b, '{');
    awaken_add_str(b, "call_id", p->tool_use_id);
    awaken_add_count(b, "loaded", (int64_t)fmin(p->loaded, 9e18));
    awaken_add_str(b, "message", p->message);
    awaken_add_str(b, "node_id", p->node_id ? p->node_id : p->tool_use_id);
    awaken_add_str(b, "parent_node_id", p->parent_node_id);
    if (p->percent >= 0)
        json_style_member_real(b, SERDE, "progress", p->percent / 100);
    json_style_member_str(b, SERDE, "run_id", e->w->run_id.p);
    json_style_member_str(b, SERDE, "schema", "tool-call-progress.v1");
    json_style_member_str(b, SERDE, "status", phase && *phase ? phase : "running");
    json_style_member_str(b, SERDE, "thread_id", e->w->thread_id.p);
    awaken_add_str(b, "tool_name", p->name ? p->name : known);
    awaken_add_count(b, "total", (int64_t)fmin(p->total, 9e18));
    buf_add_char(b, '}');
}

static void awaken_write_tool_write_report(const struct awaken_write_ctx *e)
{
    const struct tc_progress *const p = &e->ev->u.progress;
    struct buf *const b = awaken_begin(e, "activity_snapshot");
    json_style_member_str(b, SERDE, "message_id", p->tool_use_id ? p->tool_use_id : e->w->run_id.p);
    json_style_member_str(b, SERDE, "activity_type",
                          p->tool_use_id ? "tool-call-progress" : "progress");
    write_activity_content(b, e);
    json_style_member_bool(b, SERDE, "replace", true);
    awaken_end(e, b);
}

static void write_piece(const struct awaken_write_ctx *e, const char *type, const char *key,
                        const char *text)
{
    const struct tc_progress *const p = &e->ev->u.progress;
    struct buf *const b = awaken_begin(e, type);
    json_style_member_str(b, SERDE, "id", p->tool_use_id);
    if (strcmp(key, "delta") == 0)
        json_style_member_str(b, SERDE, "name", p->name ? p->name : "tool");
    json_style_member_str(b, SERDE, key, text);
    awaken_end(e, b);
}

static bool has_report(const struct tc_progress *p)
{
    static const char *const news[] = {"running", "done", "failed", "cancelled"};
    if (p->message || p->percent >= 0 || p->loaded >= 0 || p->total >= 0)
        return true;
    for (size_t i = 0; p->phase && i < sizeof(news) / sizeof(news[0]); i++)
        if (!p->output && strcmp(p->phase, news[i]) == 0)
            return true;
    return false;
}

void awaken_write_progress(const struct awaken_write_ctx *e)
{
    const struct tc_progress *const p = &e->ev->u.progress;
    const bool composing =
        p->phase && (strcmp(p->phase, "preparing") == 0 || strcmp(p->phase, "args") == 0);
    if (e->w->activity && awaken_rest(e->ev, "/activity_type").p)
        return; /* the activity was written */
    if (p->tool_use_id && open_calls_contains(&e->w->suspended, p->tool_use_id))
        return;
    if (p->tool_use_id && composing)
        write_call_start(e, p->tool_use_id, p->name);
    if (p->tool_use_id && p->args_delta)
        write_piece(e, "tool_call_delta", "args_delta", p->args_delta);
    if (p->tool_use_id && p->output)
        write_piece(e, "tool_call_stream_delta", "delta", p->output);
    if (has_report(p))
        awaken_write_tool_write_report(e);
}

/* A structure with ordered members. */
struct shape {
    const char *key;
    const struct shape *inner; /* or NULL: any value */
    bool always;               /* null when absent */
};

static const struct shape ticket_shape[] = {
    {"id", NULL, false},         {"action", NULL, false},          {"message", NULL, false},
    {"parameters", NULL, false}, {"response_schema", NULL, false}, {NULL, NULL, false}};
static const struct shape pending_shape[] = {
    {"id", NULL, false}, {"name", NULL, false}, {"arguments", NULL, true}, {NULL, NULL, false}};
static const struct shape suspension_shape[] = {{"suspension", ticket_shape, false},
                                                {"pending", pending_shape, false},
                                                {"resume_mode", NULL, false},
                                                {NULL, NULL, false}};
/* Members behind the data. */
static const struct shape result_shape[] = {{"message", NULL, true},
                                            {"suspension", suspension_shape, false},
                                            {"metadata", NULL, false},
                                            {NULL, NULL, false}};

static void write_shape(struct buf *b, const struct shape *shape, struct str object)
{
    for (; shape->key; shape++) {
        const struct str value = value_get_last(object, shape->key);
        if (value.p && shape->inner) {
            json_style_append_key(b, SERDE, shape->key);
            buf_add_char(b, '{');
            write_shape(b, shape->inner, value);
            buf_add_char(b, '}');
        } else if (value.p || shape->always) {
            awaken_add_slice(b, shape->key, value);
        }
    }
}

/* Writes all members of a tool_call_done except its data. */
struct call_done {
    const char *id, *message_id, *name, *status, *outcome;
    struct str rest; /* message, suspension, metadata */
};

static struct buf *begin_call_done(const struct awaken_write_ctx *e, const struct call_done *done)
{
    struct buf *const b = awaken_begin(e, "tool_call_done");
    json_style_member_str(b, SERDE, "id", done->id);
    json_style_append_key(b, SERDE, "message_id");
    if (done->message_id)
        json_style_append_string(b, SERDE, done->message_id, strlen(done->message_id));
    else
        buf_printf(b, "\"msg_%lld\"", (long long)++e->w->messages);
    json_style_append_key(b, SERDE, "result");
    buf_add_char(b, '{');
    json_style_member_str(b, SERDE, "tool_name", done->name ? done->name : "tool");
    json_style_member_str(b, SERDE, "status", done->status);
    json_style_append_key(b, SERDE, "data");
    return b;
}

static void end_call_done(const struct awaken_write_ctx *e, struct buf *b,
                          const struct call_done *done)
{
    write_shape(b, result_shape, done->rest);
    buf_add_char(b, '}');
    json_style_member_str(b, SERDE, "outcome", done->outcome);
    awaken_end(e, b);
}

/* Inverse of the reader's conversion of the data. */
static void write_data(struct buf *b, const struct tc_tool_result *result, struct str said)
{
    CLEANUP_BUF struct buf quoted = {0};
    json_style_append_string(&quoted, SERDE, result->content, result->content_len);
    struct arena scratch = {0};
    const char *const message = value_text(&scratch, value_get_last(said, "message"), NULL);
    const bool none =
        said.p && (result->content_len == 0 || (message && strcmp(message, result->content) == 0));
    if (said.p && result->structured)
        json_style_append_value(b, SERDE, result->structured, strlen(result->structured));
    else if (none)
        buf_add_str(b, "null");
    else
        buf_add(b, quoted.p, quoted.len);
    arena_fini(&scratch);
}

void awaken_write_result(const struct awaken_write_ctx *e)
{
    const struct tc_tool_result *const result = &e->ev->u.tool_result;
    const bool cancelled = result->outcome && strcmp(result->outcome, "cancelled") == 0;
    const bool waits = open_calls_remove(&e->w->suspended, result->tool_use_id);
    if (waits && cancelled)
        return;
    struct arena scratch = {0};
    const struct str said = awaken_rest(e->ev, "/result");
    const char *const status = value_text(&scratch, value_get_last(said, "status"), NULL);
    const struct call_done done = {.id = result->tool_use_id,
                                   .message_id = result->message_id,
                                   .name = result->name,
                                   .status = status             ? status
                                             : result->is_error ? "error"
                                                                : "success",
                                   .outcome = result->is_error ? "failed" : "succeeded",
                                   .rest = said};
    struct buf *const b = begin_call_done(e, &done);
    write_data(b, result, said);
    end_call_done(e, b, &done);
    arena_fini(&scratch);
}

/* Requests: a suspended call. */

static void add_ticket(struct buf *b, const struct tc_request *request, const char *call)
{
    buf_add_str(b, "{");
    awaken_add_str(b, "message", request->message);
    buf_add_str(b, request->message ? ",\"suspension\":{\"suspension\":{"
                                    : "\"suspension\":{\"suspension\":{");
    json_style_member_str(b, SERDE, "id", request->request_id);
    json_style_member_str(b, SERDE, "action", request->reason ? request->reason : request->kind);
    awaken_add_str(b, "message", request->message);
    if (request->args)
        awaken_add_json(b, "parameters", request->args);
    if (request->schema)
        awaken_add_json(b, "response_schema", request->schema);
    buf_add_str(b, "},\"pending\":{");
    json_style_member_str(b, SERDE, "id", call);
    json_style_member_str(b, SERDE, "name", request->tool ? request->tool : "tool");
    awaken_add_json(b, "arguments", request->args);
    buf_add_str(b, "},\"resume_mode\":\"replay_tool_call\"}}");
}

static void write_open_request(const struct awaken_write_ctx *e)
{
    const struct tc_request *const request = &e->ev->u.request;
    const char *const call = request->tool_use_id ? request->tool_use_id : request->request_id;
    CLEANUP_BUF struct buf ticket = {0};
    struct arena scratch = {0};
    struct call_done done = {.id = call,
                             .message_id =
                                 value_text(&scratch, awaken_rest(e->ev, "/message_id"), NULL),
                             .name = request->tool,
                             .status = "pending",
                             .outcome = "suspended",
                             .rest = awaken_rest(e->ev, "/result")};
    const struct str data = value_get_last(done.rest, "data");
    if (!value_get_last(done.rest, "suspension").p) {
        add_ticket(&ticket, request, call);
        done.rest = (struct str){ticket.p, ticket.len};
    }
    open_calls_add(&e->w->suspended, call, NULL);
    struct buf *const b = begin_call_done(e, &done);
    if (data.p)
        json_style_append_value(b, SERDE, data.p, data.len);
    else
        buf_add_str(b, "null");
    end_call_done(e, b, &done);
    arena_fini(&scratch);
}

static void write_resolved_request(const struct awaken_write_ctx *e)
{
    const struct tc_request *const request = &e->ev->u.request;
    const char *const call = request->tool_use_id ? request->tool_use_id : request->request_id;
    const bool allowed = request->decision && strcmp(request->decision, "allow") == 0;
    open_calls_remove(&e->w->suspended, call);
    struct buf *const b = awaken_begin(e, "tool_call_resumed");
    json_style_member_str(b, SERDE, "target_id", call);
    if (request->answers || !request->decision)
        awaken_add_json(b, "result", request->answers);
    else
        awaken_add_json(b, "result", allowed ? "{\"approved\":true}" : "{\"approved\":false}");
    awaken_end(e, b);
}

void awaken_write_request(const struct awaken_write_ctx *e)
{
    if (strcmp(e->ev->u.request.state, "resolved") == 0)
        write_resolved_request(e);
    else
        write_open_request(e);
}
