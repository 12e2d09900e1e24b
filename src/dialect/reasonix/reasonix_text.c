/* SPDX-License-Identifier: MIT
 * Text of a turn: narration, its completion, its retraction. */
#include "dialect/reader/dialect_emit.h"
#include "dialect/reader/value.h"
#include "dialect/reasonix/reasonix.h"
#include "event/json/json_writer.h"

char *reasonix_copy(const struct reasonix_ctx *call, struct str value)
{
    return value_text(call->out->scratch, value, NULL);
}

void reasonix_start(const struct reasonix_ctx *call, const char *model, const char *x)
{
    struct reasonix *const r = call->r;
    struct event ev;
    if (r->started && !x)
        return;
    r->started = true;
    event_init(&ev, TC_START);
    ev.u.start.model = model;
    ev.u.start.task = r->task.len ? r->task.p : NULL;
    ev.meta.x = x;
    dialect_emit_draft(call->out, &ev);
}

static const char *reasonix_text_message_id(const struct reasonix *r)
{
    return r->message_id.len ? r->message_id.p : NULL;
}

void reasonix_text(const struct reasonix_ctx *call, struct str text)
{
    size_t len = 0;
    const char *const told = value_text(call->out->scratch, text, &len);
    reasonix_clear_pending_end(call);
    if (!len)
        return;
    dialect_emit_narration(call->out, told, len, reasonix_text_message_id(call->r));
    if (call->r->streamed.len + len <= REASONIX_TEXT_MAX)
        buf_add(&call->r->streamed, told, len);
}

void reasonix_thinking(const struct reasonix_ctx *call, struct str text)
{
    size_t len = 0;
    const char *const told = value_text(call->out->scratch, text, &len);
    reasonix_clear_pending_end(call);
    call->r->thought |= len > 0;
    dialect_emit_thinking(call->out, told, len, reasonix_text_message_id(call->r));
}

/* Servers without streaming send the whole text in the message. */
static void reasonix_text_emit_unstreamed(const struct reasonix_ctx *call,
                                          const struct tc_message *m)
{
    if (!call->r->thought)
        dialect_emit_thinking(call->out, m->reasoning, m->reasoning_len, m->message_id);
    if (!call->r->streamed.len)
        dialect_emit_narration(call->out, m->text, m->text_len, m->message_id);
}

void reasonix_message(const struct reasonix_ctx *call, struct str text, struct str reasoning,
                      const char *x)
{
    struct reasonix *const r = call->r;
    struct event ev;
    struct tc_message *const m = &ev.u.message;
    reasonix_clear_pending_end(call);
    event_init(&ev, TC_MESSAGE);
    ev.meta.x = x;
    m->message_id = reasonix_text_message_id(r);
    m->text = value_text(call->out->scratch, text, &m->text_len);
    m->reasoning = value_text(call->out->scratch, reasoning, &m->reasoning_len);
    reasonix_text_emit_unstreamed(call, m);
    dialect_emit_draft(call->out, &ev);
    buf_reset(&r->answer);
    buf_add(&r->answer, m->text_len ? m->text : "", m->text_len);
    buf_reset(&r->streamed);
    r->thought = false;
}

void reasonix_emit_step(const struct reasonix_ctx *call, const char *name, const char *x)
{
    struct event ev;
    event_init(&ev, TC_STEP);
    ev.u.step.state = "mark";
    ev.u.step.name = name;
    ev.meta.x = x;
    dialect_emit_draft(call->out, &ev);
}

void reasonix_attempt(const struct reasonix_ctx *call, struct str id)
{
    const char *const text = reasonix_copy(call, id);
    buf_reset(&call->r->message_id);
    buf_add_str(&call->r->message_id, text ? text : "");
}

static void cancel_partial(const struct reasonix_ctx *call)
{
    struct open_calls *const partial = &call->r->partial;
    while (partial->n) {
        struct event ev;
        event_init(&ev, TC_PROGRESS);
        ev.u.progress.tool_use_id = partial->ids[0];
        ev.u.progress.name = partial->names[0];
        ev.u.progress.phase = "cancelled";
        dialect_emit_draft(call->out, &ev);
        open_calls_remove(partial, partial->ids[0]);
    }
}

void reasonix_discard(const struct reasonix_ctx *call)
{
    struct reasonix *const r = call->r;
    struct event ev;
    cancel_partial(call);
    if (r->message_id.len && (r->streamed.len || r->thought)) {
        event_init_notice(&ev, "info", "retracted",
                          "The attempt was interrupted; its text was retracted.");
        ev.u.notice.message_id = r->message_id.p;
        dialect_emit_draft(call->out, &ev);
    }
    buf_reset(&r->streamed);
    r->thought = false;
}

static bool is_dollar(const char *currency)
{
    return currency && (strcmp(currency, "USD") == 0 || strcmp(currency, "$") == 0 ||
                        strcmp(currency, "US$") == 0);
}

/* costUsd is in the currency shown to the user, despite its name: it counts as US dollars only if
 * the currency says so. */
static void reasonix_text_set_cost(const struct reasonix_ctx *call, struct tc_usage *u,
                                   const struct reasonix_usage *usage)
{
    const double cost = value_real(usage->cost.p ? usage->cost : usage->cost_usd, -1);
    u->currency = reasonix_copy(call, usage->currency);
    if (is_dollar(u->currency))
        u->cost_usd = cost;
    u->cost = cost;
}

static const char *session_json(const struct reasonix_ctx *call, const struct reasonix_usage *usage)
{
    CLEANUP_BUF struct buf json = {0};
    if (!usage->session_hit.p && !usage->session_miss.p)
        return NULL;
    buf_add_char(&json, '{');
    jsonw_member_int(&json, "cache_hit_tokens", value_int(usage->session_hit, 0));
    jsonw_member_int(&json, "cache_miss_tokens", value_int(usage->session_miss, 0));
    buf_add_char(&json, '}');
    return arena_strndup(call->out->scratch, json.p, json.len);
}

void reasonix_usage(const struct reasonix_ctx *call, const struct reasonix_usage *usage)
{
    struct event ev;
    struct tc_usage *const u = &ev.u.usage;
    event_init(&ev, TC_USAGE);
    u->scope = "call";
    u->input_tokens = value_int(usage->prompt, -1);
    u->output_tokens = value_int(usage->completion, -1);
    u->total_tokens = value_int(usage->total, -1);
    u->cache_read_tokens = value_int(usage->hit, -1);
    u->cache_miss_tokens = value_int(usage->miss, -1);
    u->reasoning_tokens = value_int(usage->reasoning, -1);
    u->cache_counted = usage->hit.p ? 1 : -1; /* hits and misses are the prompt's two parts */
    u->source = reasonix_copy(call, usage->source);
    u->session = session_json(call, usage);
    reasonix_text_set_cost(call, u, usage);
    ev.meta.x = usage->x;
    usage_totals_add(&call->r->tally, u);
    dialect_emit_draft(call->out, &ev);
}
