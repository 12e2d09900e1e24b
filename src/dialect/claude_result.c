/* SPDX-License-Identifier: MIT
 * Owns the end of a turn: what a result line means, the final or the error, usage and done. */
#include "dialect/claude.h"

struct result {
    struct str subtype, is_error, text, errors, stop_reason, terminal, cost, cost_old, usage;
    struct str duration, turns, denials, index, origin, structured, api_type, api_error, startup;
    struct str error;
    bool failed;
    bool failed_by_text; /* the line claims success */
};

static struct result read_result(const struct claude *c, struct str line)
{
    struct result r = {0};
    const struct value_row wants[] = {
        {"subtype", &r.subtype},
        {"is_error", &r.is_error},
        {"result", &r.text},
        {"errors", &r.errors},
        {"error", &r.error},
        {"stop_reason", &r.stop_reason},
        {"terminal_reason", &r.terminal},
        {"total_cost_usd", &r.cost},
        {"cost_usd", &r.cost_old},
        {"usage", &r.usage},
        {"duration_ms", &r.duration},
        {"num_turns", &r.turns},
        {"permission_denials", &r.denials},
        {"result_index", &r.index},
        {"origin", &r.origin},
        {"structured_output", &r.structured},
        {"api_error_type", &r.api_type},
        {"api_error", &r.api_error},
        {"startup_failure_reason", &r.startup},
    };
    value_pick(line, VALUE_ROWS(wants));
    const bool failed =
        value_true(r.is_error) || str_has_prefix(value_string(r.subtype), STR("error"));
    r.failed_by_text =
        !failed && c->profile->is_failure && c->profile->is_failure(value_string(r.text));
    r.failed = failed || r.failed_by_text;
    return r;
}

static bool is_blank(const char *text)
{
    return !text || text[strspn(text, " \t\r\n")] == '\0';
}

static bool ends_with(const char *text, size_t len, const char *tail, size_t tail_len)
{
    return len >= tail_len && memcmp(text + len - tail_len, tail, tail_len) == 0;
}

/* The CLI's own words where the model said nothing. */
static bool is_no_answer(const char *text)
{
    return is_blank(text) || strcmp(text, "(no content)") == 0;
}

static void tell_final(struct claude *c, const char *text, size_t len, bool own, bool synthesized)
{
    struct event ev;
    event_init(&ev, TC_FINAL);
    ev.u.final.text = text;
    ev.u.final.text_len = len;
    ev.u.final.message_id = own && c->answer.message_id.len ? c->answer.message_id.p : NULL;
    ev.u.final.synthesized = synthesized;
    claude_emit(c, NULL, &ev);
}

/* The answer is what the last message committed. The result's own text is but its last block; it
 * is taken where it says something else: structured output, local commands. */
static void final_of_success(struct claude *c, const struct result *r)
{
    size_t len = 0, result_len = 0;
    const char *const answer = c->answer.stale ? NULL : claude_answer_text(c, &len);
    const char *const text = json_unescape(c->out->scratch, value_string(r->text), &result_len);
    const bool none = is_no_answer(text);
    if (answer && (none || ends_with(answer, len, text, result_len)))
        tell_final(c, answer, len, true, false);
    else if (!none)
        tell_final(c, text, result_len, false, false);
}

/* The turn was stopped from outside: the newest text is the best there is. */
static void final_of_stop(struct claude *c)
{
    size_t len = 0;
    const char *const answer = claude_answer_text(c, &len);
    if (answer)
        tell_final(c, answer, len, true, c->answer.stale);
}

static void final_of_cancel(struct claude *c)
{
    if (!c->answer.stale)
        final_of_stop(c);
}

/* A refused answer is not shown as one: the reason stands for it. */
static void final_of_refusal(struct claude *c, const struct result *r)
{
    size_t len = 0;
    const char *const text = json_unescape(c->out->scratch, value_string(r->text), &len);
    if (!is_blank(text))
        tell_final(c, text, len, false, true);
}

/* The reasons the CLI lists, one a line; what it says only to itself is left out. */
static const char *join_errors(struct claude *c, struct str errors)
{
    struct json j;
    json_start(&j, errors.p, errors.len);
    if (!errors.p || !json_enter_array(&j))
        return NULL;
    CLEANUP_BUF struct buf out = {0};
    while (json_next_element(&j)) {
        struct str raw = {0};
        if (!json_read_string(&j, &raw) || str_has_prefix(raw, STR("[ede_diagnostic]")))
            continue;
        const char *const text = claude_unescape(c, raw, NULL);
        buf_printf(&out, "%s%s", out.len ? "\n" : "", text);
    }
    return out.len ? arena_strndup(c->out->scratch, out.p, out.len) : NULL;
}

static const char *error_message(struct claude *c, const struct result *r)
{
    if (r->failed_by_text && c->api_error.len)
        return c->api_error.p; /* without the answer that the error broke off */
    const char *const text = claude_text(c, r->text);
    if (!is_blank(text))
        return text;
    const char *const errors = join_errors(c, r->errors);
    if (errors)
        return errors;
    const char *const error = claude_text(c, value_member(r->error, "message"));
    if (!is_blank(error))
        return error;
    const char *const subtype = claude_text(c, r->subtype);
    return arena_sprintf(c->out->scratch, "the agent ended with %s",
                         subtype ? subtype : "an error");
}

static const char *error_code(struct claude *c, const struct result *r, const char *message)
{
    if (strstr(message, "No conversation found"))
        return "agent_session";
    if (value_string(r->api_type).p)
        return claude_text(c, r->api_type);
    if (value_string(r->api_error).p)
        return claude_text(c, r->api_error);
    if (c->api_code[0] && strcmp(c->api_code, "unknown") != 0)
        return c->api_code;
    if (value_string(r->startup).p)
        return claude_text(c, r->startup);
    if (!value_is(r->subtype, "success"))
        return claude_text(c, r->subtype);
    const char *const terminal = claude_text(c, r->terminal);
    return terminal ? terminal : "agent_error";
}

static void tell_error(struct claude *c, const struct result *r)
{
    struct event ev;
    event_init(&ev, TC_ERROR);
    ev.u.error.message = error_message(c, r);
    ev.u.error.code = error_code(c, r, ev.u.error.message);
    claude_emit(c, NULL, &ev);
}

static double total_cost(const struct result *r)
{
    return value_real(r->cost, value_real(r->cost_old, -1));
}

static void tell_usage(struct claude *c, const struct result *r)
{
    const struct claude_usage u = claude_usage_read(r->usage);
    struct event ev;
    event_init(&ev, TC_USAGE);
    ev.u.usage.scope = "turn";
    ev.u.usage.input_tokens = u.input < 0 ? 0 : u.input;
    ev.u.usage.output_tokens = u.output < 0 ? 0 : u.output;
    ev.u.usage.cache_read_tokens = u.cache_read;
    ev.u.usage.cache_write_tokens = u.cache_write;
    ev.u.usage.cache_counted = c->profile->cache_counted;
    const double total = total_cost(r);
    ev.u.usage.cost_usd = total > c->cost_seen ? total - c->cost_seen : total < 0 ? -1 : 0;
    ev.u.usage.duration_ms = value_real(r->duration, -1);
    ev.u.usage.model = c->model.len ? c->model.p : NULL;
    ev.u.usage.stop_reason = claude_text(c, r->stop_reason);
    ev.u.usage.is_error = r->failed;
    claude_emit(c, NULL, &ev);
}

static void tell_done(struct claude *c, const struct result *r, const char *reason,
                      const char *code, struct str line)
{
    static const char *const keep[] = {"permission_denials",
                                       "api_error_status",
                                       "api_error_type",
                                       "result_index",
                                       "queued_turn_count",
                                       "safety_stops",
                                       "local_command",
                                       "origin",
                                       NULL};
    struct event ev;
    event_init(&ev, TC_DONE);
    ev.u.done.reason = reason;
    ev.u.done.code = code;
    ev.u.done.detail = value_is(r->terminal, "completed") ? NULL : claude_text(c, r->terminal);
    ev.u.done.turns = value_int(r->turns, -1);
    ev.u.done.result = json_compact_dup(c->out->scratch, r->structured, NULL);
    ev.meta.x = value_some(c->out->scratch, line, keep);
    claude_emit(c, NULL, &ev);
}

static bool was_refused(const struct claude *c, const struct result *r)
{
    return r->failed &&
           (value_is(r->stop_reason, "refusal") ||
            (!value_string(r->stop_reason).p && strcmp(c->stop_reason, "refusal") == 0));
}

static bool was_cancelled(const struct claude *c, const struct result *r)
{
    return r->failed && (str_has_prefix(value_string(r->terminal), STR("aborted")) ||
                         (!r->terminal.p && c->interrupted));
}

static bool was_stopped(const struct result *r)
{
    const struct str subtype = value_string(r->subtype);
    return str_is(subtype, "error_max_turns") || str_is(subtype, "error_max_budget_usd");
}

static void decide(struct claude *c, const struct result *r, struct str line)
{
    const bool success = value_is(r->subtype, "success");
    const char *const subtype = success ? NULL : claude_text(c, r->subtype);
    const char *reason = "completed", *code = subtype;
    if (was_refused(c, r)) {
        reason = "refused";
        code = "refusal";
        final_of_refusal(c, r);
    } else if (was_cancelled(c, r)) {
        reason = "cancelled";
        final_of_cancel(c);
    } else if (was_stopped(r)) {
        reason = "stopped";
        final_of_stop(c);
    } else if (r->failed) {
        reason = "error";
        tell_error(c, r);
    } else {
        final_of_success(c, r);
    }
    tell_usage(c, r);
    tell_done(c, r, reason, code, line);
    c->closed = true;
}

static void tell_duplicate(struct claude *c, const struct result *r)
{
    struct event ev;
    struct arena *const a = c->out->scratch;
    event_init_notice(&ev, "info", "duplicate_result", "one more result in the same stream");
    ev.u.notice.detail = claude_text(c, r->subtype);
    if (r->origin.p)
        ev.meta.x = arena_sprintf(a, "{\"origin\":%s}", json_compact_dup(a, r->origin, NULL));
    claude_emit(c, NULL, &ev);
}

static void check_index(struct claude *c, const struct result *r)
{
    const int64_t index = value_int(r->index, c->results);
    if (index > c->results && c->results > 0)
        claude_notice(c, "warn", "result_lost",
                      arena_sprintf(c->out->scratch, "results %lld to %lld did not arrive",
                                    (long long)c->results, (long long)index - 1),
                      (struct str){0});
    c->results = index < INT64_MAX ? index + 1 : index;
}

/* Ends what the turn left open; then the next one starts clean. */
static void close_turn(struct claude *c)
{
    claude_message_drop_open(c, &c->main);
    claude_message_finish(c, &c->main);
}

static void after_result(struct claude *c, const struct result *r)
{
    const double total = total_cost(r);
    if (total >= 0)
        c->cost_seen = total;
    c->interrupted = false;
    c->api_code[0] = '\0';
    buf_reset(&c->api_error);
}

void claude_result(struct claude *c, const struct claude_line *l)
{
    const struct result r = read_result(c, l->self);
    close_turn(c);
    check_index(c, &r);
    if (c->closed) {
        tell_duplicate(c, &r);
    } else if (r.origin.p) {
        /* It answers a task, not the user: it decides only if nothing else does. */
        buf_reset(&c->held_result);
        buf_add(&c->held_result, l->self.p, l->self.len);
        c->cost_unheld = c->cost_seen;
    } else {
        decide(c, &r, l->self);
    }
    after_result(c, &r);
}

void claude_result_held(struct claude *c)
{
    const struct str line = {c->held_result.p, c->held_result.len};
    const struct result r = read_result(c, line);
    c->cost_seen = c->cost_unheld;
    decide(c, &r, line);
}

void claude_result_cut(struct claude *c)
{
    struct event ev;
    size_t len = 0;
    const char *const answer = c->answer.stale ? NULL : claude_answer_text(c, &len);
    if (c->closed || !answer)
        return;
    tell_final(c, answer, len, true, true);
    event_init(&ev, TC_DONE);
    ev.u.done.reason = "completed";
    ev.u.done.code = "agent_truncated";
    claude_emit(c, NULL, &ev);
    c->closed = true;
}
