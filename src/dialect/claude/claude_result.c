/* SPDX-License-Identifier: MIT
 * Interprets a result line: the final or the error, usage and done. claude_background.c decides
 * when they are emitted. */
#include "dialect/claude/claude.h"

struct result {
    struct str subtype, is_error, text, errors, stop_reason, terminal, cost, cost_old, usage;
    struct str duration, turns, denials, index, origin, structured, api_type, api_error, startup;
    struct str error, since;
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
        {"model_usage_since_last_result", &r.since},
    };
    value_get_members(line, VALUE_ROWS(wants));
    const bool failed =
        value_is_true(r.is_error) || str_has_prefix(value_string(r.subtype), STR("error"));
    r.failed_by_text =
        !failed && c->profile->is_failure && c->profile->is_failure(value_string(r.text));
    r.failed = failed || r.failed_by_text;
    return r;
}

static bool claude_result_is_blank(const char *text)
{
    return !text || text[strspn(text, " \t\r\n")] == '\0';
}

static bool claude_result_ends_with(const char *text, size_t len, const char *tail, size_t tail_len)
{
    return len >= tail_len && memcmp(text + len - tail_len, tail, tail_len) == 0;
}

/* The CLI's own text, if the model wrote none. */
static bool is_no_answer(const char *text)
{
    return claude_result_is_blank(text) || strcmp(text, "(no content)") == 0;
}

static void set_final(struct claude *c, struct claude_ending *e, const char *text, size_t len,
                      bool own, bool synthesized)
{
    event_init(&e->outcome, TC_FINAL);
    e->outcome.u.final.text = text;
    e->outcome.u.final.text_len = len;
    e->outcome.u.final.message_id = own && c->answer.message_id.len ? c->answer.message_id.p : NULL;
    e->outcome.u.final.synthesized = synthesized;
    e->has_outcome = true;
}

/* The answer is the committed text of the last message. The result's text is only its last block;
 * it is used if it differs: structured output, local commands. */
static void final_of_success(struct claude *c, struct claude_ending *e, const struct result *r)
{
    size_t len = 0, result_len = 0;
    const char *const answer = c->answer.stale ? NULL : claude_answer_text(c, &len);
    const char *const text =
        json_reader_unescape(c->out->scratch, value_string(r->text), &result_len);
    const bool none = is_no_answer(text);
    if (answer && (none || claude_result_ends_with(answer, len, text, result_len)))
        set_final(c, e, answer, len, true, false);
    else if (!none)
        set_final(c, e, text, result_len, false, false);
}

/* The turn was stopped from outside: the newest text is the best available answer. */
static void final_of_stop(struct claude *c, struct claude_ending *e)
{
    size_t len = 0;
    const char *const answer = claude_answer_text(c, &len);
    if (answer)
        set_final(c, e, answer, len, true, c->answer.stale);
}

/* The final says that the turn was stopped, because done follows only after the agent's exit. */
static void final_of_cancel(struct claude *c, struct claude_ending *e)
{
    if (!c->answer.stale)
        final_of_stop(c, e);
    e->outcome.meta.x = "{\"reason\":\"cancelled\"}";
}

/* A refused answer is replaced by the reason. */
static void final_of_refusal(struct claude *c, struct claude_ending *e, const struct result *r)
{
    size_t len = 0;
    const char *const text = json_reader_unescape(c->out->scratch, value_string(r->text), &len);
    if (!claude_result_is_blank(text))
        set_final(c, e, text, len, false, true);
}

/* The reasons that the CLI lists, one per line; leaves out those meant for itself. */
static const char *join_errors(struct claude *c, struct str errors)
{
    struct json j;
    json_reader_open_array(&j, errors);
    CLEANUP_BUF struct buf out = {0};
    while (json_reader_next_element(&j)) {
        struct str raw = {0};
        if (!json_reader_read_string(&j, &raw) || str_has_prefix(raw, STR("[ede_diagnostic]")))
            continue;
        const char *const text = claude_unescape(c, raw, NULL);
        buf_printf(&out, "%s%s", out.len ? "\n" : "", text);
    }
    return out.len ? arena_strndup(c->out->scratch, out.p, out.len) : NULL;
}

static const char *error_message(struct claude *c, const struct result *r)
{
    if (r->failed_by_text && c->api_error.text.len)
        return c->api_error.text.p; /* without the answer that the error interrupted */
    const char *const text = claude_text(c, r->text);
    if (!claude_result_is_blank(text))
        return text;
    const char *const errors = join_errors(c, r->errors);
    if (errors)
        return errors;
    const char *const error = claude_text(c, value_get_last(r->error, "message"));
    if (!claude_result_is_blank(error))
        return error;
    const char *const subtype = claude_text(c, r->subtype);
    return arena_sprintf(c->out->scratch, "The agent ended with an error: %s",
                         subtype ? subtype : "an error");
}

static const char *claude_result_error_code(struct claude *c, const struct result *r,
                                            const char *message)
{
    if (strstr(message, "No conversation found"))
        return "agent_session";
    if (value_string(r->api_type).p)
        return claude_text(c, r->api_type);
    if (value_string(r->api_error).p)
        return claude_text(c, r->api_error);
    if (c->api_error.code[0] && strcmp(c->api_error.code, "unknown") != 0)
        return c->api_error.code;
    if (value_string(r->startup).p)
        return claude_text(c, r->startup);
    if (!value_equals(r->subtype, "success"))
        return claude_text(c, r->subtype);
    const char *const terminal = claude_text(c, r->terminal);
    return terminal ? terminal : "agent_error";
}

static void set_error(struct claude *c, struct claude_ending *e, const struct result *r)
{
    event_init(&e->outcome, TC_ERROR);
    e->outcome.u.error.message = error_message(c, r);
    e->outcome.u.error.code = claude_result_error_code(c, r, e->outcome.u.error.message);
    e->has_outcome = true;
}

static double total_cost(const struct result *r)
{
    return value_real(r->cost, value_real(r->cost_old, -1));
}

/* The running total at the start of the process; not 0 for a resumed session. */
static double cost_before(const struct result *r, double total)
{
    struct json j;
    struct str model = {0}, use = {0};
    if (!json_reader_open_object(&j, r->since))
        return 0;
    double spent = 0;
    while (json_reader_next_key(&j, &model)) {
        json_reader_skip(&j, &use);
        const double cost = value_real(value_get_last(use, "costUSD"), 0);
        spent += cost > 0 ? cost : 0;
    }
    return total > spent ? total - spent : 0;
}

/* The greater of two counts; negative: unknown. */
static int64_t claude_result_add_count(int64_t a, int64_t b)
{
    int64_t sum = 0;
    if (b < 0)
        return a;
    return __builtin_add_overflow(a < 0 ? 0 : a, b, &sum) ? INT64_MAX : sum;
}

/* A count lower than before has been reset. */
static int64_t count_from(int64_t n, int64_t before)
{
    return n >= before ? n - before : n;
}

struct claude_usage claude_result_tokens(const struct claude *c)
{
    struct claude_usage u = c->totals.tokens_before;
    if (!c->profile || !c->profile->counts_session)
        return u;
    u.input = claude_result_add_count(u.input, c->spent.tokens.input);
    u.output = claude_result_add_count(u.output, c->spent.tokens.output);
    u.cache_read = claude_result_add_count(u.cache_read, c->spent.tokens.cache_read);
    u.cache_write = claude_result_add_count(u.cache_write, c->spent.tokens.cache_write);
    return u;
}

/* Adds the increase of this result to the turn's usage. Costs are running totals: in a resumed
 * session, the first one includes costs of earlier processes. */
static void claude_result_add_usage(struct claude *c, const struct result *r)
{
    const struct claude_usage u = claude_usage_read(r->usage), *const before =
                                                                   &c->totals.tokens_before;
    struct claude_spent *const s = &c->spent;
    s->tokens.input = claude_result_add_count(s->tokens.input, count_from(u.input, before->input));
    s->tokens.output =
        claude_result_add_count(s->tokens.output, count_from(u.output, before->output));
    s->tokens.cache_read =
        claude_result_add_count(s->tokens.cache_read, count_from(u.cache_read, before->cache_read));
    s->tokens.cache_write = claude_result_add_count(s->tokens.cache_write,
                                                    count_from(u.cache_write, before->cache_write));
    const double ms = value_real(r->duration, -1), total = total_cost(r);
    if (ms >= 0)
        s->duration_ms = (s->duration_ms < 0 ? 0 : s->duration_ms) + ms;
    if (total < 0)
        return;
    if (!c->totals.costs++ || total < c->totals.cost_seen) /* lower: /clear has reset the count */
        c->totals.cost_seen = cost_before(r, total);
    s->cost_usd = total > c->totals.cost_seen ? total - c->totals.cost_seen : 0;
}

/* A result before the first one that answers the user is left over from an earlier turn of the
 * session: it counts only if no other follows. */
static void claude_result_clear_usage(struct claude *c)
{
    if (c->totals.costs)
        c->totals.cost_seen += c->spent.cost_usd;
    c->spent = CLAUDE_NOTHING_SPENT;
}

static void claude_result_set_usage(struct claude *c, struct claude_ending *e,
                                    const struct result *r)
{
    event_init(&e->usage, TC_USAGE);
    e->usage.u.usage.scope = "turn";
    e->usage.u.usage.cache_counted = c->profile->cache_counted;
    e->usage.u.usage.model = c->ident.model.len ? c->ident.model.p : NULL;
    e->usage.u.usage.stop_reason = claude_text(c, r->stop_reason);
    e->usage.u.usage.is_error = r->failed;
}

static void set_done(struct claude *c, struct claude_ending *e, const struct result *r,
                     const char *reason, const char *code, struct str line)
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
    event_init(&e->done, TC_DONE);
    e->done.u.done.reason = reason;
    e->done.u.done.code = code;
    e->done.u.done.detail =
        value_equals(r->terminal, "completed") ? NULL : claude_text(c, r->terminal);
    e->done.u.done.turns = value_int(r->turns, -1);
    e->done.u.done.result = json_reader_compact_dup(c->out->scratch, r->structured, NULL);
    e->done.meta.x = value_extra_only(c->out->scratch, line, keep);
}

static bool was_refused(const struct claude *c, const struct result *r)
{
    return r->failed &&
           (value_equals(r->stop_reason, "refusal") ||
            (!value_string(r->stop_reason).p && strcmp(c->stop_reason, "refusal") == 0));
}

static bool claude_result_was_cancelled(const struct claude *c, const struct result *r)
{
    return r->failed && (str_has_prefix(value_string(r->terminal), STR("aborted")) ||
                         (!r->terminal.p && c->interrupted));
}

static bool was_stopped(const struct result *r)
{
    const struct str subtype = value_string(r->subtype);
    return str_is(subtype, "error_max_turns") || str_is(subtype, "error_max_budget_usd");
}

/* Strings are in scratch memory or in the line. */
static void read_ending(struct claude *c, struct claude_ending *e, const struct result *r,
                        struct str line)
{
    const bool success = value_equals(r->subtype, "success");
    const char *const subtype = success ? NULL : claude_text(c, r->subtype);
    const char *reason = "completed", *code = subtype;
    if (was_refused(c, r)) {
        reason = "refused";
        code = "refusal";
        final_of_refusal(c, e, r);
    } else if (claude_result_was_cancelled(c, r)) {
        reason = "cancelled";
        final_of_cancel(c, e);
    } else if (was_stopped(r)) {
        reason = "stopped";
        final_of_stop(c, e);
    } else if (r->failed) {
        reason = "error";
        set_error(c, e, r);
    } else {
        final_of_success(c, e, r);
    }
    claude_result_set_usage(c, e, r);
    set_done(c, e, r, reason, code, line);
}

static void claude_result_emit_duplicate(struct claude *c, const struct result *r)
{
    struct event ev;
    struct arena *const a = c->out->scratch;
    event_init_notice(&ev, "info", "duplicate_result",
                      "The agent reported another result for the same turn.");
    ev.u.notice.detail = claude_text(c, r->subtype);
    if (r->origin.p)
        ev.meta.x =
            arena_sprintf(a, "{\"origin\":%s}", json_reader_compact_dup(a, r->origin, NULL));
    claude_emit(c, NULL, &ev);
}

static void check_index(struct claude *c, const struct result *r)
{
    const int64_t index = value_int(r->index, c->totals.results);
    if (index > c->totals.results && c->totals.results > 0)
        claude_notice(c, "warn", "result_lost",
                      arena_sprintf(c->out->scratch,
                                    "Results %lld to %lld are missing from the agent's output.",
                                    (long long)c->totals.results, (long long)index - 1),
                      (struct str){0});
    c->totals.results = index < INT64_MAX ? index + 1 : index;
}

/* Ends all open parts; the next turn starts clean. */
static void claude_result_close_turn(struct claude *c)
{
    claude_message_drop_open(c, &c->main);
    claude_message_finish(c, &c->main);
    claude_step_end(c);
}

static void after_result(struct claude *c)
{
    c->interrupted = false;
    c->api_error.code[0] = '\0';
    buf_reset(&c->api_error.text);
}

/* A superseded turn claims success, with a truncated text or none. */
static bool claude_result_is_answer(const struct claude_ending *e, const struct result *r)
{
    return r->failed ||
           (e->has_outcome && !str_has_prefix(value_string(r->terminal), STR("aborted")));
}

void claude_result(struct claude *c, const struct claude_line *l)
{
    const struct result r = read_result(c, l->self);
    claude_result_close_turn(c);
    check_index(c, &r);
    if (c->closed) {
        claude_result_emit_duplicate(c, &r);
    } else {
        struct claude_ending e = {.own = !r.origin.p};
        read_ending(c, &e, &r, l->self);
        e.is_answer = claude_result_is_answer(&e, &r);
        if (e.own && !c->work.own)
            claude_result_clear_usage(c);
        claude_result_add_usage(c, &r);
        claude_work_result(c, &e);
    }
    after_result(c);
}

void claude_ending_emit(struct claude *c, struct claude_ending *e)
{
    claude_finish_subs(c);
    claude_step_end(c);
    struct tc_usage *const usage = &e->usage.u.usage;
    usage->input_tokens = c->spent.tokens.input;
    usage->output_tokens = c->spent.tokens.output;
    usage->cache_read_tokens = c->spent.tokens.cache_read;
    usage->cache_write_tokens = c->spent.tokens.cache_write;
    usage->cost_usd = c->totals.costs ? c->spent.cost_usd : -1;
    usage->duration_ms = c->spent.duration_ms;
    if (e->has_outcome)
        claude_emit(c, NULL, &e->outcome);
    claude_emit(c, NULL, &e->usage);
    claude_emit(c, NULL, &e->done);
    c->closed = true;
}

static void end_without_result(struct claude *c, struct claude_ending *e, const char *reason,
                               const char *code)
{
    if (c->closed || !e->has_outcome)
        return;
    e->outcome.u.final.synthesized = true;
    event_init(&e->done, TC_DONE);
    e->done.u.done.reason = reason;
    e->done.u.done.code = code;
    claude_emit(c, NULL, &e->outcome);
    claude_emit(c, NULL, &e->done);
    c->closed = true;
}

void claude_result_handle_truncated(struct claude *c)
{
    struct claude_ending e = {0};
    if (!c->answer.stale)
        final_of_stop(c, &e);
    end_without_result(c, &e, "completed", "agent_truncated");
}

void claude_result_cancelled(struct claude *c)
{
    struct claude_ending e = {0};
    final_of_cancel(c, &e);
    end_without_result(c, &e, "cancelled", NULL);
}
