/* SPDX-License-Identifier: MIT
 * Tool calls: composed, dispatched, approved, finished. */
#include "dialect/reader/value.h"
#include "dialect/reasonix/reasonix.h"
#include "event/json/json_writer.h"

#define LOG_ROWS 9 /* rows that the log has, too */

struct reasonix_tool reasonix_tool_read(struct str object, bool wire)
{
    struct reasonix_tool t = {0};
    const struct value_row rows[] = {{wire ? "id" : "callId", &t.id},
                                     {"name", &t.name},
                                     {"args", &t.args},
                                     {"output", &t.output},
                                     {"err", &t.err},
                                     {"readOnly", &t.read_only},
                                     {"truncated", &t.truncated},
                                     {"durationMs", &t.duration},
                                     {"parentId", &t.parent},
                                     {"argChars", &t.arg_chars},
                                     {"diff", &t.diff},
                                     {"added", &t.added},
                                     {"removed", &t.removed}};
    value_get_members(object, rows, wire ? sizeof(rows) / sizeof(rows[0]) : LOG_ROWS);
    return t;
}

char *reasonix_prepend_member(struct arena *a, const char *x, const char *key, const char *json)
{
    if (!x)
        return arena_sprintf(a, "{\"%s\":%s}", key, json);
    return arena_sprintf(a, "{\"%s\":%s,%s", key, json, x + 1);
}

static const char *reasonix_tool_id_of(const struct reasonix_ctx *call,
                                       const struct reasonix_tool *tool)
{
    const char *const id = reasonix_copy(call, tool->id);
    return id ? id : "";
}

/* Members missing in a result are in its dispatch. */
static const char *reasonix_tool_parent_of(const struct reasonix_ctx *call,
                                           const struct reasonix_tool *tool, const char *id)
{
    const char *const told = reasonix_copy(call, tool->parent);
    const char *const known = told ? told : open_calls_get_name(&call->r->parents, id);
    return arena_strdup(call->out->scratch, known);
}

static const char *reasonix_tool_name_of(const struct reasonix_ctx *call,
                                         const struct reasonix_tool *tool, const char *id)
{
    const char *const told = reasonix_copy(call, tool->name);
    const char *const known = told ? told : open_calls_get_name(&call->r->calls, id);
    return arena_strdup(call->out->scratch, known);
}

static void init_progress(const struct reasonix_ctx *call, const struct reasonix_tool *tool,
                          struct event *ev, const char *phase)
{
    const char *const id = reasonix_tool_id_of(call, tool);
    event_init(ev, TC_PROGRESS);
    ev->u.progress.tool_use_id = *id ? id : NULL;
    ev->u.progress.name = reasonix_tool_name_of(call, tool, id);
    ev->u.progress.phase = phase;
    ev->meta.parent_id = reasonix_tool_parent_of(call, tool, id);
    ev->meta.x = tool->x;
}

void reasonix_prepare(const struct reasonix_ctx *call, const struct reasonix_tool *tool)
{
    struct event ev;
    init_progress(call, tool, &ev, "preparing");
    ev.u.progress.arg_chars = value_int(tool->arg_chars, -1);
    dialect_emit_draft(call->out, &ev);
    const char *const id = ev.u.progress.tool_use_id;
    if (id && !open_calls_contains(&call->r->partial, id))
        open_calls_add(&call->r->partial, id, ev.u.progress.name);
}

void reasonix_output(const struct reasonix_ctx *call, const struct reasonix_tool *tool)
{
    struct event ev;
    init_progress(call, tool, &ev, "running");
    ev.u.progress.output = value_text(call->out->scratch, tool->output, &ev.u.progress.output_len);
    dialect_emit_draft(call->out, &ev);
}

static void reasonix_tool_remember(struct reasonix *r, const struct event *call)
{
    const struct tc_tool_call *const tc = &call->u.tool_call;
    if (open_calls_contains(&r->calls, tc->tool_use_id))
        return;
    open_calls_add(&r->calls, tc->tool_use_id, tc->name);
    if (call->meta.parent_id)
        open_calls_add(&r->parents, tc->tool_use_id, call->meta.parent_id);
    if (tc->read_only == 1)
        open_calls_add(&r->readers, tc->tool_use_id, NULL);
}

/* A dispatch of an open call updates it: the guard turns it into progress. */
void reasonix_dispatch(const struct reasonix_ctx *call, const struct reasonix_tool *tool)
{
    struct reasonix *const r = call->r;
    struct event ev;
    struct tc_tool_call *const tc = &ev.u.tool_call;
    event_init(&ev, TC_TOOL_CALL);
    tc->tool_use_id = reasonix_tool_id_of(call, tool);
    tc->name = reasonix_tool_name_of(call, tool, tc->tool_use_id);
    tc->name = tc->name ? tc->name : "tool";
    tc->read_only = tool->read_only.p ? value_is_true(tool->read_only) : -1;
    tool_args_parse(call->out->scratch, tc, tool->args);
    ev.meta.parent_id = reasonix_tool_parent_of(call, tool, tc->tool_use_id);
    ev.meta.x = tool->x;
    open_calls_remove(&r->partial, tc->tool_use_id);
    if (!ev.meta.parent_id) { /* text before a call is narration */
        buf_reset(&r->answer);
        buf_reset(&r->streamed);
        buf_reset(&r->message_id);
    }
    reasonix_tool_remember(r, &ev);
    dialect_emit_draft(call->out, &ev);
}

static void reasonix_tool_set_content(const struct reasonix_ctx *call,
                                      const struct reasonix_tool *tool,
                                      struct tc_tool_result *result, const char *err,
                                      size_t err_len)
{
    size_t len = 0;
    const char *const output = value_text(call->out->scratch, tool->output, &len);
    result->is_error = err_len > 0;
    result->content = len ? output : err_len ? err : "";
    result->content_len = len ? len : err_len;
    result->outcome = !result->is_error                            ? "succeeded"
                      : reasonix_covenant(call->out->scratch, err) ? "denied"
                                                                   : "failed";
}

/* Members of the dispatch missing in the result, and members without a canonical place. */
static const char *result_x(const struct reasonix_ctx *call, const struct reasonix_tool *tool,
                            const char *id, const char *err, size_t err_len)
{
    struct arena *const a = call->out->scratch;
    const char *x = tool->x;
    if (value_is_true(tool->read_only) || open_calls_contains(&call->r->readers, id))
        x = reasonix_prepend_member(a, x, "readOnly", "true");
    if (err_len) {
        CLEANUP_BUF struct buf json = {0};
        jsonw_string(&json, err, err_len);
        x = reasonix_prepend_member(a, x, "err", json.p);
    }
    return x;
}

/* A tool that ran was allowed, and one that answered got its answer. */
static void resolve_request(const struct reasonix_ctx *call, const struct event *result)
{
    struct reasonix *const r = call->r;
    const struct tc_tool_result *const tr = &result->u.tool_result;
    const char *const id = open_calls_find_by_name(&r->asked, tr->tool_use_id);
    struct event ev;
    if (!id)
        return;
    const bool ask = open_calls_contains(&r->asks, id);
    const bool denied = strcmp(tr->outcome, "denied") == 0;
    event_init(&ev, TC_REQUEST);
    ev.u.request.request_id = arena_strdup(call->out->scratch, id);
    ev.u.request.kind = ask ? "ask" : "approval";
    ev.u.request.state = "resolved";
    ev.u.request.tool_use_id = tr->tool_use_id;
    ev.u.request.decision =
        ask ? (tr->is_error ? "cancelled" : "answered") : (denied ? "deny" : "allow");
    open_calls_remove(&r->asks, id);
    open_calls_remove(&r->asked, id);
    dialect_emit_draft(call->out, &ev);
}

void reasonix_result(const struct reasonix_ctx *call, const struct reasonix_tool *tool)
{
    struct reasonix *const r = call->r;
    struct event ev;
    struct tc_tool_result *const result = &ev.u.tool_result;
    size_t err_len = 0;
    const char *const err = value_text(call->out->scratch, tool->err, &err_len);
    event_init(&ev, TC_TOOL_RESULT);
    result->tool_use_id = reasonix_tool_id_of(call, tool);
    result->name = reasonix_tool_name_of(call, tool, result->tool_use_id);
    result->truncated = value_is_true(tool->truncated);
    result->duration_ms = value_real(tool->duration, -1);
    result->diff = reasonix_copy(call, tool->diff);
    result->added = value_int(tool->added, -1);
    result->removed = value_int(tool->removed, -1);
    reasonix_tool_set_content(call, tool, result, err, err_len);
    ev.meta.parent_id = reasonix_tool_parent_of(call, tool, result->tool_use_id);
    ev.meta.x = result_x(call, tool, result->tool_use_id, err, err_len);
    resolve_request(call, &ev);
    dialect_emit_draft(call->out, &ev);
    open_calls_remove(&r->calls, result->tool_use_id);
    open_calls_remove(&r->parents, result->tool_use_id);
    open_calls_remove(&r->readers, result->tool_use_id);
}

/* A request names its tool, not its call: the oldest open call of that name is meant. */
void reasonix_emit_request(const struct reasonix_ctx *call, const char *kind,
                           const struct reasonix_request *request)
{
    struct reasonix *const r = call->r;
    struct event ev;
    struct tc_request *const rq = &ev.u.request;
    const bool ask = strcmp(kind, "ask") == 0;
    const char *const id = reasonix_copy(call, request->id);
    event_init(&ev, TC_REQUEST);
    rq->request_id = id ? id : "";
    rq->kind = kind;
    rq->state = "open";
    rq->tool = reasonix_copy(call, request->tool);
    rq->subject = reasonix_copy(call, request->subject);
    rq->reason = reasonix_copy(call, request->reason);
    rq->questions = value_json(call->out->scratch, request->questions, NULL);
    rq->blocking = true;
    rq->tool_use_id = open_calls_find_by_name(&r->calls, ask ? "ask" : rq->tool ? rq->tool : "");
    ev.meta.x = request->x;
    if (id && rq->tool_use_id && !open_calls_contains(&r->asked, id)) {
        open_calls_add(&r->asked, id, rq->tool_use_id);
        if (ask)
            open_calls_add(&r->asks, id, NULL);
    }
    dialect_emit_draft(call->out, &ev);
}
