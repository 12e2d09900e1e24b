/* SPDX-License-Identifier: MIT
 * Permission requests and questions that the CLI sends over the control protocol, as request
 * events. */
#include <stdlib.h>

#include "base/alloc.h"
#include "dialect/claude/claude.h"
#include "dialect/claude/input/claude_control.h"
#include "event/json/json_writer.h"

#define QUESTIONS_MAX 32
#define PLAN_MAX ((size_t)256 << 10)

static void claude_request_add_options(struct claude *c, struct buf *out, struct str options)
{
    struct json j;
    struct str option;
    json_reader_open_array(&j, options);
    buf_add_str(out, ",\"options\":[");
    for (bool first = true; json_reader_next_value(&j, &option); first = false) {
        struct str label = {0}, description = {0};
        const struct value_row wants[] = {{"label", &label}, {"description", &description}};
        value_get_members(option, VALUE_ROWS(wants));
        const char *const text = claude_text(c, label);
        buf_add_str(out, first ? "{" : ",{");
        jsonw_member_str(out, "label", text ? text : "");
        jsonw_member_str(out, "description", claude_text(c, description));
        buf_add_char(out, '}');
    }
    buf_add_char(out, ']');
}

static void claude_request_add_question(struct claude *c, struct buf *out, struct str question,
                                        unsigned number)
{
    struct str prompt = {0}, header = {0}, options = {0}, multi = {0};
    const struct value_row wants[] = {
        {"question", &prompt}, {"header", &header}, {"options", &options}, {"multiSelect", &multi}};
    value_get_members(question, VALUE_ROWS(wants));
    const char *const text = claude_text(c, prompt);
    buf_printf(out, "%s{\"id\":\"%u\"", number ? "," : "", number);
    jsonw_member_str(out, "header", claude_text(c, header));
    jsonw_member_str(out, "prompt", text ? text : "");
    claude_request_add_options(c, out, options);
    jsonw_member_bool(out, "multi", value_is_true(multi));
    buf_add_char(out, '}');
}

/* Converts the questions of AskUserQuestion to the canonical form; ids are their positions, from
 * 0. */
static const char *read_questions(struct claude *c, struct str input)
{
    const struct str list = value_get_last(input, "questions");
    struct json j;
    struct str question;
    if (!json_reader_open_array(&j, list))
        return NULL;
    CLEANUP_BUF struct buf out = {0};
    buf_add_char(&out, '[');
    for (unsigned i = 0; json_reader_next_value(&j, &question); i++) {
        if (i < QUESTIONS_MAX)
            claude_request_add_question(c, &out, question, i);
    }
    buf_add_char(&out, ']');
    return arena_strndup(c->out->scratch, out.p, out.len);
}

/* The subject of the request for people: the main argument. */
static const char *claude_request_subject_of(struct claude *c, struct str input, struct str blocked)
{
    struct str command = {0}, path = {0}, url = {0}, query = {0};
    const struct value_row wants[] = {
        {"command", &command}, {"file_path", &path}, {"url", &url}, {"query", &query}};
    value_get_members(input, VALUE_ROWS(wants));
    const struct str order[] = {command, path, url, query, blocked};
    for (size_t i = 0; i < sizeof(order) / sizeof(*order); i++)
        if (value_string(order[i]).p)
            return claude_text(c, order[i]);
    return NULL;
}

static void question_clear(struct claude_question *q)
{
    free(q->id);
    free(q->tool_use_id);
    *q = (struct claude_question){0};
}

void claude_questions_fini(struct claude_open_requests *q)
{
    for (size_t i = 0; i < CLAUDE_IDS; i++)
        question_clear(&q->slots[i]);
}

static void claude_request_store(struct claude_open_requests *questions, const struct tc_request *r,
                                 bool ask)
{
    struct claude_question *const q = &questions->slots[questions->next++ % CLAUDE_IDS];
    question_clear(q);
    *q = (struct claude_question){.id = xstrdup(r->request_id),
                                  .tool_use_id = xstrdup(r->tool_use_id ? r->tool_use_id : ""),
                                  .ask = ask};
}

/* ---- a plan that waits for approval ---- */

static const char plan_tool[] = "ExitPlanMode";

void claude_plan_store(struct claude *c, const struct tc_tool_call *call)
{
    if (strcmp(call->name, plan_tool) != 0)
        return;
    const struct str text =
        value_string(value_get_last((struct str){call->args, call->args_len}, "plan"));
    buf_reset(&c->plan.id);
    buf_reset(&c->plan.text);
    if (!text.p || text.len > PLAN_MAX)
        return;
    buf_add_str(&c->plan.id, call->tool_use_id);
    buf_add(&c->plan.text, text.p, text.len);
}

/* The plan is the subject of the request. From 2.1 on, only the previous call contains it. */
static void add_plan(struct claude *c, struct tc_request *r, struct str input)
{
    struct arena *const a = c->out->scratch;
    struct str text = value_string(value_get_last(input, "plan"));
    if (!text.p && c->plan.text.len && c->plan.id.len &&
        strcmp(c->plan.id.p, r->tool_use_id ? r->tool_use_id : "") == 0) {
        text = (struct str){c->plan.text.p, c->plan.text.len};
        r->args = arena_sprintf(a, "{\"plan\":\"%s\"}", c->plan.text.p);
    }
    if (text.p)
        r->message = json_reader_unescape(a, text, NULL);
}

static void claude_request_can_use_tool(struct claude *c, struct str request_id, struct str request)
{
    static const char *const skip[] = {"subtype",     "tool_name",   "input",
                                       "tool_use_id", "description", NULL};
    struct str name = {0}, input = {0}, tool = {0}, text = {0}, reason = {0}, blocked = {0};
    const struct value_row wants[] = {{"tool_name", &name},         {"input", &input},
                                      {"tool_use_id", &tool},       {"description", &text},
                                      {"decision_reason", &reason}, {"blocked_path", &blocked}};
    value_get_members(request, VALUE_ROWS(wants));
    struct arena *const a = c->out->scratch;
    struct event ev;
    event_init(&ev, TC_REQUEST);
    struct tc_request *const r = &ev.u.request;
    const bool ask = value_equals(name, "AskUserQuestion");
    r->request_id = claude_text(c, request_id);
    r->kind = ask ? "ask" : "approval";
    r->state = "open";
    r->tool_use_id = claude_text(c, tool);
    r->tool = claude_text(c, name);
    r->args = json_reader_compact_dup(a, input, NULL);
    r->questions = ask ? read_questions(c, input) : NULL;
    r->subject = ask ? NULL : claude_request_subject_of(c, input, blocked);
    r->message = claude_text(c, text);
    r->reason = claude_text(c, reason);
    r->blocking = true;
    if (value_equals(name, plan_tool))
        add_plan(c, r, input);
    ev.meta.x = value_extra_except(a, request, skip);
    claude_request_store(&c->questions, r, ask);
    claude_emit(c, NULL, &ev);
}

void claude_control_request(struct claude *c, const struct claude_line *l)
{
    struct str id = {0}, request = {0};
    const struct value_row wants[] = {{"request_id", &id}, {"request", &request}};
    value_get_members(l->self, VALUE_ROWS(wants));
    const struct str subtype = value_get_last(request, "subtype");
    if (value_string(id).p && value_equals(subtype, "can_use_tool")) {
        claude_request_can_use_tool(c, id, request);
        return;
    }
    const char *const name = claude_text(c, subtype);
    claude_raw(c, NULL, arena_sprintf(c->out->scratch, "control_request/%s", name ? name : ""),
               l->self);
}

static void claude_request_emit_resolved(struct claude *c, struct claude_question *q,
                                         const char *decision)
{
    struct event ev;
    event_init(&ev, TC_REQUEST);
    ev.u.request.request_id = q->id;
    ev.u.request.tool_use_id = *q->tool_use_id ? q->tool_use_id : NULL;
    ev.u.request.kind = q->ask ? "ask" : "approval";
    ev.u.request.state = "resolved";
    ev.u.request.decision = decision;
    claude_emit(c, NULL, &ev);
    question_clear(q);
}

void claude_control_cancel(struct claude *c, const struct claude_line *l)
{
    const char *const id = claude_text(c, value_get_last(l->self, "request_id"));
    for (size_t i = 0; id && i < CLAUDE_IDS; i++) {
        struct claude_question *const q = &c->questions.slots[i];
        if (q->id && strcmp(q->id, id) == 0)
            claude_request_emit_resolved(c, q, "cancelled");
    }
}

/* A denied call is marked as such; a failed one may have been allowed or not, so no decision is
 * emitted. */
void claude_request_settled(struct claude *c, const char *tool_use_id, const char *outcome,
                            bool is_error)
{
    const bool denied = strcmp(outcome, "denied") == 0;
    for (size_t i = 0; i < CLAUDE_IDS; i++) {
        struct claude_question *const q = &c->questions.slots[i];
        if (q->id && *q->tool_use_id && strcmp(q->tool_use_id, tool_use_id) == 0 &&
            (denied || !is_error))
            claude_request_emit_resolved(c, q, denied ? "deny" : q->ask ? "answered" : "allow");
    }
}

void claude_control_response(struct claude *c, const struct claude_line *l)
{
    struct str subtype = {0}, id = {0}, error = {0};
    const struct value_row wants[] = {
        {"subtype", &subtype}, {"request_id", &id}, {"error", &error}};
    value_get_members(value_get_last(l->self, "response"), VALUE_ROWS(wants));
    if (!value_equals(subtype, "error") || !value_equals(id, CLAUDE_CONTROL_MODE_ID))
        return;
    const char *const text = claude_text(c, error);
    claude_notice(c, "warn", "mode_refused",
                  text ? text : "The agent rejected the permission mode (agents.NAME.mode).",
                  (struct str){0});
}
