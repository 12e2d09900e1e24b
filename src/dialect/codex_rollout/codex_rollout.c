/* SPDX-License-Identifier: MIT
 * Reads a codex session file: lines, and start and end of its turns. */
#include "dialect/codex_rollout/codex_rollout.h"

#include "dialect/reader/dialect_emit.h"
#include "event/json/json_reader.h"

char *codex_rollout_text(const struct codex_rollout_line *l, struct str value)
{
    return value_text(l->out->scratch, value, NULL);
}

static void codex_rollout_set(struct buf *to, const char *text)
{
    buf_reset(to);
    buf_add_str(to, text ? text : "");
}

static const char *codex_rollout_or_null(const struct buf *b)
{
    return b->len ? b->p : NULL;
}

static const char *payload_text(const struct codex_rollout_line *l, const char *key)
{
    return codex_rollout_text(l, value_get_last(l->payload, key));
}

static void codex_rollout_raw(const struct codex_rollout_line *l)
{
    const char *const type = codex_rollout_text(l, l->type);
    const char *const kind = codex_rollout_text(l, l->kind);
    dialect_emit_raw(l->out, "codex-rollout", l->self,
                     kind ? arena_sprintf(l->out->scratch, "%s/%s", type, kind) : type);
}

static void codex_rollout_replay_early(void *ctx, struct str line)
{
    struct codex_rollout_line early = *(const struct codex_rollout_line *)ctx;
    early.self = line;
    early.type = value_get_last(line, "type");
    early.kind = value_get_last(value_get_last(line, "payload"), "type");
    codex_rollout_raw(&early);
}

void codex_rollout_start(const struct codex_rollout_line *l, const char *task)
{
    struct codex_rollout *const c = l->c;
    struct event ev;
    if (c->started)
        return;
    c->started = true;
    event_init(&ev, TC_START);
    ev.meta.session_id = c->thread.len ? c->thread.p : "";
    ev.u.start.thread_id = codex_rollout_or_null(&c->thread);
    ev.u.start.run_id = codex_rollout_or_null(&c->id);
    ev.u.start.provider = codex_rollout_or_null(&c->provider);
    ev.u.start.model = codex_rollout_or_null(&c->model);
    ev.u.start.source = "codex";
    ev.u.start.task = task;
    ev.meta.x = codex_rollout_or_null(&c->context);
    dialect_emit_draft(l->out, &ev);
    struct codex_rollout_line early = *l;
    prestart_replay(&c->early, codex_rollout_replay_early, &early);
}

/* Lines that contain the id of their turn. */

static void codex_rollout_store_early(const struct codex_rollout_line *l)
{
    if (l->c->started)
        codex_rollout_raw(l);
    else
        prestart_append(&l->c->early, l->out->scratch, l->self);
}

static void codex_rollout_read_session(const struct codex_rollout_line *l)
{
    const char *const id = payload_text(l, "id");
    if (id && !l->c->thread.len) /* a fork repeats that of its origin */
        codex_rollout_set(&l->c->thread, id);
    codex_rollout_set(&l->c->provider, payload_text(l, "model_provider"));
    codex_rollout_store_early(l);
}

static void codex_rollout_read_context(const struct codex_rollout_line *l)
{
    static const char *const kept[] = {"cwd",    "approval_policy",      "sandbox_policy",
                                       "effort", "model_context_window", NULL};
    const char *const model = payload_text(l, "model");
    if (model)
        codex_rollout_set(&l->c->model, model);
    if (!l->c->started)
        codex_rollout_set(&l->c->context, value_extra_only(l->out->scratch, l->payload, kept));
    codex_rollout_store_early(l);
}

static bool begins_task(struct str kind)
{
    return value_equals(kind, "task_started") || value_equals(kind, "turn_started");
}

static void codex_rollout_read_begin(const struct codex_rollout_line *l)
{
    l->c->has_turns = true;
    codex_rollout_set(&l->c->id, payload_text(l, "turn_id"));
    codex_rollout_store_early(l);
}

/* Usage. */

static void codex_rollout_read_usage(struct tc_usage *u, struct str usage)
{
    u->input_tokens = value_int(value_get_last(usage, "input_tokens"), -1);
    u->output_tokens = value_int(value_get_last(usage, "output_tokens"), -1);
    u->total_tokens = value_int(value_get_last(usage, "total_tokens"), -1);
    u->cache_read_tokens = value_int(value_get_last(usage, "cached_input_tokens"), -1);
    u->cache_write_tokens = value_int(value_get_last(usage, "cache_write_input_tokens"), -1);
    u->reasoning_tokens = value_int(value_get_last(usage, "reasoning_output_tokens"), -1);
    u->cache_counted = 1;
}

static void codex_rollout_emit_usage(const struct codex_rollout_line *l, struct str usage)
{
    struct event ev;
    if (!usage.p)
        return;
    codex_rollout_start(l, NULL);
    event_init(&ev, TC_USAGE);
    ev.u.usage.scope = "call";
    ev.u.usage.model = codex_rollout_or_null(&l->c->model);
    codex_rollout_read_usage(&ev.u.usage, usage);
    usage_totals_add(&l->c->tally, &ev.u.usage);
    dialect_emit_draft(l->out, &ev);
}

static void codex_rollout_read_record(const struct codex_rollout_line *l)
{
    l->c->has_records = true;
    codex_rollout_emit_usage(l, value_get_last(l->payload, "usage"));
}

/* The older form, which is also written without usage. */
static void codex_rollout_read_count(const struct codex_rollout_line *l)
{
    struct codex_rollout *const c = l->c;
    const struct str info = value_get_last(l->payload, "info");
    const char *const total =
        value_json(l->out->scratch, value_get_last(info, "total_token_usage"), NULL);
    const bool known = total && c->total.len && strcmp(c->total.p, total) == 0;
    if (total)
        codex_rollout_set(&c->total, total);
    if (total && !known && !c->has_records)
        codex_rollout_emit_usage(l, value_get_last(info, "last_token_usage"));
    else
        codex_rollout_store_early(l);
}

static void codex_rollout_emit_turn_usage(const struct codex_rollout_line *l, bool failed)
{
    struct event ev;
    if (!l->c->tally.counted)
        return;
    event_init(&ev, TC_USAGE);
    ev.u.usage = l->c->tally.sum;
    ev.u.usage.scope = "turn";
    ev.u.usage.model = codex_rollout_or_null(&l->c->model);
    ev.u.usage.is_error = failed;
    ev.u.usage.duration_ms = value_real(value_get_last(l->payload, "duration_ms"), -1);
    dialect_emit_draft(l->out, &ev);
}

/* Ends. */

static void codex_rollout_emit_answer(const struct codex_rollout_line *l)
{
    const struct codex_rollout *const c = l->c;
    size_t len = 0;
    const char *const text =
        value_text(l->out->scratch, value_get_last(l->payload, "last_agent_message"), &len);
    const bool same = len && len == c->answer.len && memcmp(text, c->answer.p, len) == 0;
    if (!len)
        dialect_emit_final(l->out, c->answer.p, c->answer.len,
                           codex_rollout_or_null(&c->answer_id));
    else
        dialect_emit_final(l->out, text, len, same ? codex_rollout_or_null(&c->answer_id) : NULL);
}

/* "other", or {"http_connection_failed": {…}}: the key is the code. */
static const char *codex_rollout_error_code(const struct codex_rollout_line *l, struct str error)
{
    const struct str info = value_get_last(error, "codex_error_info");
    if (!info.p || *info.p != '{')
        return codex_rollout_text(l, info);
    struct json j;
    struct str key;
    json_init(&j, info.p, info.len);
    if (!json_reader_enter_object(&j) || !json_reader_next_key(&j, &key))
        return NULL;
    return json_reader_unescape(l->out->scratch, key, NULL);
}

static void codex_rollout_read_complete(const struct codex_rollout_line *l)
{
    const struct str error = value_get_last(l->payload, "error");
    codex_rollout_start(l, NULL);
    l->c->ended = true;
    if (!error.p) {
        codex_rollout_emit_answer(l);
        codex_rollout_emit_turn_usage(l, false);
        dialect_emit_done(l->out, "completed", NULL);
        return;
    }
    const struct str message = value_get_last(error, "message");
    const char *const text = value_text_or_json(l->out->scratch, message.p ? message : error, NULL);
    const char *const code = codex_rollout_error_code(l, error);
    dialect_emit_error(l->out, text, code);
    codex_rollout_emit_turn_usage(l, true);
    dialect_emit_done(l->out, "error", code);
}

static void codex_rollout_read_aborted(const struct codex_rollout_line *l)
{
    codex_rollout_start(l, NULL);
    l->c->ended = true;
    codex_rollout_emit_answer(l);
    codex_rollout_emit_turn_usage(l, false);
    dialect_emit_done(l->out, "cancelled", payload_text(l, "reason"));
}

static void codex_rollout_read_compacted(const struct codex_rollout_line *l)
{
    codex_rollout_start(l, NULL);
    dialect_emit_notice(l->out, "info", "compacted", "the conversation was compacted", NULL);
}

static void codex_rollout_read_trouble(const struct codex_rollout_line *l)
{
    const bool error = value_equals(l->kind, "error");
    const char *const text = payload_text(l, "message");
    codex_rollout_start(l, NULL);
    dialect_emit_notice(l->out, error ? "error" : "warn", error ? "error" : "warning",
                        text ? text : "", NULL);
}

/* Lines. */

static const struct row {
    const char *type, *kind; /* kind: or NULL, any */
    void (*take)(const struct codex_rollout_line *l);
} rows[] = {
    {"session_meta", NULL, codex_rollout_read_session},
    {"turn_context", NULL, codex_rollout_read_context},
    {"token_usage_record", NULL, codex_rollout_read_record},
    {"compacted", NULL, codex_rollout_read_compacted},
    {"event_msg", "task_started", codex_rollout_read_begin},
    {"event_msg", "turn_started", codex_rollout_read_begin},
    {"event_msg", "token_count", codex_rollout_read_count},
    {"event_msg", "task_complete", codex_rollout_read_complete},
    {"event_msg", "turn_complete", codex_rollout_read_complete},
    {"event_msg", "turn_aborted", codex_rollout_read_aborted},
    {"event_msg", "error", codex_rollout_read_trouble},
    {"event_msg", "warning", codex_rollout_read_trouble},
    {"event_msg", "stream_error", codex_rollout_read_trouble},
};

static const struct row *codex_rollout_find_row(const struct codex_rollout_line *l)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (value_equals(l->type, rows[i].type) &&
            (!rows[i].kind || value_equals(l->kind, rows[i].kind)))
            return &rows[i];
    return NULL;
}

/* The end of a background command is in the next turn, with the id of its own turn. */
static bool is_of_another_turn(const struct codex_rollout_line *l)
{
    const char *const id = payload_text(l, "turn_id");
    return id && l->c->id.len && !begins_task(l->kind) && strcmp(id, l->c->id.p) != 0;
}

static void codex_rollout_dispatch(const struct codex_rollout_line *l)
{
    const struct row *const row = codex_rollout_find_row(l);
    const bool event = value_equals(l->type, "event_msg");
    if (is_of_another_turn(l))
        codex_rollout_store_early(l);
    else if (row)
        row->take(l);
    else if (event && value_equals(l->kind, "item_completed") && codex_rollout_handle_item(l))
        return;
    else if (event && codex_rollout_handle_event(l))
        return;
    else if (!value_equals(l->type, "response_item") || !codex_rollout_handle_response(l))
        codex_rollout_store_early(l);
}

static int codex_rollout_read_line(void *state, const struct dialect_sink *out, const char *line,
                                   size_t len)
{
    struct codex_rollout_line l = {.c = state, .self = {line, len}};
    struct str timestamp = {0};
    const struct value_row picked[] = {
        {"type", &l.type}, {"payload", &l.payload}, {"timestamp", &timestamp}};
    if (value_parse_line(line, len, VALUE_ROWS(picked)) < 0)
        return -1;
    struct dialect_sink timed = *out;
    timed.ts = value_time(timestamp);
    l.out = &timed;
    l.kind = value_get_last(l.payload, "type");
    l.item = value_get_last(l.payload, "item");
    codex_rollout_dispatch(&l);
    return 0;
}

/* Sessions of old releases do not mark the start of a turn: a message of the user after an answer
 * is one. */
static enum dialect_begin codex_rollout_begins_turn(const void *state, struct str line)
{
    const struct codex_rollout *const c = state;
    if (!value_equals(value_get_last(line, "type"), "event_msg"))
        return DIALECT_GOES_ON;
    const struct str payload = value_get_last(line, "payload");
    const struct str kind = value_get_last(payload, "type");
    const bool begun = c->id.len || c->started;
    const bool old = !c->has_turns && c->asked && c->answer.len;
    return (begun && begins_task(kind)) || (old && value_equals(kind, "user_message"))
               ? DIALECT_USERS_TURN
               : DIALECT_GOES_ON;
}

static void codex_rollout_end_stream(void *state, const struct dialect_sink *out,
                                     const struct stream_end_info *end)
{
    struct codex_rollout *const c = state;
    const struct codex_rollout_line l = {.c = c, .out = out};
    (void)end;
    if (c->id.len || c->early.lines.len)
        codex_rollout_start(&l, NULL);
    if (c->ended)
        return;
    if (!c->has_turns && c->answer.len) { /* end of a turn in old releases */
        codex_rollout_emit_answer(&l);
        codex_rollout_emit_turn_usage(&l, false);
        dialect_emit_done(out, "completed", NULL);
    } else {
        codex_rollout_emit_turn_usage(&l, true);
    }
}

static void codex_rollout_close_state(void *state)
{
    struct codex_rollout *const c = state;
    struct buf *const bufs[] = {&c->thread,  &c->provider, &c->model,     &c->id,
                                &c->context, &c->answer,   &c->answer_id, &c->total};
    for (size_t i = 0; i < sizeof(bufs) / sizeof(bufs[0]); i++)
        buf_fini(bufs[i]);
    prestart_fini(&c->early);
    open_calls_fini(&c->open);
    open_calls_fini(&c->closed);
}

static void codex_rollout_next_turn(void *state, bool by_agent)
{
    struct codex_rollout *const c = state;
    struct codex_rollout old = *c;
    (void)by_agent;
    *c = (struct codex_rollout){.thread = old.thread,
                                .provider = old.provider,
                                .model = old.model,
                                .total = old.total,
                                .has_turns = old.has_turns,
                                .has_messages = old.has_messages,
                                .has_thoughts = old.has_thoughts,
                                .has_records = old.has_records};
    old.thread = old.provider = old.model = old.total = (struct buf){0};
    codex_rollout_close_state(&old);
}

static int codex_rollout_sniff_line(struct str line, const char *event)
{
    static const char *const types[] = {"session_meta", "event_msg", "response_item",
                                        "turn_context"};
    const struct str type = value_get_last(line, "type");
    (void)event;
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        if (value_equals(type, types[i]))
            return value_get_last(line, "payload").p ? DIALECT_SCORE_CERTAIN : 0;
    return 0;
}

const struct dialect dialect_codex_rollout = {
    .name = "codex-rollout",
    .summary = "session files of codex: ~/.codex/sessions",
    .state_size = sizeof(struct codex_rollout),
    .sniff = codex_rollout_sniff_line,
    .line = codex_rollout_read_line,
    .end = codex_rollout_end_stream,
    .close = codex_rollout_close_state,
    .next = codex_rollout_next_turn,
    .begins = codex_rollout_begins_turn,
};
