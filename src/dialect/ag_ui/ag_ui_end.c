/* SPDX-License-Identifier: MIT
 * End of a run: outcome, interrupts, usage, final. */
#include <strings.h>

#include "dialect/ag_ui/ag_ui.h"
#include "event/json/json_reader.h"

/* Usage: one entry per model; all belong to the run. */

static const char *const usage_keys[] = {
    "provider",    "model",           "inputTokens",       "outputTokens",
    "totalTokens", "reasoningTokens", "cachedInputTokens", "cacheWriteInputTokens",
    NULL};

static void ag_ui_end_add_count(int64_t *sum, struct str entry, const char *key)
{
    const int64_t n = value_int(value_get_last(entry, key), -1);
    if (n >= 0)
        *sum = (*sum < 0 ? 0 : *sum) + (n < INT64_MAX / 4 ? n : 0);
}

/* The name, if all entries have the same. */
static void agree(const struct ag_ui_event *e, const char **name, struct str value, bool first)
{
    const char *const said = value_text(e->out->scratch, value, NULL);
    if (first)
        *name = said;
    else if (!said || !*name || strcmp(*name, said) != 0)
        *name = NULL;
}

static void ag_ui_end_add_entry(const struct ag_ui_event *e, struct tc_usage *u, struct str entry,
                                bool first)
{
    agree(e, &u->provider, value_get_last(entry, "provider"), first);
    agree(e, &u->model, value_get_last(entry, "model"), first);
    ag_ui_end_add_count(&u->input_tokens, entry, "inputTokens");
    ag_ui_end_add_count(&u->output_tokens, entry, "outputTokens");
    ag_ui_end_add_count(&u->total_tokens, entry, "totalTokens");
    ag_ui_end_add_count(&u->reasoning_tokens, entry, "reasoningTokens");
    ag_ui_end_add_count(&u->cache_read_tokens, entry, "cachedInputTokens");
    ag_ui_end_add_count(&u->cache_write_tokens, entry, "cacheWriteInputTokens");
}

static void ag_ui_end_emit_usage(const struct ag_ui_event *e, bool is_error)
{
    const struct str usage = ag_ui_value(e, "usage");
    struct event ev;
    struct json j;
    size_t count = 0, totals = 0;
    bool odd = false;
    event_init(&ev, TC_USAGE);
    if (e->a->has_spent)
        ev.u.usage = e->a->spent;
    ev.u.usage.scope = "turn";
    ev.u.usage.cache_counted = 1;
    ev.u.usage.is_error = is_error;
    json_reader_open_array(&j, usage);
    for (struct str entry; json_reader_next_value(&j, &entry); count++) {
        ag_ui_end_add_entry(e, &ev.u.usage, entry, count == 0);
        totals += value_get_last(entry, "totalTokens").p != NULL;
        odd |= value_extra_except(e->out->scratch, entry, usage_keys) != NULL;
    }
    if (totals < count) /* a sum of some entries would not be the total */
        ev.u.usage.total_tokens = -1;
    if (count > 1 || odd)
        ev.meta.x =
            ag_ui_prepend_member(e, "usage", value_json(e->out->scratch, usage, NULL), NULL);
    if (!count && !e->a->has_spent)
        return;
    dialect_emit_draft(e->out, &ev);
    e->a->spent = ev.u.usage;
    e->a->spent.provider = e->a->spent.model = NULL;
    e->a->has_spent = true;
}

/* Requests. */

bool ag_ui_asks_approval(struct arena *scratch, struct str interrupt)
{
    static const char *const words[] = {"approv", "permission", "confirm"};
    const char *const reason = value_text(scratch, value_get_last(interrupt, "reason"), NULL);
    if (value_equals(value_get_last(value_get_last(interrupt, "metadata"), "kind"), "approval"))
        return true;
    for (size_t i = 0; reason && i < sizeof(words) / sizeof(words[0]); i++)
        if (strstr(reason, words[i]))
            return true;
    return false;
}

static void ag_ui_end_emit_interrupt(const struct ag_ui_event *e, struct str interrupt)
{
    static const char *const known[] = {"id",         "reason",         "message",
                                        "toolCallId", "responseSchema", NULL};
    struct arena *const scratch = e->out->scratch;
    struct event ev;
    event_init(&ev, TC_REQUEST);
    struct tc_request *const r = &ev.u.request;
    const char *const id = value_text(scratch, value_get_last(interrupt, "id"), NULL);
    const double expires = value_time(value_get_last(interrupt, "expiresAt"));
    r->request_id = id ? id : "";
    open_calls_add(&e->a->asked, r->request_id, "");
    r->state = "open";
    const struct str metadata = value_get_last(interrupt, "metadata");
    r->reason = value_text(scratch, value_get_last(interrupt, "reason"), NULL);
    r->kind = ag_ui_asks_approval(scratch, interrupt) ? "approval" : "input";
    r->message = value_text(scratch, value_get_last(interrupt, "message"), NULL);
    r->tool_use_id = value_text(scratch, value_get_last(interrupt, "toolCallId"), NULL);
    r->tool = value_text(scratch, value_get_last(metadata, "tool"), NULL);
    r->subject = value_text(scratch, value_get_last(metadata, "subject"), NULL);
    r->args = value_json(scratch, value_get_last(metadata, "args"), NULL);
    r->questions = value_json(scratch, value_get_last(metadata, "questions"), NULL);
    r->schema = value_json(scratch, value_get_last(interrupt, "responseSchema"), NULL);
    r->expires_ms = expires > 0 && expires < 1e12 ? (int64_t)(expires * 1000) : -1;
    r->blocking = true;
    ev.meta.x = value_extra_except(scratch, interrupt, known);
    dialect_emit_draft(e->out, &ev);
}

/* A call that the front end must execute. */
static void ag_ui_end_emit_pending(const struct ag_ui_event *e, struct str id)
{
    struct event ev;
    event_init(&ev, TC_REQUEST);
    const char *const call = value_text(e->out->scratch, id, NULL);
    ev.u.request.request_id = call ? call : "";
    ev.u.request.tool_use_id = call;
    ev.u.request.kind = "input";
    ev.u.request.state = "open";
    dialect_emit_draft(e->out, &ev);
}

void ag_ui_each(const struct ag_ui_event *e, struct str array,
                void (*tell)(const struct ag_ui_event *, struct str))
{
    struct json j;
    struct str element;
    json_reader_open_array(&j, array);
    while (json_reader_next_value(&j, &element))
        tell(e, element);
}

/* The answer: result of the run, otherwise the agent's last message. */
static void ag_ui_end_emit_answer(const struct ag_ui_event *e)
{
    struct ag_ui *const a = e->a;
    const struct str result = ag_ui_value(e, "result");
    const struct str response =
        value_string(result).p ? result : value_get_last(result, "response");
    struct event ev;
    event_init(&ev, TC_FINAL);
    struct tc_final *const final = &ev.u.final;
    if (value_string(response).p) {
        final->text = value_text(e->out->scratch, response, &final->text_len);
    } else if (a->answer.len && !a->answered_by_tool) {
        final->text = a->answer.p;
        final->text_len = a->answer.len;
        final->message_id = a->answer_id.len ? a->answer_id.p : NULL;
        ev.meta.x = "{\"derived\":true}";
    }
    if (final->text_len)
        dialect_emit_draft(e->out, &ev);
    buf_reset(&a->answer);
}

/* Members of the outcome besides its type; null if there are none. */
static const char *ag_ui_end_other_members(const struct ag_ui_event *e, struct str outcome)
{
    static const char *const known[] = {"type", "interrupts", NULL};
    const char *const rest = value_extra_except(e->out->scratch, outcome, known);
    return ag_ui_prepend_member(e, "outcome", outcome.p ? rest : "null", e->x);
}

static const char *ag_ui_end_reason_of(struct str type)
{
    if (value_equals(type, "interrupt"))
        return "suspended";
    return value_equals(type, "cancelled") ? "cancelled" : "completed";
}

void ag_ui_handle_run_finished(const struct ag_ui_event *e)
{
    const struct str outcome = ag_ui_value(e, "outcome");
    struct event ev;
    e->a->over = true;
    e->a->suspended = value_equals(value_get_last(outcome, "type"), "interrupt");
    ag_ui_each(e, value_get_last(outcome, "interrupts"), ag_ui_end_emit_interrupt);
    ag_ui_each(e, value_get_last(outcome, "pendingToolCallIds"), ag_ui_end_emit_pending);
    ag_ui_end_emit_usage(e, false);
    event_init(&ev, TC_DONE);
    ev.u.done.reason = ag_ui_end_reason_of(value_get_last(outcome, "type"));
    ev.u.done.result = value_json(e->out->scratch, ag_ui_value(e, "result"), NULL);
    ev.meta.x = ag_ui_end_other_members(e, outcome);
    dialect_emit_draft(e->out,
                       &ev); /* before a final, so that requests of a suspended run stay open */
    ag_ui_end_emit_answer(e);
}

void ag_ui_handle_run_error(const struct ag_ui_event *e)
{
    const char *const message = ag_ui_text(e, "message"), *const code = ag_ui_text(e, "code");
    const bool cancelled =
        code && (strcasecmp(code, "CANCELLED") == 0 || strcasecmp(code, "CANCELED") == 0);
    struct event ev;
    e->a->over = true;
    ag_ui_end_emit_usage(e, !cancelled);
    if (!cancelled) {
        event_init(&ev, TC_ERROR);
        ev.u.error.message = message ? message : "The run failed.";
        ev.u.error.code = code;
        ev.meta.x = e->x;
        dialect_emit_draft(e->out, &ev);
        dialect_emit_done(e->out, "error", code);
        return;
    }
    event_init(&ev, TC_DONE);
    ev.u.done.reason = "cancelled";
    ev.u.done.code = code;
    ev.u.done.detail = message;
    ev.meta.x = e->x;
    dialect_emit_draft(e->out, &ev);
    ag_ui_end_emit_answer(e);
}
