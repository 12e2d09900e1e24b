/* SPDX-License-Identifier: MIT
 * End of a written run: usage totals and outcome. */
#include <strings.h>

#include "dialect/ag_ui/ag_ui_check.h"
#include "dialect/ag_ui/ag_ui_write.h"
#include "event/json/json_reader.h"

#define INTEGER_MAX 9007199254740991LL

/* Usage. */

static void ag_ui_write_end_add_count(struct buf *b, const char *key, int64_t n)
{
    if (n >= 0)
        json_style_member_int(b, S, key, n < INTEGER_MAX ? n : INTEGER_MAX);
}

static int64_t plus(int64_t a, int64_t b)
{
    return b < 0 ? a : a < 0 ? b : a > INTEGER_MAX - b ? INTEGER_MAX : a + b;
}

/* Input includes cached tokens; adds them for sources that count them separately. */
static void ag_ui_write_end_add_entry(const struct ag_ui_write_ctx *e, struct buf *b,
                                      const struct tc_usage *u)
{
    const bool apart = u->cache_counted == 0;
    const int64_t input =
        apart ? plus(plus(u->input_tokens, u->cache_read_tokens), u->cache_write_tokens)
              : u->input_tokens;
    const bool sums = apart || u->total_tokens < 0;
    const bool known = input >= 0 && u->output_tokens >= 0;
    buf_add_char(b, '{');
    ag_ui_add_str(b, "provider", u->provider);
    ag_ui_add_str(b, "model", u->model);
    ag_ui_write_end_add_count(b, "inputTokens", input);
    ag_ui_write_end_add_count(b, "outputTokens", u->output_tokens);
    if (!sums)
        ag_ui_write_end_add_count(b, "totalTokens", u->total_tokens);
    else if (known && !e->own)
        ag_ui_write_end_add_count(b, "totalTokens", plus(input, u->output_tokens));
    ag_ui_write_end_add_count(b, "reasoningTokens", u->reasoning_tokens);
    ag_ui_write_end_add_count(b, "cachedInputTokens", u->cache_read_tokens);
    if (e->v1)
        ag_ui_write_end_add_count(b, "cacheWriteInputTokens", u->cache_write_tokens);
    buf_add_char(b, '}');
}

/* An entry of the source's list, checked again. */
static void add_own_entry(const struct ag_ui_write_ctx *e, struct buf *b, struct str entry)
{
    struct event ev;
    event_init(&ev, TC_USAGE);
    struct tc_usage *const u = &ev.u.usage;
    u->provider = value_text(e->a, value_get_last(entry, "provider"), NULL);
    u->model = value_text(e->a, value_get_last(entry, "model"), NULL);
    u->input_tokens = value_int(value_get_last(entry, "inputTokens"), -1);
    u->output_tokens = value_int(value_get_last(entry, "outputTokens"), -1);
    u->total_tokens = value_int(value_get_last(entry, "totalTokens"), -1);
    u->reasoning_tokens = value_int(value_get_last(entry, "reasoningTokens"), -1);
    u->cache_read_tokens = value_int(value_get_last(entry, "cachedInputTokens"), -1);
    u->cache_write_tokens = value_int(value_get_last(entry, "cacheWriteInputTokens"), -1);
    ag_ui_write_end_add_entry(e, b, u);
}

static void add_own_entries(const struct ag_ui_write_ctx *e, struct buf *b, struct str list)
{
    struct json j;
    struct str entry;
    bool first = true;
    json_reader_open_array(&j, list);
    for (; json_reader_next_value(&j, &entry); first = false) {
        if (!first)
            buf_add_char(b, ',');
        add_own_entry(e, b, entry);
    }
}

/* The usage of a turn is written at its end; without one, the sum of its calls. */
void ag_ui_write_usage(const struct ag_ui_write_ctx *e)
{
    const struct tc_usage *const u = &e->ev->u.usage;
    const struct str list = ag_ui_x_member(e, "usage");
    if (strcmp(u->scope, "turn") != 0) {
        if (!ag_ui_is_child(e))
            usage_totals_add(&e->w->tally, u);
        return;
    }
    struct buf *const b = &e->w->usage;
    buf_reset(b);
    buf_add_char(b, '[');
    if (list.p && *list.p == '[')
        add_own_entries(e, b, list);
    else
        ag_ui_write_end_add_entry(e, b, u);
    buf_add_char(b, ']');
}

/* A run that ends with an interrupt is not the last of its turn: the usage of its calls is written
 * once, at the end of the turn. */
static void ag_ui_write_end_add_usage(const struct ag_ui_write_ctx *e, struct buf *b)
{
    const bool goes_on =
        e->w->scopes && e->ev->kind == TC_DONE && strcmp(e->ev->u.done.reason, "suspended") == 0;
    if (!e->w->usage.len && e->w->tally.counted && !goes_on) {
        buf_add_char(&e->w->usage, '[');
        ag_ui_write_end_add_entry(e, &e->w->usage, &e->w->tally.sum);
        buf_add_char(&e->w->usage, ']');
    }
    if (!e->w->usage.len)
        return;
    json_style_append_key(b, S, "usage");
    buf_add(b, e->w->usage.p, e->w->usage.len);
}

/* The end. */

void ag_ui_write_error(const struct ag_ui_write_ctx *e)
{
    struct ag_ui_writer *const w = e->w;
    const struct str x = ag_ui_x(e);
    w->failed = true;
    ag_ui_write_replace(&w->error, e->ev->u.error.message);
    ag_ui_write_replace(&w->error_code, e->ev->u.error.code);
    buf_reset(&w->error_x);
    buf_add(&w->error_x, x.p ? x.p : "", x.len);
}

static void write_run_error(const struct ag_ui_write_ctx *e, const char *message, const char *code,
                            struct str x)
{
    struct buf *const b = ag_ui_begin(e, "RUN_ERROR", NULL);
    json_style_member_str(b, S, "message", message);
    ag_ui_add_str(b, "code", code);
    ag_ui_write_end_add_usage(e, b);
    ag_ui_end(e, b, x);
}

static bool is_text(struct str value)
{
    return value_string(value).p;
}

static void ag_ui_write_end_add_outcome(const struct ag_ui_write_ctx *e, struct buf *b)
{
    const char *const reason = e->ev->u.done.reason;
    const struct str own = ag_ui_x_member(e, "outcome");
    const struct str pending = ag_ui_get_raw(own, "pendingToolCallIds");
    if (str_is(own, "null"))
        return; /* the source has none */
    json_style_append_key(b, S, "outcome");
    buf_add_char(b, '{');
    if (strcmp(reason, "suspended") == 0) {
        ag_ui_add_interrupts(e, b);
    } else if (strcmp(reason, "cancelled") == 0) {
        json_style_member_str(b, S, "type", "cancelled");
    } else {
        json_style_member_str(b, S, "type", "success");
        if (e->v1 && ag_ui_is_array_of(pending, is_text))
            ag_ui_add_json(b, "pendingToolCallIds", pending);
    }
    buf_add_char(b, '}');
}

/* A stopped or refused run has no separate representation. */
static void add_reason(const struct ag_ui_write_ctx *e, struct buf *b)
{
    const struct tc_done *const done = &e->ev->u.done;
    const bool odd = strcmp(done->reason, "stopped") == 0 || strcmp(done->reason, "refused") == 0;
    if (!odd)
        return;
    json_style_append_key(b, S, "metadata");
    buf_add_char(b, '{');
    json_style_member_str(b, S, "reason", done->reason);
    ag_ui_add_str(b, "code", done->code);
    ag_ui_add_str(b, "detail", done->detail);
    buf_add_char(b, '}');
}

static void write_run_finished(const struct ag_ui_write_ctx *e)
{
    const struct tc_done *const done = &e->ev->u.done;
    struct buf *const b = ag_ui_begin(e, "RUN_FINISHED", NULL);
    json_style_member_str(b, S, "threadId", e->w->thread_id.p);
    json_style_member_str(b, S, "runId", e->w->run_id.p);
    if (done->result)
        ag_ui_add_json(b, "result", (struct str){done->result, strlen(done->result)});
    ag_ui_write_end_add_outcome(e, b);
    ag_ui_write_end_add_usage(e, b);
    add_reason(e, b);
    ag_ui_end(e, b, ag_ui_x(e));
}

void ag_ui_write_done(const struct ag_ui_write_ctx *e)
{
    static const char *const codes[] = {"CANCELLED", "CANCELED"};
    const struct tc_done *const done = &e->ev->u.done;
    struct ag_ui_writer *const w = e->w;
    const bool coded = done->code && (strcasecmp(done->code, codes[0]) == 0 ||
                                      strcasecmp(done->code, codes[1]) == 0);
    const bool suspended = strcmp(done->reason, "suspended") == 0;
    const bool pauses = suspended && w->scopes && !w->failed;
    ag_ui_close_text(e, (struct str){0});
    ag_ui_close_reasoning(e);
    ag_ui_close_calls(e);
    if (pauses)
        ag_ui_pause_steps(e);
    else
        ag_ui_close_steps(e);
    if (w->failed)
        write_run_error(e, w->error.p, w->error_code.len ? w->error_code.p : NULL,
                        (struct str){w->error_x.len ? w->error_x.p : NULL, w->error_x.len});
    else if (strcmp(done->reason, "cancelled") == 0 && !e->v1)
        write_run_error(e, done->detail ? done->detail : "Run cancelled",
                        coded ? done->code : codes[0], ag_ui_x(e));
    else
        write_run_finished(e);
    w->started = !suspended; /* the next run continues */
}
