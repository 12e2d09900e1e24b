/* SPDX-License-Identifier: MIT
 * Writes requests of an agent as AG-UI interrupts, with which a run ends. A client that can answer
 * here gets them in the standard form. */
#include <time.h>

#include "dialect/ag_ui/ag_ui_check.h"
#include "dialect/ag_ui/ag_ui_write.h"
#include "event/json/json_reader.h"

static const char *time_text(struct arena *a, int64_t ms)
{
    const time_t seconds = (time_t)(ms / 1000);
    struct tm tm;
    char text[32];
    if (!gmtime_r(&seconds, &tm) || !strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm))
        return NULL;
    return arena_strdup(a, text);
}

/* ---- for a client that can answer ---- */

static bool ag_ui_write_request_is_approval(const struct tc_request *r)
{
    return strcmp(r->kind, "approval") == 0;
}

/* Id of the related call, if the reader has seen it; a hidden call has no id there. */
static const char *seen_call(const struct ag_ui_write_ctx *e)
{
    const char *const id = e->ev->u.request.tool_use_id;
    bool seen = id && open_calls_contains(&e->w->ended, id);
    for (size_t i = 0; id && i < e->w->n_calls; i++)
        seen = seen || strcmp(e->w->calls[i].id, id) == 0;
    return seen ? id : NULL;
}

static const char *core_reason(const struct ag_ui_write_ctx *e)
{
    return !ag_ui_write_request_is_approval(&e->ev->u.request) ? "input_required"
           : seen_call(e)                                      ? "tool_call"
                                                               : "confirmation";
}

static struct str ag_ui_write_request_list(const char *json)
{
    const char *const list = json ? json : "[]";
    return (struct str){list, strlen(list)};
}

/* The command precedes the agent's description of it. */
static const char *approval_message(const struct ag_ui_write_ctx *e)
{
    const struct tc_request *const r = &e->ev->u.request;
    const char *const said = r->message ? r->message : r->reason;
    return arena_sprintf(e->a, "%s%s%s%s%s", r->tool ? r->tool : "", r->tool ? ": " : "",
                         r->preview, said ? "\n\n" : "", said ? said : "");
}

static const char *core_message(const struct ag_ui_write_ctx *e)
{
    const struct tc_request *const r = &e->ev->u.request;
    struct json j;
    struct str first = {0};
    if (r->preview && ag_ui_write_request_is_approval(r))
        return approval_message(e);
    if (r->message || r->reason)
        return r->message ? r->message : r->reason;
    const struct str list = ag_ui_write_request_list(r->questions);
    json_reader_open_array(&j, list);
    json_reader_next_value(&j, &first);
    const char *const prompt = value_text(e->a, value_get_last(first, "prompt"), NULL);
    return prompt ? prompt : r->subject ? r->subject : r->tool;
}

/* The values of that member of each element. */
static void ag_ui_write_request_add_each(const struct ag_ui_write_ctx *e, struct buf *b,
                                         struct str list, const char *key)
{
    struct json j;
    struct str element;
    bool first = true;
    buf_add_char(b, '[');
    json_reader_open_array(&j, list);
    while (json_reader_next_value(&j, &element)) {
        const char *const text = value_text(e->a, value_get_last(element, key), NULL);
        if (!text)
            continue;
        if (!first)
            buf_add_char(b, ',');
        json_style_append_string(b, S, text, strlen(text));
        first = false;
    }
    buf_add_char(b, ']');
}

static void ag_ui_write_request_add_question(const struct ag_ui_write_ctx *e, struct buf *b,
                                             struct str question)
{
    const char *const id = value_text(e->a, value_get_last(question, "id"), NULL);
    const bool multi = value_is_true(value_get_last(question, "multi"));
    if (!id)
        return;
    json_style_append_escaped_key(b, S, id, strlen(id));
    buf_add_char(b, '{');
    json_style_member_str(b, S, "type", multi ? "array" : "string");
    ag_ui_add_str(b, "title", value_text(e->a, value_get_last(question, "header"), NULL));
    ag_ui_add_str(b, "description", value_text(e->a, value_get_last(question, "prompt"), NULL));
    if (multi) {
        json_style_append_key(b, S, "items");
        buf_add_str(b, "{\"type\":\"string\",\"examples\":");
    } else {
        json_style_append_key(b, S, "examples");
    }
    ag_ui_write_request_add_each(e, b, value_get_last(question, "options"), "label");
    buf_add_str(b, multi ? "}}" : "}");
}

static void add_questions(const struct ag_ui_write_ctx *e, struct buf *b)
{
    const struct str list = ag_ui_write_request_list(e->ev->u.request.questions);
    struct json j;
    json_init(&j, list.p, list.len);
    buf_add_str(b, "{\"type\":\"object\",\"properties\":{\"answers\":{\"type\":\"object\",");
    buf_add_str(b, "\"properties\":{");
    for (bool more = json_reader_enter_array(&j); more && json_reader_next_element(&j);) {
        struct str question = {0};
        json_reader_skip(&j, &question);
        ag_ui_write_request_add_question(e, b, question);
    }
    buf_add_str(b, "},\"required\":");
    ag_ui_write_request_add_each(e, b, list, "id");
    buf_add_str(b, "}},\"required\":[\"answers\"]}");
}

static void add_approval(const struct ag_ui_write_ctx *e, struct buf *b)
{
    buf_add_str(b, "{\"type\":\"object\",\"properties\":{\"approved\":{\"type\":\"boolean\"},"
                   "\"choice\":{\"type\":\"string\",\"enum\":");
    ag_ui_write_request_add_each(e, b, ag_ui_write_request_list(e->ev->u.request.choices), "id");
    buf_add_str(b, "},\"reason\":{\"type\":\"string\"},\"editedArgs\":{\"type\":\"object\"}},"
                   "\"required\":[\"approved\"]}");
}

/* JSON schema of the answer's payload. */
static void add_core_schema(const struct ag_ui_write_ctx *e, struct buf *b)
{
    const struct tc_request *const r = &e->ev->u.request;
    json_style_append_key(b, S, "responseSchema");
    if (ag_ui_write_request_is_approval(r))
        add_approval(e, b);
    else if (r->questions)
        add_questions(e, b);
    else
        buf_add_str(b, "{\"type\":\"object\",\"properties\":{\"answer\":{\"type\":\"string\"}},"
                       "\"required\":[\"answer\"]}");
}

/* ---- one interrupt ---- */

/* Members without a standard place. */
static void add_metadata(struct buf *b, const struct tc_request *r)
{
    json_style_append_key(b, S, "metadata");
    buf_add_char(b, '{');
    json_style_member_str(b, S, "kind", r->kind);
    ag_ui_add_str(b, "tool", r->tool);
    ag_ui_add_str(b, "subject", r->subject);
    ag_ui_add_str(b, "preview", r->preview);
    if (r->choices)
        ag_ui_add_str(b, "reason", r->reason);
    if (r->args)
        json_style_member_json(b, S, "args", r->args);
    if (r->questions)
        json_style_member_json(b, S, "questions", r->questions);
    if (r->choices)
        json_style_member_json(b, S, "choices", r->choices);
    buf_add_char(b, '}');
}

/* Members of the source's interrupt without a standard place. */
static void add_rest(const struct ag_ui_write_ctx *e, struct buf *b)
{
    static const char *const written[] = {"expiresAt", "metadata", NULL};
    const char *const rest = e->own ? value_extra_except(e->a, ag_ui_x(e), written) : NULL;
    if (!rest || value_get_last((struct str){rest, strlen(rest)}, "subagentRunId").p)
        return;
    CLEANUP_BUF struct buf more = {0};
    json_style_append_value(&more, S, rest, strlen(rest));
    buf_add_char(b, ',');
    buf_add(b, more.p + 1, more.len - 2);
}

static void add_interrupt(const struct ag_ui_write_ctx *e, struct buf *b)
{
    const struct tc_request *const r = &e->ev->u.request;
    const struct str own = ag_ui_x(e), expires = ag_ui_get_raw(own, "expiresAt");
    const struct str schema = {r->schema, r->schema ? strlen(r->schema) : 0};
    const struct str metadata = ag_ui_get_raw(own, "metadata");
    const char *const reason = r->choices ? core_reason(e) : r->reason ? r->reason : r->kind;
    const char *const call = r->choices ? seen_call(e) : r->tool_use_id;
    buf_add_char(b, '{');
    json_style_member_str(b, S, "id", ag_ui_scoped(e, r->request_id));
    json_style_member_str(b, S, "reason", reason);
    ag_ui_add_str(b, "message", r->choices ? core_message(e) : r->message);
    ag_ui_add_str(b, "toolCallId", ag_ui_scoped(e, call));
    if (ag_ui_is_object(schema))
        ag_ui_add_json(b, "responseSchema", schema);
    else if (r->choices)
        add_core_schema(e, b);
    if (value_string(expires).p)
        ag_ui_add_json(b, "expiresAt", expires);
    else if (r->expires_ms >= 0)
        ag_ui_add_str(b, "expiresAt", time_text(e->a, r->expires_ms));
    if (ag_ui_is_object(metadata))
        ag_ui_add_json(b, "metadata", metadata);
    else if (!e->own)
        add_metadata(b, r);
    add_rest(e, b);
    buf_add_char(b, '}');
}

/* A call of the front end is not an interrupt, because a run may end successfully without it.
 * Decided requests are excluded, too, because a client could try to answer them. */
void ag_ui_write_request(const struct ag_ui_write_ctx *e)
{
    const struct tc_request *const r = &e->ev->u.request;
    struct ag_ui_writer *const w = e->w;
    const bool open = strcmp(r->state, "open") == 0;
    open_calls_remove(&w->asked, r->request_id);
    if (r->tool_use_id && !(r->by && strcmp(r->by, "host") == 0))
        open_calls_remove(&w->waiting, r->tool_use_id);
    if (!open)
        return;
    if (r->tool_use_id)
        open_calls_add(&w->waiting, r->tool_use_id, NULL);
    if ((e->own || e->out->conf->run) && !r->blocking)
        return;
    CLEANUP_BUF struct buf interrupt = {0};
    add_interrupt(e, &interrupt);
    open_calls_add(&w->asked, r->request_id, interrupt.p);
}

void ag_ui_add_interrupts(const struct ag_ui_write_ctx *e, struct buf *b)
{
    const struct open_calls *const asked = &e->w->asked;
    const struct tc_done *const done = &e->ev->u.done;
    json_style_member_str(b, S, "type", "interrupt");
    json_style_append_key(b, S, "interrupts");
    buf_add_char(b, '[');
    for (size_t i = 0; i < asked->n; i++) {
        if (i)
            buf_add_char(b, ',');
        buf_add_str(b, asked->names[i]);
    }
    if (!asked->n) { /* a reader requires at least one */
        buf_add_char(b, '{');
        json_style_member_str(b, S, "id", "interrupt_1");
        json_style_member_str(b, S, "reason", done->code ? done->code : "suspended");
        ag_ui_add_str(b, "message", done->detail);
        buf_add_char(b, '}');
    }
    buf_add_char(b, ']');
}
