/* SPDX-License-Identifier: MIT
 * Response to session/prompt: usage, final, error and done of the turn. */
#include "base/bytes/utf8.h"
#include "dialect/acp/acp.h"
#include "dialect/reader/dialect_emit.h"

/* Context usage; the cost so far is kept for the end. */
void acp_handle_usage(const struct acp_line *call)
{
    static const char *const told[] = {"sessionUpdate", NULL};
    struct event ev;
    const struct str cost = value_get_last(call->update, "cost");
    const char *const currency = acp_text(call, value_get_last(cost, "currency"));
    if (cost.p) {
        call->a->cost = value_real(value_get_last(cost, "amount"), -1);
        utf8_copy_truncated(call->a->currency, sizeof(call->a->currency), currency);
    }
    event_init(&ev, TC_USAGE);
    ev.u.usage.scope = "call";
    ev.meta.x = value_extra_except(call->out->scratch, call->update, told);
    acp_emit(call, &ev);
}

/* Agents differ in whether input tokens include cached ones; their total shows it. */
static int cache_counted(const struct tc_usage *u)
{
    const int64_t read = u->cache_read_tokens > 0 ? u->cache_read_tokens : 0;
    const int64_t written = u->cache_write_tokens > 0 ? u->cache_write_tokens : 0;
    if (u->total_tokens < 0 || !(read + written))
        return -1;
    if (u->total_tokens == u->input_tokens + u->output_tokens)
        return 1;
    return u->total_tokens == u->input_tokens + read + written + u->output_tokens ? 0 : -1;
}

static void acp_result_set_cost(const struct acp *a, struct tc_usage *u)
{
    const double cost = a->cost < a->cost_before ? a->cost : a->cost - a->cost_before;
    if (!a->currency[0])
        return;
    if (strcmp(a->currency, "USD") == 0) {
        u->cost_usd = cost;
    } else {
        u->cost = cost;
        u->currency = a->currency;
    }
}

static void acp_result_emit_usage(const struct acp_line *call, bool failed)
{
    struct event ev;
    struct tc_usage *const u = &ev.u.usage;
    struct str input = {0}, output = {0}, total = {0}, read = {0}, written = {0}, thought = {0};
    const struct value_row rows[] = {{"inputTokens", &input},         {"outputTokens", &output},
                                     {"totalTokens", &total},         {"cachedReadTokens", &read},
                                     {"cachedWriteTokens", &written}, {"thoughtTokens", &thought}};
    const struct str quota = value_get_last(
        value_get_last(value_get_last(call->result, "_meta"), "quota"), "token_count");
    const struct value_row quota_rows[] = {{"input_tokens", &input}, {"output_tokens", &output}};
    value_get_members(quota, VALUE_ROWS(quota_rows));
    value_get_members(value_get_last(call->result, "usage"), VALUE_ROWS(rows));
    if (!input.p && !output.p && !call->a->currency[0])
        return;
    event_init(&ev, TC_USAGE);
    u->scope = "turn";
    u->input_tokens = value_int(input, -1);
    u->output_tokens = value_int(output, -1);
    u->total_tokens = value_int(total, -1);
    u->cache_read_tokens = value_int(read, -1);
    u->cache_write_tokens = value_int(written, -1);
    u->reasoning_tokens = value_int(thought, -1);
    u->cache_counted = cache_counted(u);
    u->stop_reason = acp_text(call, value_get_last(call->result, "stopReason"));
    u->is_error = failed;
    acp_result_set_cost(call->a, u);
    acp_emit(call, &ev);
}

static const struct acp_stop_reason {
    const char *said, *reason, *code;
} stops[] = {
    {"end_turn", "completed", NULL},
    {"max_tokens", "stopped", "max_tokens"},
    {"max_turn_requests", "stopped", "max_turns"},
    {"refusal", "refused", "refusal"},
    {"cancelled", "cancelled", NULL},
};

static struct acp_stop_reason find_stop(const struct acp_line *call, struct str said)
{
    for (size_t i = 0; i < sizeof(stops) / sizeof(stops[0]); i++)
        if (value_equals(said, stops[i].said))
            return stops[i];
    return (struct acp_stop_reason){NULL, "completed", acp_text(call, said)};
}

static void begin_end(const struct acp_line *call)
{
    call->a->over = true;
    acp_settle_tools(call);
    acp_complete_message(call->a, call->out);
}

/* OpenCode and Copilot end a turn silently with "end_turn" when a tool is denied. */
static bool ends_by_denial(const struct acp *a, const struct acp_stop_reason *stop)
{
    return a->denied && !a->answer.len && strcmp(stop->reason, "completed") == 0;
}

static void acp_result_emit_denied_end(const struct dialect_sink *out)
{
    struct event ev;
    event_init(&ev, TC_DONE);
    ev.u.done.reason = "stopped";
    ev.u.done.code = "permission_denied";
    ev.u.done.detail = "The agent ended the turn because a tool was not allowed.";
    dialect_emit_draft(out, &ev);
}

/* The turn ended successfully, or claims so: a failure reported as text has no usage. */
static void acp_result_read_stop(const struct acp_line *call, struct str said)
{
    struct acp *const a = call->a;
    const struct acp_stop_reason stop = find_stop(call, said);
    const bool failed = a->trouble.len && strcmp(stop.reason, "completed") == 0 &&
                        !value_get_last(call->result, "usage").p;
    begin_end(call);
    if (failed)
        dialect_emit_error(call->out, a->trouble.p, "agent_error");
    else
        dialect_emit_final(call->out, a->answer.p, a->answer.len, NULL);
    acp_result_emit_usage(call, failed);
    if (failed)
        dialect_emit_done(call->out, "error", NULL);
    else if (ends_by_denial(a, &stop))
        acp_result_emit_denied_end(call->out);
    else
        dialect_emit_done(call->out, stop.reason, stop.code);
    a->denied = false;
    buf_reset(&a->answer);
    buf_reset(&a->trouble);
}

void acp_handle_result(const struct acp_line *call)
{
    const struct str said = value_get_last(call->result, "stopReason");
    if (said.p)
        acp_result_read_stop(call, said);
    else
        acp_emit_raw(call);
}

void acp_end_turn(const struct acp_line *call, const char *text, const char *code)
{
    begin_end(call);
    dialect_emit_error(call->out, text, code);
    dialect_emit_done(call->out, "error", NULL);
}

void acp_handle_error(const struct acp_line *call)
{
    const struct str data = value_get_last(call->error, "data");
    const char *const text = acp_text(call, value_get_last(call->error, "message"));
    const char *const name = acp_text(call, value_get_last(data, "errorName"));
    const char *const number =
        value_text_or_json(call->out->scratch, value_get_last(call->error, "code"), NULL);
    acp_end_turn(call, text ? text : "The agent returned an error without a message.",
                 name ? name : number);
}
