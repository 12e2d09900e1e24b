/* SPDX-License-Identifier: MIT
 * Owns the requests of a run until their decisions are passed to the next run. */
#include "remote/nats/nats_requests.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/sys/uuid.h"
#include "dialect/ag_ui/ag_ui.h"
#include "dialect/reader/value.h"
#include "event/json/json_reader.h"
#include "event/json/json_writer.h"

#define ARGS_MAX ((size_t)1 << 20)

static const char approving[] = "PermissionConfirm", asking[] = "askUserQuestion";

static struct nats_asked *nats_requests_find(struct nats_requests *r, const char *id)
{
    for (size_t i = 0; id && i < r->n; i++)
        if (strcmp(r->all[i].id, id) == 0)
            return &r->all[i];
    return NULL;
}

static struct nats_asked *nats_requests_add(struct nats_requests *r, const char *id,
                                            const char *tool)
{
    if (r->n == NATS_REQUESTS_MAX || !id || nats_requests_find(r, id))
        return NULL;
    struct nats_asked *const q = &r->all[r->n++];
    *q = (struct nats_asked){.id = xstrdup(id), .tool = xstrdup(tool)};
    return q;
}

static void nats_requests_remove(struct nats_requests *r, struct nats_asked *q)
{
    free(q->id);
    free(q->tool);
    buf_fini(&q->args);
    buf_fini(&q->decision);
    *q = r->all[--r->n];
}

void nats_requests_clear(struct nats_requests *r)
{
    while (r->n)
        nats_requests_remove(r, &r->all[r->n - 1]);
    r->by_calls = false;
}

/* ---- calls of tirea ---- */

struct nats_requests_event {
    struct str self, type, call, name, delta, content, outcome;
};

static void nats_requests_begin_call(struct nats_requests *r, const char *id, const char *tool)
{
    struct nats_asked *const q = nats_requests_add(r, id, tool);
    if (!q)
        return;
    r->by_calls = true;
    q->approval = strcmp(tool, approving) == 0;
}

static void nats_requests_add_args(struct nats_asked *q, const char *piece, size_t len)
{
    if (len <= ARGS_MAX && q->args.len <= ARGS_MAX - len)
        buf_add(&q->args, piece, len);
}

/* A tool call that waits for a decision has this placeholder as its result, and later a real
 * one. */
static bool nats_requests_is_pending(struct arena *a, struct str content)
{
    size_t len = 0;
    const char *const text = value_text(a, content, &len);
    const struct str result = {text, len};
    return text && json_reader_is_valid(result) &&
           value_equals(value_get_last(result, "status"), "pending");
}

/* Suppresses the events of these calls, because the requests contain their information. */
static bool nats_requests_handle_call(struct nats_requests *r, struct arena *a,
                                      const struct nats_requests_event *e)
{
    const char *const id = value_text(a, e->call, NULL);
    const char *const name = value_text(a, e->name, NULL);
    if (value_equals(e->type, "TOOL_CALL_START") && name &&
        (strcmp(name, approving) == 0 || strcmp(name, asking) == 0))
        nats_requests_begin_call(r, id, name);
    struct nats_asked *const q = nats_requests_find(r, id);
    if (value_equals(e->type, "TOOL_CALL_RESULT") && q) {
        nats_requests_remove(r, q);
        return true;
    }
    if (value_equals(e->type, "TOOL_CALL_ARGS") && q) {
        size_t len = 0;
        const char *const piece = value_text(a, e->delta, &len);
        nats_requests_add_args(q, piece, piece ? len : 0);
    }
    return q ||
           (value_equals(e->type, "TOOL_CALL_RESULT") && nats_requests_is_pending(a, e->content));
}

static struct str nats_requests_args(const struct nats_asked *q)
{
    const struct str args = {q->args.p ? q->args.p : "", q->args.len};
    return json_reader_is_valid(args) && args.len && *args.p == '{' ? args : STR("{}");
}

static void nats_requests_add_interrupt(struct buf *out, struct arena *a,
                                        const struct nats_asked *q)
{
    const struct str args = nats_requests_args(q);
    buf_add_char(out, '{');
    jsonw_member_str(out, "id", q->id);
    jsonw_member_str(out, "reason", q->approval ? "tool_approval" : "input_required");
    jsonw_member_str(out, "message", value_text(a, value_get_last(args, "message"), NULL));
    buf_add_str(out, ",\"metadata\":{");
    jsonw_member_str(out, "kind", q->approval ? "approval" : "input");
    jsonw_member_str(out, "tool", value_text(a, value_get_last(args, "tool_name"), NULL));
    jsonw_member_json(out, "args", value_json(a, value_get_last(args, "tool_args"), NULL));
    buf_add_str(out, "}}");
}

/* Rewrites the end of a run that has asked by calls as an end with interrupts. */
static void nats_requests_finish_calls(const struct nats_requests *r, struct arena *a,
                                       struct str event, struct buf *shown)
{
    buf_add_str(shown, "{\"type\":\"RUN_FINISHED\"");
    jsonw_member_str(shown, "threadId", value_text(a, value_get_last(event, "threadId"), NULL));
    jsonw_member_str(shown, "runId", value_text(a, value_get_last(event, "runId"), NULL));
    buf_add_str(shown, ",\"outcome\":{\"type\":\"interrupt\",\"interrupts\":[");
    for (size_t i = 0; i < r->n; i++) {
        if (i)
            buf_add_char(shown, ',');
        nats_requests_add_interrupt(shown, a, &r->all[i]);
    }
    buf_add_str(shown, "]}}");
}

/* ---- interrupts ---- */

static void nats_requests_handle_interrupt(struct nats_requests *r, struct arena *a,
                                           struct str interrupt)
{
    const struct str schema = value_get_last(interrupt, "responseSchema");
    const struct str properties = value_get_last(schema, "properties");
    struct nats_asked *const q =
        nats_requests_add(r, value_text(a, value_get_last(interrupt, "id"), NULL), NULL);
    if (!q)
        return;
    q->approval = ag_ui_asks_approval(a, interrupt);
    q->edits = value_get_last(properties, "editedArgs").p;
    q->names_answers = value_get_last(properties, "answers").p;
}

static enum nats_event nats_requests_finish(struct nats_requests *r, struct arena *a,
                                            const struct nats_requests_event *e, struct buf *shown)
{
    struct json j;
    struct str interrupt;
    if (r->n && !e->outcome.p) {
        nats_requests_finish_calls(r, a, e->self, shown);
        return NATS_EVENT_SUSPENDED;
    }
    nats_requests_clear(r);
    if (!value_equals(value_get_last(e->outcome, "type"), "interrupt"))
        return NATS_EVENT_LAST;
    json_reader_open_array(&j, value_get_last(e->outcome, "interrupts"));
    while (json_reader_next_value(&j, &interrupt))
        nats_requests_handle_interrupt(r, a, interrupt);
    return r->n ? NATS_EVENT_SUSPENDED : NATS_EVENT_LAST;
}

enum nats_event nats_requests_handle_event(struct nats_requests *r, struct str event,
                                           struct buf *shown)
{
    struct nats_requests_event e = {.self = event};
    const struct value_row rows[] = {
        {"type", &e.type},   {"toolCallId", &e.call}, {"toolCallName", &e.name},
        {"delta", &e.delta}, {"content", &e.content}, {"outcome", &e.outcome},
    };
    struct arena a = {0};
    enum nats_event result = NATS_EVENT_SHOWN;
    if (value_parse_line(event.p, event.len, VALUE_ROWS(rows)) < 0)
        result = NATS_EVENT_SHOWN;
    else if (value_equals(e.type, "RUN_FINISHED"))
        result = nats_requests_finish(r, &a, &e, shown);
    else if (value_equals(e.type, "RUN_ERROR"))
        result = NATS_EVENT_LAST;
    else if (e.call.p && nats_requests_handle_call(r, &a, &e))
        result = NATS_EVENT_KEPT;
    arena_fini(&a);
    return result;
}

/* ---- decisions ---- */

bool nats_requests_are_decided(const struct nats_requests *r)
{
    for (size_t i = 0; i < r->n; i++)
        if (!r->all[i].decision.len)
            return false;
    return r->n > 0;
}

/* The text of a single answer. */
static const char *nats_requests_only_answer(struct arena *a, const char *answers)
{
    struct json j;
    struct str key, value = {0};
    json_init(&j, answers, strlen(answers));
    json_reader_enter_object(&j);
    if (json_reader_next_key(&j, &key))
        json_reader_skip(&j, &value);
    return value_text_or_json(a, value, NULL);
}

static void nats_requests_add_approval(struct buf *out, const struct remote_answer *answer)
{
    buf_add_char(out, '{');
    jsonw_member_bool(out, "approved", answer->decision == REMOTE_ALLOW);
    jsonw_member_str(out, "reason", answer->reason);
    jsonw_member_json(out, "editedArgs", answer->args);
    buf_add_char(out, '}');
}

static void nats_requests_decide_call(struct nats_asked *q, struct arena *a,
                                      const struct remote_answer *answer)
{
    if (answer->decision != REMOTE_ANSWERED || !answer->answers) {
        nats_requests_add_approval(&q->decision, answer);
        return;
    }
    buf_add_char(&q->decision, '{');
    jsonw_member_str(&q->decision, "message", nats_requests_only_answer(a, answer->answers));
    buf_add_char(&q->decision, '}');
}

/* An unanswered question is cancelled; a call is denied, with the reason. */
static void nats_requests_decide_interrupt(struct nats_asked *q, const struct remote_answer *answer)
{
    const bool cancelled = !q->approval && answer->decision == REMOTE_DENY;
    struct buf *const out = &q->decision;
    buf_add_char(out, '{');
    jsonw_member_str(out, "interruptId", q->id);
    jsonw_member_str(out, "status", cancelled ? "cancelled" : "resolved");
    if (q->approval) {
        buf_add_str(out, ",\"payload\":");
        nats_requests_add_approval(out, answer);
    } else if (!cancelled && q->names_answers) {
        buf_add_str(out, ",\"payload\":{");
        jsonw_member_json(out, "answers", answer->answers);
        buf_add_char(out, '}');
    } else if (!cancelled) {
        jsonw_member_json(out, "payload", answer->answers);
    }
    buf_add_char(out, '}');
}

bool nats_requests_decide(struct nats_requests *r, const struct remote_answer *answer)
{
    struct nats_asked *const q = nats_requests_find(r, answer->id);
    struct arena a = {0};
    if (!q || q->decision.len)
        return false;
    if (q->tool)
        nats_requests_decide_call(q, &a, answer);
    else
        nats_requests_decide_interrupt(q, answer);
    arena_fini(&a);
    return true;
}

void nats_requests_dismiss(struct nats_requests *r)
{
    for (size_t i = 0; i < r->n; i++)
        nats_requests_decide(r,
                             &(struct remote_answer){.id = r->all[i].id, .decision = REMOTE_DENY});
}

/* ---- the next run ---- */

static void nats_requests_add_message(struct buf *out, const struct nats_asked *q)
{
    char id[37];
    uuid_make(id);
    buf_add_char(out, '{');
    jsonw_member_str(out, "id", id);
    jsonw_member_str(out, "role", "tool");
    jsonw_member_str(out, "toolCallId", q->id);
    jsonw_member_str(out, "content", q->decision.p);
    buf_add_char(out, '}');
}

void nats_requests_append_input(const struct nats_requests *r, struct buf *out)
{
    buf_add_str(out, r->by_calls ? ",\"messages\":[" : ",\"messages\":[],\"resume\":[");
    for (size_t i = 0; i < r->n; i++) {
        if (i)
            buf_add_char(out, ',');
        if (r->by_calls)
            nats_requests_add_message(out, &r->all[i]);
        else
            buf_add(out, r->all[i].decision.p, r->all[i].decision.len);
    }
    buf_add_char(out, ']');
}
