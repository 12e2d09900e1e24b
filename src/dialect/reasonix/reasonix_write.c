/* SPDX-License-Identifier: MIT
 * Writer of the event stream of Reasonix' server, with the bytes of its Go encoder. Events from
 * that server are reproduced unchanged; x holds members that only Reasonix has.
 *
 * Guarantees of the format, whatever the source was: the text of a message was streamed before it;
 * turn_done is last; the costs of all `usage` lines add up to the cost of the turn. */
#include <stdio.h>
#include <stdlib.h>

#include "dialect/reader/value.h"
#include "dialect/reasonix/reasonix.h"
#include "dialect/reasonix/reasonix_write_internal.h"
#include "dialect/writer/json_member.h"
#include "dialect/writer/streamed_text.h"
#include "dialect/writer/writer_list.h"
#include "event/json/json_reader.h"

struct buf *reasonix_begin(const struct reasonix_wire *wire, const char *kind)
{
    struct buf *const b = writer_begin_message(wire->out);
    buf_add_char(b, '{');
    json_style_member_str(b, GO, "kind", kind);
    return b;
}

void reasonix_end_line(const struct reasonix_wire *wire)
{
    buf_add_char(wire->out->buf, '}');
    writer_begin_end_message(wire->out);
}

static const char *const nothing[] = {NULL};

static bool reasonix_write_is_child(const struct reasonix_wire *wire)
{
    return wire->ev->meta.agent || wire->ev->meta.parent_id;
}

static void reasonix_write_write_start(const struct reasonix_wire *wire)
{
    struct buf *const b = reasonix_begin(wire, "turn_started");
    if (wire->own)
        json_member_rest(b, GO, wire->x, nothing);
    reasonix_end_line(wire);
}

static void write_text(const struct reasonix_wire *wire, const char *kind, const char *text,
                       size_t len)
{
    if (!len || reasonix_write_is_child(wire)) /* this stream has only the tools of sub-agents */
        return;
    json_member_text(reasonix_begin(wire, kind), GO, "text", text, len);
    reasonix_end_line(wire);
}

static void write_answer_text(const struct reasonix_wire *wire, const char *text, size_t len)
{
    write_text(wire, "text", text, len);
    if (!reasonix_write_is_child(wire))
        streamed_text_add(&wire->w->said, text, len);
}

static void reasonix_write_write_narration(const struct reasonix_wire *wire)
{
    const struct tc_narration *const n = &wire->ev->u.narration;
    write_answer_text(wire, n->text, n->text_len);
}

static void reasonix_write_write_thinking(const struct reasonix_wire *wire)
{
    const struct tc_thinking *const t = &wire->ev->u.thinking;
    write_text(wire, "reasoning", t->text, t->text_len);
}

static void reasonix_write_store_message(struct reasonix_writing *w, const char *text, size_t len)
{
    buf_reset(&w->message);
    buf_add(&w->message, text ? text : "", len);
}

static void reasonix_write_write_message(const struct reasonix_wire *wire)
{
    const struct tc_message *const m = &wire->ev->u.message;
    if (reasonix_write_is_child(wire) || m->persisted || strcmp(m->role, "assistant") != 0)
        return;
    if (!wire->own && m->text_len && !streamed_text_ends_with(&wire->w->said, m->text, m->text_len))
        write_answer_text(wire, m->text, m->text_len);
    struct buf *const b = reasonix_begin(wire, "message");
    json_member_text(b, GO, "text", m->text, m->text_len);
    json_member_text(b, GO, "reasoning", m->reasoning, m->reasoning_len);
    if (wire->own)
        json_member_rest(b, GO, wire->x, nothing);
    reasonix_end_line(wire);
    reasonix_write_store_message(wire->w, m->text, m->text_len);
    wire->w->folded = wire->own && value_get_last(wire->x, "usage").p;
}

/* The message was sent already, unless the answer is another text. */
static void reasonix_write_write_final(const struct reasonix_wire *wire)
{
    const struct tc_final *const f = &wire->ev->u.final;
    const struct buf *const sent = &wire->w->message;
    const bool same =
        str_equal((struct str){sent->p, sent->len}, (struct str){f->text, f->text_len});
    if (!f->text_len || f->synthesized || same)
        return;
    if (!streamed_text_ends_with(&wire->w->said, f->text, f->text_len))
        write_answer_text(wire, f->text, f->text_len);
    json_member_text(reasonix_begin(wire, "message"), GO, "text", f->text, f->text_len);
    reasonix_end_line(wire);
}

/* The members of a tool, in the order of the original's struct; empty ones are left out. */
struct wire_tool {
    const char *id, *name;
    struct str args, output, err;
    bool read_only, truncated, partial;
    double duration_ms;
    int64_t arg_chars;
    const char *diff;
    int64_t added, removed;
};

static void write_tool(const struct reasonix_wire *wire, const char *kind,
                       const struct wire_tool *t)
{
    static const char *const written[] = {"resolvedName", "capabilityId", "err",
                                          "readOnly",     "refreshed",    "attemptId",
                                          "kind",         "args",         NULL};
    const struct str x = wire->own ? wire->x : (struct str){0};
    struct buf *const b = reasonix_begin(wire, kind);
    json_style_append_key(b, GO, "tool");
    buf_add_char(b, '{');
    json_member_str(b, GO, "id", t->id);
    json_style_member_str(b, GO, "name", t->name ? t->name : "");
    json_member_text(b, GO, "args", t->args.p, t->args.len);
    json_member_value(b, GO, "resolvedName", value_get_last(x, "resolvedName"));
    json_member_value(b, GO, "capabilityId", value_get_last(x, "capabilityId"));
    json_member_text(b, GO, "output", t->output.p, t->output.len);
    json_member_text(b, GO, "err", t->err.p, t->err.len);
    json_style_member_bool(b, GO, "readOnly",
                           t->read_only || value_is_true(value_get_last(x, "readOnly")));
    json_member_true(b, GO, "truncated", t->truncated);
    if (t->duration_ms > 0)
        json_style_member_real(b, GO, "durationMs", t->duration_ms);
    json_member_true(b, GO, "partial", t->partial);
    json_member_count(b, GO, "argChars", t->arg_chars);
    json_member_value(b, GO, "refreshed", value_get_last(x, "refreshed"));
    json_member_str(b, GO, "parentId", wire->ev->meta.parent_id);
    json_member_value(b, GO, "attemptId", value_get_last(x, "attemptId"));
    json_member_str(b, GO, "diff", t->diff);
    json_member_count(b, GO, "added", t->added);
    json_member_count(b, GO, "removed", t->removed);
    json_member_rest(b, GO, x, written);
    buf_add_char(b, '}');
    reasonix_end_line(wire);
}

static void reasonix_write_write_call(const struct reasonix_wire *wire)
{
    const struct tc_tool_call *const c = &wire->ev->u.tool_call;
    struct reasonix_writing *const w = wire->w;
    struct wire_tool t = {
        .id = c->tool_use_id, .name = c->name, .args = {c->args_raw, c->args_raw_len}};
    if (!c->args_raw && !wire->own)
        t.args = (struct str){c->args, c->args_len};
    t.read_only = c->read_only == 1;
    open_calls_add(&w->calls, c->tool_use_id, c->name);
    if (t.read_only)
        open_calls_add(&w->readers, c->tool_use_id, NULL);
    write_tool(wire, "tool_dispatch", &t);
}

/* A repeated dispatch: its arguments are in x. */
static void write_refreshed(const struct reasonix_wire *wire, struct str args)
{
    const struct tc_progress *const p = &wire->ev->u.progress;
    const struct wire_tool t = {.id = p->tool_use_id,
                                .name = p->name,
                                .args = args,
                                .read_only =
                                    open_calls_contains(&wire->w->readers, p->tool_use_id)};
    write_tool(wire, "tool_dispatch", &t);
}

static bool is_phase(const struct tc_progress *p, const char *phase)
{
    return p->phase && strcmp(p->phase, phase) == 0;
}

static void write_preparing(const struct reasonix_wire *wire)
{
    const struct tc_progress *const p = &wire->ev->u.progress;
    const struct wire_tool t = {
        .id = p->tool_use_id, .name = p->name, .partial = true, .arg_chars = p->arg_chars};
    write_tool(wire, "tool_dispatch", &t);
}

static void write_output(const struct reasonix_wire *wire)
{
    const struct tc_progress *const p = &wire->ev->u.progress;
    const struct str kind = value_get_last(wire->x, "kind");
    struct wire_tool t = {
        .id = p->tool_use_id, .name = p->name, .output = {p->output, p->output_len}};
    if (!p->output)
        t.output = (struct str){p->message, strlen(p->message)};
    if (!t.name && p->tool_use_id)
        t.name = open_calls_get_name(&wire->w->calls, p->tool_use_id);
    t.read_only = p->tool_use_id && open_calls_contains(&wire->w->readers, p->tool_use_id);
    const bool preview = wire->own && value_equals(kind, "tool_result_preview");
    write_tool(wire, preview ? "tool_result_preview" : "tool_progress", &t);
}

static void write_phase(const struct reasonix_wire *wire, const char *text)
{
    static const char *const written[] = {"kind", NULL};
    const bool turn = wire->own && value_equals(value_get_last(wire->x, "kind"), "turn_phase");
    struct buf *const b = reasonix_begin(wire, turn ? "turn_phase" : "phase");
    json_member_str(b, GO, "text", text);
    if (wire->own)
        json_member_rest(b, GO, wire->x, written);
    reasonix_end_line(wire);
}

static void reasonix_write_write_progress(const struct reasonix_wire *wire)
{
    const struct tc_progress *const p = &wire->ev->u.progress;
    const struct str args = value_get_last(wire->x, "args");
    const bool tool = p->tool_use_id || p->name;
    if (tool && is_phase(p, "preparing"))
        write_preparing(wire);
    else if (p->tool_use_id && is_phase(p, "running") && args.p && *args.p == '{')
        write_refreshed(wire, args);
    else if (tool && (p->output || p->message))
        write_output(wire);
    else if (p->message)
        write_phase(wire, p->message);
}

static void reasonix_write_write_result(const struct reasonix_wire *wire)
{
    const struct tc_tool_result *const r = &wire->ev->u.tool_result;
    struct reasonix_writing *const w = wire->w;
    struct arena scratch = {0};
    const struct str content = {r->content, r->content_len};
    struct wire_tool t = {.id = r->tool_use_id,
                          .name =
                              r->name ? r->name : open_calls_get_name(&w->calls, r->tool_use_id),
                          .read_only = open_calls_contains(&w->readers, r->tool_use_id),
                          .truncated = r->truncated,
                          .duration_ms = r->duration_ms,
                          .diff = r->diff,
                          .added = r->added,
                          .removed = r->removed};
    if (r->is_error && wire->own)
        t.err.p = value_text(&scratch, value_get_last(wire->x, "err"), &t.err.len);
    if (r->is_error && !t.err.p)
        t.err = content.len  ? content
                : r->outcome ? (struct str){r->outcome, strlen(r->outcome)}
                             : STR("failed");
    if (!str_equal(content, t.err))
        t.output = content;
    write_tool(wire, "tool_result", &t);
    open_calls_remove(&w->calls, r->tool_use_id);
    open_calls_remove(&w->readers, r->tool_use_id);
    arena_fini(&scratch);
}

static void reasonix_write_write_approval(const struct reasonix_wire *wire)
{
    const struct tc_request *const r = &wire->ev->u.request;
    struct buf *const b = reasonix_begin(wire, "approval_request");
    const char *const subject = r->subject ? r->subject : r->message ? r->message : r->args;
    json_style_append_key(b, GO, "approval");
    buf_add_char(b, '{');
    json_style_member_str(b, GO, "id", r->request_id);
    json_style_member_str(b, GO, "tool", r->tool ? r->tool : "");
    json_style_member_str(b, GO, "subject", subject ? subject : "");
    json_member_str(b, GO, "reason", r->reason);
    if (wire->own)
        json_member_rest(b, GO, wire->x, nothing);
    buf_add_char(b, '}');
    reasonix_end_line(wire);
}

/* The members of a value in the order of the original's struct. */
static void reasonix_write_add_option(struct buf *b, struct str option)
{
    const struct str label = value_get_last(option, "label");
    buf_add_char(b, '{');
    json_member_value(b, GO, "label", label.p ? label : STR("\"\""));
    json_member_value(b, GO, "description", value_get_last(option, "description"));
    buf_add_char(b, '}');
}

static void reasonix_write_add_each(struct buf *b, struct str array,
                                    void (*add)(struct buf *b, struct str value))
{
    struct json j;
    struct str value;
    bool first = true;
    buf_add_char(b, '[');
    json_reader_open_array(&j, array);
    while (json_reader_next_value(&j, &value)) {
        if (!first)
            buf_add_char(b, ',');
        first = false;
        add(b, value);
    }
    buf_add_char(b, ']');
}

static void reasonix_write_add_question(struct buf *b, struct str question)
{
    const struct str id = value_get_last(question, "id"),
                     prompt = value_get_last(question, "prompt");
    buf_add_char(b, '{');
    json_member_value(b, GO, "id", id.p ? id : STR("\"\""));
    json_member_value(b, GO, "header", value_get_last(question, "header"));
    json_member_value(b, GO, "prompt", prompt.p ? prompt : STR("\"\""));
    json_style_append_key(b, GO, "options");
    reasonix_write_add_each(b, value_get_last(question, "options"), reasonix_write_add_option);
    json_member_true(b, GO, "multi", value_is_true(value_get_last(question, "multi")));
    buf_add_char(b, '}');
}

/* A credential or an input request is a question without options. */
static void add_plain_question(struct buf *b, const struct tc_request *r)
{
    const char *const prompt = r->message ? r->message : r->subject ? r->subject : r->reason;
    buf_add_str(b, "[{");
    json_style_member_str(b, GO, "id", r->request_id);
    json_style_member_str(b, GO, "prompt", prompt ? prompt : "");
    buf_add_str(b, ",\"options\":[]}]");
}

static void reasonix_write_ask_request(const struct reasonix_wire *wire)
{
    const struct tc_request *const r = &wire->ev->u.request;
    struct buf *const b = reasonix_begin(wire, "ask_request");
    json_style_append_key(b, GO, "ask");
    buf_add_char(b, '{');
    json_style_member_str(b, GO, "id", r->request_id);
    json_style_append_key(b, GO, "questions");
    if (r->questions)
        reasonix_write_add_each(b, (struct str){r->questions, strlen(r->questions)},
                                reasonix_write_add_question);
    else
        add_plain_question(b, r);
    if (wire->own)
        json_member_rest(b, GO, wire->x, nothing);
    buf_add_char(b, '}');
    reasonix_end_line(wire);
}

static void reasonix_write_write_request(const struct reasonix_wire *wire)
{
    const struct tc_request *const r = &wire->ev->u.request;
    if (strcmp(r->state, "open") != 0)
        return;
    if (strcmp(r->kind, "approval") == 0)
        reasonix_write_write_approval(wire);
    else
        reasonix_write_ask_request(wire);
}

static void reasonix_write_write_step(const struct reasonix_wire *wire)
{
    const struct tc_step *const s = &wire->ev->u.step;
    char name[40];
    if (strcmp(s->state, "end") == 0 || (!s->name && s->index < 0))
        return;
    snprintf(name, sizeof(name), "step %lld", (long long)s->index + 1);
    write_phase(wire, s->name ? s->name : name);
}

static void write_plain_notice(const struct reasonix_wire *wire)
{
    const struct tc_notice *const n = &wire->ev->u.notice;
    struct buf *const b = reasonix_begin(wire, "notice");
    json_member_str(b, GO, "text", n->text);
    json_member_str(b, GO, "detail", n->detail);
    json_member_str(b, GO, "code", n->code);
    json_style_member_str(b, GO, "level", strcmp(n->level, "info") == 0 ? "info" : "warn");
    if (wire->own)
        json_member_rest(b, GO, wire->x, nothing);
    reasonix_end_line(wire);
}

/* A line of that kind with the members of an object. */
static void write_members(const struct reasonix_wire *wire, const char *kind, struct str members)
{
    json_member_rest(reasonix_begin(wire, kind), GO, members, nothing);
    reasonix_end_line(wire);
}

static void write_attempt(const struct reasonix_wire *wire)
{
    struct buf *const b = reasonix_begin(wire, "stream_attempt");
    json_member_value(b, GO, "streamAttempt", wire->x);
    reasonix_end_line(wire);
}

/* Notices that represent other kinds of this stream. */
static void write_own_notice(const struct reasonix_wire *wire)
{
    const char *const code = wire->ev->u.notice.code;
    const bool explicit = value_get_last(wire->x, "covenant").p;
    if (strcmp(code, "turn_aborted") == 0)
        write_members(wire, explicit ? "turn_aborted" : "turn_done", wire->x);
    else if (strcmp(code, "stream_discard") == 0)
        write_attempt(wire);
    else if (strcmp(code, "restart") == 0)
        write_members(wire, "turn_started", value_get_last(wire->x, "x"));
    else if (reasonix_is_note(code))
        write_members(wire, code, wire->x);
    else if (strcmp(code, "retracted") != 0) /* the discarded attempt contained it */
        write_plain_notice(wire);
}

static void reasonix_write_write_notice(const struct reasonix_wire *wire)
{
    if (wire->own && wire->ev->u.notice.code)
        write_own_notice(wire);
    else
        write_plain_notice(wire);
}

static void reasonix_write_store_error(const struct reasonix_wire *wire)
{
    wire->w->failed = true;
    buf_reset(&wire->w->error);
    buf_add_str(&wire->w->error, wire->ev->u.error.message);
}

static void reasonix_write_write_raw(const struct reasonix_wire *wire)
{
    const struct tc_raw *const r = &wire->ev->u.raw;
    if (strcmp(r->dialect, "reasonix") != 0)
        return;
    json_style_append_value(writer_begin_message(wire->out), GO, r->event, r->event_len);
    writer_begin_end_message(wire->out);
}

static bool reasonix_write_is_reason(const struct tc_done *d, const char *reason)
{
    return strcmp(d->reason, reason) == 0;
}

static const char *reasonix_write_error_text(const struct reasonix_wire *wire)
{
    const struct tc_done *const d = &wire->ev->u.done;
    if (wire->w->failed)
        return wire->w->error.len ? wire->w->error.p : "the turn failed";
    if (reasonix_write_is_reason(d, "refused") && !wire->own)
        return d->detail ? d->detail : d->code ? d->code : "refused";
    return NULL;
}

static void reasonix_write_write_done(const struct reasonix_wire *wire)
{
    const struct tc_done *const d = &wire->ev->u.done;
    const bool has_outcome = reasonix_write_is_reason(d, "stopped") ||
                             (reasonix_write_is_reason(d, "error") && wire->own);
    struct buf *const b = reasonix_begin(wire, "turn_done");
    json_member_str(b, GO, "err", reasonix_write_error_text(wire));
    json_member_str(b, GO, "outcome", has_outcome ? d->code : NULL);
    if (wire->own)
        json_member_rest(b, GO, wire->x, nothing);
    reasonix_end_line(wire);
}

static void reasonix_write_write_event(void *state, const struct writer_out *out,
                                       const struct event *ev)
{
    static void (*const write[TC_KINDS])(const struct reasonix_wire *wire) = {
        [TC_NARRATION] = reasonix_write_write_narration,
        [TC_THINKING] = reasonix_write_write_thinking,
        [TC_MESSAGE] = reasonix_write_write_message,
        [TC_FINAL] = reasonix_write_write_final,
        [TC_TOOL_CALL] = reasonix_write_write_call,
        [TC_PROGRESS] = reasonix_write_write_progress,
        [TC_TOOL_RESULT] = reasonix_write_write_result,
        [TC_REQUEST] = reasonix_write_write_request,
        [TC_START] = reasonix_write_write_start,
        [TC_STEP] = reasonix_write_write_step,
        [TC_ERROR] = reasonix_write_store_error,
        [TC_DONE] = reasonix_write_write_done,
        [TC_USAGE] = reasonix_write_usage,
        [TC_NOTICE] = reasonix_write_write_notice,
        [TC_RAW] = reasonix_write_write_raw,
    };
    const char *const x = ev->meta.x;
    const struct reasonix_wire wire = {.w = state,
                                       .out = out,
                                       .ev = ev,
                                       .own = ev->meta.src && strcmp(ev->meta.src, "reasonix") == 0,
                                       .x = {x, x ? strlen(x) : 0}};
    if (write[ev->kind])
        write[ev->kind](&wire);
}

static void reasonix_write_close_state(void *state)
{
    struct reasonix_writing *const w = state;
    open_calls_fini(&w->calls);
    open_calls_fini(&w->readers);
    buf_fini(&w->message);
    buf_fini(&w->said);
    buf_fini(&w->error);
}

const struct writer writer_reasonix = {
    .name = "reasonix",
    .summary = "Reasonix and ok",
    .state_size = sizeof(struct reasonix_writing),
    .event = reasonix_write_write_event,
    .close = reasonix_write_close_state,
};
