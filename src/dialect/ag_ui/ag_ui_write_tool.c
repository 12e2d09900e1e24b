/* SPDX-License-Identifier: MIT
 * Tool calls, progress and results. */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "dialect/ag_ui/ag_ui_check.h"
#include "dialect/ag_ui/ag_ui_write.h"

static struct ag_ui_call *ag_ui_write_tool_find_call(struct ag_ui_writer *w, const char *id)
{
    for (size_t i = 0; i < w->n_calls; i++)
        if (strcmp(w->calls[i].id, id) == 0)
            return &w->calls[i];
    return NULL;
}

static struct ag_ui_call *ag_ui_write_tool_add_call(struct ag_ui_writer *w, const char *id,
                                                    const char *tag)
{
    w->calls = alloc_grow(w->calls, w->n_calls, &w->cap_calls, sizeof(*w->calls));
    w->calls[w->n_calls] =
        (struct ag_ui_call){.id = xstrdup(id), .tag = xstrdup(tag), .hash = HASH_START};
    return &w->calls[w->n_calls++];
}

static struct buf *ag_ui_write_tool_begin_of(const struct ag_ui_write_ctx *e, const char *type,
                                             const struct ag_ui_call *call)
{
    struct buf *const b = ag_ui_begin(e, type, call->tag);
    json_style_member_str(b, S, "toolCallId", ag_ui_scoped(e, call->id));
    return b;
}

/* Id of the call's message, as written; NULL if the reader has not seen it. */
static const char *ag_ui_write_tool_parent_of(const struct ag_ui_write_ctx *e,
                                              const char *message_id)
{
    const struct ag_ui_open_message *const text = &e->w->text;
    const char *const tag = ag_ui_tag(e);
    const bool known = message_id && text->id.len && strcmp(text->source.p, message_id) == 0 &&
                       strcmp(text->tag.p, tag ? tag : "") == 0;
    return known ? text->id.p : NULL;
}

/* In events from AG-UI, the parent is in x, unless another agent made the call. */
static struct ag_ui_call *start_call(const struct ag_ui_write_ctx *e, const char *id,
                                     const char *name, const char *message_id)
{
    struct ag_ui_writer *const w = e->w;
    struct ag_ui_call *const known = ag_ui_write_tool_find_call(w, id);
    if (known)
        return known;
    if (open_calls_contains(&w->ended, id))
        return NULL;
    ag_ui_close_text(e, (struct str){0});
    ag_ui_close_reasoning(e);
    struct ag_ui_call *const call = ag_ui_write_tool_add_call(w, id, ag_ui_tag(e));
    struct buf *const b = ag_ui_write_tool_begin_of(e, "TOOL_CALL_START", call);
    json_style_member_str(b, S, "toolCallName", name ? name : "tool");
    const bool told = e->ev->kind == TC_PROGRESS;
    ag_ui_add_str(b, "parentMessageId",
                  told && e->own ? NULL : ag_ui_write_tool_parent_of(e, message_id));
    ag_ui_end(e, b, told && !e->ev->u.progress.args_delta ? ag_ui_x(e) : (struct str){0});
    return call;
}

static void write_args(const struct ag_ui_write_ctx *e, struct ag_ui_call *call, const char *p,
                       size_t n, struct str x)
{
    struct buf *const b = ag_ui_write_tool_begin_of(e, "TOOL_CALL_ARGS", call);
    json_style_append_key(b, S, "delta");
    json_style_append_string(b, S, p, n);
    ag_ui_end(e, b, x);
    call->hash = hash_bytes(call->hash, p, n);
    call->sent += n;
}

static void drop_call(struct ag_ui_writer *w, struct ag_ui_call *call)
{
    open_calls_add(&w->ended, call->id, call->tag);
    free(call->id);
    free(call->tag);
    *call = w->calls[--w->n_calls];
}

static void end_call(const struct ag_ui_write_ctx *e, struct ag_ui_call *call, struct str x)
{
    ag_ui_end(e, ag_ui_write_tool_begin_of(e, "TOOL_CALL_END", call), x);
    drop_call(e->w, call);
}

/* Writes the part of the arguments that was not streamed. */
static void complete_args(const struct ag_ui_write_ctx *e, struct ag_ui_call *call)
{
    const struct tc_tool_call *const t = &e->ev->u.tool_call;
    const char *const p = t->args_raw ? t->args_raw : t->args;
    const size_t n = t->args_raw ? t->args_raw_len : t->args_len;
    const bool none = e->own && !t->args_raw;
    if (none || n <= call->sent)
        return;
    if (call->sent == 0 || hash_bytes(HASH_START, p, call->sent) == call->hash)
        write_args(e, call, p + call->sent, n - call->sent, (struct str){0});
}

void ag_ui_write_call(const struct ag_ui_write_ctx *e)
{
    const struct tc_tool_call *const t = &e->ev->u.tool_call;
    const struct str x = {e->ev->meta.x, e->ev->meta.x ? strlen(e->ev->meta.x) : 0};
    if (value_is_true(ag_ui_get_raw(x, "synthesized"))) /* made and written in an earlier run */
        return;
    struct ag_ui_call *const call = start_call(e, t->tool_use_id, t->name, t->message_id);
    if (!call)
        return;
    complete_args(e, call);
    end_call(e, call, ag_ui_x(e));
}

void ag_ui_close_calls(const struct ag_ui_write_ctx *e)
{
    while (e->w->n_calls)
        end_call(e, &e->w->calls[e->w->n_calls - 1], (struct str){0});
}

void ag_ui_fini_calls(struct ag_ui_writer *w)
{
    while (w->n_calls)
        drop_call(w, &w->calls[w->n_calls - 1]);
    free(w->calls);
}

/* Progress. */

static void ag_ui_write_tool_write_report(const struct ag_ui_write_ctx *e)
{
    const struct tc_progress *const p = &e->ev->u.progress;
    struct buf *const b = ag_ui_begin(e, "ACTIVITY_SNAPSHOT", NULL);
    const char *const key =
        p->tool_use_id ? arena_sprintf(e->a, "tool_call:%s", p->tool_use_id) : "progress";
    json_style_member_str(b, S, "messageId", ag_ui_scoped(e, key));
    json_style_member_str(b, S, "activityType", p->tool_use_id ? "tool-call-progress" : "progress");
    json_style_append_key(b, S, "content");
    buf_add_char(b, '{');
    ag_ui_add_str(b, "call_id", ag_ui_scoped(e, p->tool_use_id));
    ag_ui_add_str(b, "tool_name", p->name);
    ag_ui_add_str(b, "status", p->phase ? p->phase : "running");
    if (p->percent >= 0)
        json_style_member_real(b, S, "progress", p->percent / 100);
    if (p->loaded >= 0)
        json_style_member_real(b, S, "loaded", p->loaded);
    if (p->total >= 0)
        json_style_member_real(b, S, "total", p->total);
    ag_ui_add_str(b, "message", p->message);
    ag_ui_add_str(b, "output", p->output);
    ag_ui_add_str(b, "node_id", p->node_id);
    ag_ui_add_str(b, "parent_node_id", p->parent_node_id);
    buf_add_char(b, '}');
    json_style_member_bool(b, S, "replace", true);
    ag_ui_end_plain(e, b);
}

static void write_composing(const struct ag_ui_write_ctx *e)
{
    const struct tc_progress *const p = &e->ev->u.progress;
    struct ag_ui_call *const call = start_call(e, p->tool_use_id, p->name, NULL);
    if (call && p->args_delta_len)
        write_args(e, call, p->args_delta, p->args_delta_len, ag_ui_x(e));
}

void ag_ui_write_progress(const struct ag_ui_write_ctx *e)
{
    const struct tc_progress *const p = &e->ev->u.progress;
    const bool composing =
        p->args_delta ||
        (p->phase && (strcmp(p->phase, "preparing") == 0 || strcmp(p->phase, "args") == 0));
    const struct str x = {e->ev->meta.x, e->ev->meta.x ? strlen(e->ev->meta.x) : 0};
    if (composing && p->tool_use_id && *p->tool_use_id) {
        write_composing(e);
        return;
    }
    if (composing || (e->w->activity && ag_ui_get_raw(x, "activity_type").p))
        return; /* no information, or the activity was written */
    const bool cancelled = p->phase && strcmp(p->phase, "cancelled") == 0;
    if (cancelled && !p->message && p->percent < 0)
        return; /* the result contains it */
    ag_ui_write_tool_write_report(e);
}

/* Results. */

static void ag_ui_write_tool_add_content(const struct ag_ui_write_ctx *e, struct buf *b)
{
    const struct tc_tool_result *const r = &e->ev->u.tool_result;
    const struct str parts = {r->structured, r->structured ? strlen(r->structured) : 0};
    if (e->v1 && e->own && ag_ui_is_parts(parts)) {
        ag_ui_add_json(b, "content", parts);
        return;
    }
    json_style_append_key(b, S, "content");
    json_style_append_string(b, S, r->content, r->content_len);
}

/* AG-UI has no error flag. */
static void add_failure(const struct ag_ui_write_ctx *e, struct buf *b)
{
    const struct tc_tool_result *const r = &e->ev->u.tool_result;
    if (!r->is_error || ag_ui_x_member(e, "metadata").p)
        return;
    json_style_append_key(b, S, "metadata");
    buf_add_str(b, "{\"isError\":true");
    ag_ui_add_str(b, "outcome", r->outcome);
    buf_add_char(b, '}');
}

void ag_ui_write_result(const struct ag_ui_write_ctx *e)
{
    const struct tc_tool_result *const r = &e->ev->u.tool_result;
    struct ag_ui_writer *const w = e->w;
    const bool cancelled = r->outcome && strcmp(r->outcome, "cancelled") == 0;
    struct ag_ui_call *const open = ag_ui_write_tool_find_call(w, r->tool_use_id);
    const bool invented = e->own && cancelled && !e->ev->meta.x && !r->message_id;
    if (open_calls_remove(&w->waiting, r->tool_use_id) && cancelled)
        return;
    if (open)
        end_call(e, open, (struct str){0});
    if (invented)
        return; /* the run ended without the result, and may do so here */
    ag_ui_close_text(e, (struct str){0});
    ag_ui_close_reasoning(e);
    const bool known = open_calls_contains(&w->ended, r->tool_use_id);
    const char *const tag = known ? open_calls_get_name(&w->ended, r->tool_use_id) : ag_ui_tag(e);
    const char *const base = arena_sprintf(e->a, "%s-result", r->tool_use_id);
    struct buf *const b = ag_ui_begin(e, "TOOL_CALL_RESULT", tag);
    json_style_member_str(b, S, "messageId",
                          ag_ui_new_id(e, r->message_id && e->own ? r->message_id : base, NULL));
    json_style_member_str(b, S, "toolCallId", ag_ui_scoped(e, r->tool_use_id));
    ag_ui_write_tool_add_content(e, b);
    if (!str_is(ag_ui_x_member(e, "role"), "null"))
        json_style_member_str(b, S, "role", "tool");
    add_failure(e, b);
    ag_ui_end(e, b, ag_ui_x(e));
}
