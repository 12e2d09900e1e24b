/* SPDX-License-Identifier: MIT
 * Reads chat-completion chunks: text, reasoning, end and usage of a completion. */
#include "dialect/openai/openai.h"

#include "event/json/json_reader.h"

static void openai_replace(struct buf *to, const char *text)
{
    buf_reset(to);
    if (text)
        buf_add_str(to, text);
}

const char *openai_message_id(const struct openai *o)
{
    return o->id.len ? o->id.p : NULL;
}

void openai_emit_text(const struct openai_choice *c, const char *text, size_t len)
{
    dialect_emit_narration(c->out, text, len, openai_message_id(c->o));
    if (len && len <= OPENAI_TEXT_MAX - c->o->text.len)
        buf_add(&c->o->text, text, len);
}

void openai_complete_text(const struct openai_choice *c)
{
    if (c->o->text.len)
        dialect_emit_message(c->out, c->o->text.p, c->o->text.len, openai_message_id(c->o));
}

static void openai_read_text(const struct openai_choice *c, const char *key)
{
    size_t len = 0;
    const char *const text = value_text(c->out->scratch, value_get_last(c->delta, key), &len);
    openai_emit_text(c, text, len);
    c->o->refused |= len && strcmp(key, "refusal") == 0;
}

static void openai_read_reasoning(const struct openai_choice *c)
{
    static const char *const keys[] = {"reasoning_content", "reasoning"};
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        size_t len = 0;
        const char *const text =
            value_text(c->out->scratch, value_get_last(c->delta, keys[i]), &len);
        dialect_emit_thinking(c->out, text, len, openai_message_id(c->o));
        if (len)
            return; /* some servers use both names */
    }
}

/* The end. */

static const struct openai_finish_kind {
    const char *finish, *reason, *code;
} endings[] = {
    {"stop", "completed", NULL},
    {"length", "stopped", "length"},
    {"content_filter", "refused", "content_filter"},
    {"tool_calls", "stopped", "tool_calls"}, /* the client would have to execute them */
    {"function_call", "stopped", "tool_calls"},
    {"error", "error", "error"},
};

static struct openai_finish_kind openai_find_ending(const char *finish)
{
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++)
        if (strcmp(finish, endings[i].finish) == 0)
            return endings[i];
    return (struct openai_finish_kind){finish, "completed", finish};
}

static void openai_read_finish(const struct openai_choice *c)
{
    struct openai *const o = c->o;
    const char *const finish =
        value_text(c->out->scratch, value_get_last(c->self, "finish_reason"), NULL);
    if (!finish || o->finished)
        return;
    struct openai_finish_kind ending = openai_find_ending(finish);
    const bool calls = openai_settle_calls(c);
    if (calls)
        ending = (struct openai_finish_kind){finish, "stopped", "tool_calls"};
    if (o->refused && strcmp(ending.reason, "completed") == 0)
        ending = (struct openai_finish_kind){finish, "refused", "refusal"};
    o->finished = true;
    o->failed = strcmp(ending.reason, "error") == 0;
    if (!o->answered)
        openai_complete_text(c);
    if (o->failed)
        dialect_emit_error(c->out, "The completion ended with an error.", NULL);
    else if (!calls && !o->answered)
        dialect_emit_final(c->out, o->text.p, o->text.len, openai_message_id(o));
    dialect_emit_done(c->out, ending.reason, o->failed ? NULL : ending.code);
}

static void openai_read_error(struct openai *o, const struct dialect_sink *out, struct str error)
{
    struct arena *const scratch = out->scratch;
    const struct str message = value_get_last(error, "message");
    const struct str code = value_get_last(error, "code"), type = value_get_last(error, "type");
    if (o->finished)
        return;
    o->finished = o->failed = true;
    dialect_emit_error(out, value_text_or_json(scratch, message.p ? message : error, NULL),
                       value_text_or_json(scratch, code.p ? code : type, NULL));
    dialect_emit_done(out, "error", NULL);
}

static int64_t usage_count(struct str usage, const char *key, const char *inner)
{
    const struct str value = value_get_last(usage, key);
    return value_int(inner ? value_get_last(value, inner) : value, -1);
}

/* Servers with running counts repeat usage: only the last one is the sum. */
static void openai_emit_usage(const struct openai *o, const struct dialect_sink *out)
{
    static const char *const known[] = {"prompt_tokens", "completion_tokens", "total_tokens",
                                        "cost", NULL};
    const struct str usage = {o->usage.p, o->usage.len};
    struct event ev;
    if (!o->usage.len)
        return;
    event_init(&ev, TC_USAGE);
    struct tc_usage *const u = &ev.u.usage;
    u->scope = "turn";
    u->input_tokens = usage_count(usage, "prompt_tokens", NULL);
    u->output_tokens = usage_count(usage, "completion_tokens", NULL);
    u->total_tokens = usage_count(usage, "total_tokens", NULL);
    u->cache_read_tokens = usage_count(usage, "prompt_tokens_details", "cached_tokens");
    if (u->cache_read_tokens < 0)
        u->cache_read_tokens = usage_count(usage, "prompt_cache_hit_tokens", NULL);
    u->cache_miss_tokens = usage_count(usage, "prompt_cache_miss_tokens", NULL);
    u->reasoning_tokens = usage_count(usage, "completion_tokens_details", "reasoning_tokens");
    u->cache_counted = 1;
    u->cost_usd = value_real(value_get_last(usage, "cost"), -1);
    u->model = o->model.len ? o->model.p : NULL;
    u->is_error = o->failed;
    ev.meta.x = value_extra_except(out->scratch, usage, known);
    dialect_emit_draft(out, &ev);
}

/* Chunks. */

struct openai_chunk {
    struct str self, id, created, model, choices, usage, error;
};

static void openai_emit_start(struct openai *o, const struct dialect_sink *out,
                              const struct openai_chunk *chunk)
{
    static const char *const known[] = {"id",      "object", "created", "model",
                                        "choices", "usage",  NULL};
    struct event ev;
    event_init(&ev, TC_START);
    ev.u.start.run_id = value_text(out->scratch, chunk->id, NULL);
    ev.u.start.model = value_text(out->scratch, chunk->model, NULL);
    ev.meta.ts = value_real(chunk->created, -1);
    ev.meta.x = value_extra_except(out->scratch, chunk->self, known);
    openai_replace(&o->id, ev.u.start.run_id);
    openai_replace(&o->model, ev.u.start.model);
    o->started = true;
    dialect_emit_draft(out, &ev);
}

/* Members without a place in an event. */
static bool has_strangers(const struct openai_choice *c)
{
    static const char *const known[] = {"index", "delta", "message", "finish_reason", NULL};
    static const char *const known_delta[] = {"role",          "content",    "reasoning_content",
                                              "reasoning",     "tool_calls", "refusal",
                                              "function_call", NULL};
    return value_extra_except(c->out->scratch, c->self, known) ||
           value_extra_except(c->out->scratch, c->delta, known_delta);
}

static void openai_read_choice(const struct openai_choice *c)
{
    if (openai_agenticore_handle(c)) {
        openai_read_finish(c);
        return;
    }
    openai_read_reasoning(c);
    openai_read_text(c, "content");
    openai_read_text(c, "refusal");
    openai_handle_calls(c);
    if (has_strangers(c))
        dialect_emit_raw(c->out, "openai", c->self, "choice");
    openai_read_finish(c);
}

/* Of several choices, the first is the turn's answer. */
static void openai_read_choices(struct openai *o, const struct dialect_sink *out,
                                struct str choices)
{
    struct json j;
    struct openai_choice c = {.o = o, .out = out};
    json_reader_open_array(&j, choices);
    while (json_reader_next_value(&j, &c.self)) {
        c.delta = value_get_last(c.self, "delta");
        if (!c.delta.p)
            c.delta = value_get_last(c.self, "message");
        if (value_int(value_get_last(c.self, "index"), 0) == 0)
            openai_read_choice(&c);
        else
            dialect_emit_raw(out, "openai", c.self, "choice");
    }
}

static int read_chunk(void *state, const struct dialect_sink *out, const char *line, size_t len)
{
    struct openai *const o = state;
    struct openai_chunk chunk = {.self = {line, len}};
    const struct value_row rows[] = {{"id", &chunk.id},           {"created", &chunk.created},
                                     {"model", &chunk.model},     {"usage", &chunk.usage},
                                     {"choices", &chunk.choices}, {"error", &chunk.error}};
    if (value_parse_line(line, len, VALUE_ROWS(rows)) < 0)
        return -1;
    const bool known = chunk.choices.p || chunk.usage.p || chunk.error.p;
    if (!o->started && known)
        openai_emit_start(o, out, &chunk);
    if (chunk.usage.p) {
        buf_reset(&o->usage);
        buf_add(&o->usage, chunk.usage.p, chunk.usage.len);
    }
    openai_read_choices(o, out, chunk.choices);
    if (chunk.error.p)
        openai_read_error(o, out, chunk.error);
    if (!known)
        dialect_emit_raw(out, "openai", chunk.self, NULL);
    return 0;
}

/* A stream without a finish_reason has no outcome: the guard supplies it. */
static void openai_end_stream(void *state, const struct dialect_sink *out,
                              const struct stream_end_info *end)
{
    (void)end;
    openai_emit_usage(state, out);
}

static void openai_close_state(void *state)
{
    struct openai *const o = state;
    buf_fini(&o->text);
    buf_fini(&o->id);
    buf_fini(&o->model);
    buf_fini(&o->usage);
    openai_calls_fini(o);
}

static int sniff_chunk(struct str line, const char *event)
{
    (void)event;
    const struct str object = value_get_last(line, "object"),
                     choices = value_get_last(line, "choices");
    if (value_equals(object, "chat.completion.chunk") || value_equals(object, "chat.completion"))
        return DIALECT_SCORE_CERTAIN;
    return choices.p && *choices.p == '[' ? DIALECT_SCORE_CERTAIN / 2 : 0;
}

const struct dialect dialect_openai = {
    .name = "openai",
    .summary = "chat completions (OpenAI-compatible, agenticore's tags too)",
    .state_size = sizeof(struct openai),
    .sniff = sniff_chunk,
    .line = read_chunk,
    .end = openai_end_stream,
    .close = openai_close_state,
};
