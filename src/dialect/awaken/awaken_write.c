/* SPDX-License-Identifier: MIT
 * Writes awaken's flat events like its serialiser: members in the order of their declaration,
 * values with sorted keys. Events from an awaken stream are reproduced byte for byte. */
#include <math.h>

#include "dialect/awaken/awaken_write.h"
#include "dialect/reader/value.h"
#include "event/json/json_reader.h"

struct buf *awaken_begin(const struct awaken_write_ctx *e, const char *type)
{
    struct buf *const b = writer_begin_message(e->out);
    buf_add_char(b, '{');
    json_style_member_str(b, SERDE, "event_type", type);
    return b;
}

void awaken_end(const struct awaken_write_ctx *e, struct buf *b)
{
    buf_add_char(b, '}');
    writer_begin_end_message(e->out);
}

void awaken_add_str(struct buf *b, const char *key, const char *s)
{
    if (s)
        json_style_member_str(b, SERDE, key, s);
}

void awaken_add_json(struct buf *b, const char *key, const char *json)
{
    json_style_member_json(b, SERDE, key, json ? json : "null");
}

void awaken_add_slice(struct buf *b, const char *key, struct str value)
{
    json_style_append_key(b, SERDE, key);
    if (value.p)
        json_style_append_value(b, SERDE, value.p, value.len);
    else
        buf_add_str(b, "null");
}

void awaken_add_count(struct buf *b, const char *key, int64_t n)
{
    if (n >= 0)
        json_style_member_int(b, SERDE, key, n);
}

struct str awaken_rest(const struct event *ev, const char *pointer)
{
    const char *const x = ev->meta.x;
    return x ? json_reader_pointer((struct str){x, strlen(x)}, pointer) : (struct str){0};
}

static bool awaken_write_is_child(const struct event *ev)
{
    return ev->meta.agent || ev->meta.parent_id;
}

static void awaken_write_replace(struct buf *to, const char *text)
{
    buf_reset(to);
    buf_add_str(to, text);
}

static void awaken_write_write_start(const struct awaken_write_ctx *e)
{
    const struct tc_start *const start = &e->ev->u.start;
    const struct tc_meta *const meta = &e->ev->meta;
    const char *const session = *meta->session_id ? meta->session_id : meta->correlation_id;
    awaken_write_replace(&e->w->thread_id, start->thread_id ? start->thread_id : session);
    awaken_write_replace(&e->w->run_id, start->run_id ? start->run_id : meta->correlation_id);
    awaken_write_replace(&e->w->model, start->model ? start->model : "");
    struct buf *const b = awaken_begin(e, "run_start");
    json_style_member_str(b, SERDE, "thread_id", e->w->thread_id.p);
    json_style_member_str(b, SERDE, "run_id", e->w->run_id.p);
    awaken_add_str(b, "parent_run_id", start->parent_run_id);
    awaken_end(e, b);
}

static void awaken_write_write_step(const struct awaken_write_ctx *e)
{
    const struct tc_step *const step = &e->ev->u.step;
    const bool begins = strcmp(step->state, "start") == 0;
    if (awaken_write_is_child(e->ev) || strcmp(step->state, "mark") == 0)
        return;
    struct buf *const b = awaken_begin(e, begins ? "step_start" : "step_end");
    if (begins && step->message_id) {
        json_style_member_str(b, SERDE, "message_id", step->message_id);
    } else if (begins) {
        json_style_append_key(b, SERDE, "message_id");
        buf_printf(b, "\"msg_%lld\"", (long long)++e->w->messages);
    }
    awaken_end(e, b);
}

static void awaken_write_write_delta(const struct awaken_write_ctx *e, const char *type,
                                     const char *key, const char *text)
{
    struct buf *const b = awaken_begin(e, type);
    json_style_member_str(b, SERDE, key, text);
    awaken_end(e, b);
}

/* Text of a sub-agent is not part of the run. */
static void awaken_write_write_narration(const struct awaken_write_ctx *e)
{
    if (!awaken_write_is_child(e->ev))
        awaken_write_write_delta(e, "text_delta", "delta", e->ev->u.narration.text);
}

static void awaken_write_write_thinking(const struct awaken_write_ctx *e)
{
    const struct tc_thinking *const thinking = &e->ev->u.thinking;
    if (awaken_write_is_child(e->ev))
        return;
    if (thinking->text_len)
        awaken_write_write_delta(e, "reasoning_delta", "delta", thinking->text);
    if (thinking->encrypted)
        awaken_write_write_delta(e, "reasoning_encrypted_value", "encrypted_value",
                                 thinking->encrypted);
}

/* Usage, state, notices. */

static void awaken_write_add_usage(struct buf *b, const struct event *ev)
{
    const struct tc_usage *const u = &ev->u.usage;
    const struct {
        const char *key;
        int64_t n;
    } counts[] = {
        {"prompt_tokens", u->input_tokens},
        {"completion_tokens", u->output_tokens},
        {"total_tokens", u->total_tokens},
        {"cache_read_tokens", u->cache_read_tokens},
        {"cache_creation_tokens", u->cache_write_tokens},
        {"thinking_tokens", u->reasoning_tokens},
    };
    bool any = awaken_rest(ev, "/usage").p;
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
        any |= counts[i].n >= 0;
    if (!any)
        return;
    json_style_append_key(b, SERDE, "usage");
    buf_add_char(b, '{');
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
        awaken_add_count(b, counts[i].key, counts[i].n);
    buf_add_char(b, '}');
}

/* The sum of a turn is written only if no call was. */
static void awaken_write_write_usage(const struct awaken_write_ctx *e)
{
    const struct tc_usage *const u = &e->ev->u.usage;
    if (strcmp(u->scope, "turn") == 0 && e->w->counted)
        return;
    e->w->counted = true;
    struct buf *const b = awaken_begin(e, "inference_complete");
    json_style_member_str(b, SERDE, "model",
                          u->model        ? u->model
                          : e->w->model.p ? e->w->model.p
                                          : "");
    awaken_write_add_usage(b, e->ev);
    json_style_member_int(b, SERDE, "duration_ms",
                          u->duration_ms < 0 ? 0 : (int64_t)fmin(round(u->duration_ms), 9e15));
    awaken_end(e, b);
}

static void awaken_write_write_activity(const struct awaken_write_ctx *e)
{
    const struct tc_state *const state = &e->ev->u.state;
    const bool delta = strcmp(state->op, "delta") == 0;
    struct buf *const b = awaken_begin(e, delta ? "activity_delta" : "activity_snapshot");
    json_style_member_str(b, SERDE, "message_id", state->key ? state->key : "");
    json_style_member_str(b, SERDE, "activity_type",
                          state->activity_type ? state->activity_type : "");
    if (delta)
        awaken_add_json(b, "patch", state->patch);
    else
        awaken_add_json(b, "content", state->value);
    if (!delta && state->replace >= 0)
        json_style_member_bool(b, SERDE, "replace", state->replace);
    awaken_end(e, b);
    e->w->activity = true;
}

static void awaken_write_write_state(const struct awaken_write_ctx *e)
{
    const struct tc_state *const state = &e->ev->u.state;
    const bool delta = strcmp(state->op, "delta") == 0;
    if (strcmp(state->scope, "activity") == 0) {
        awaken_write_write_activity(e);
        return;
    }
    const bool messages = strcmp(state->scope, "messages") == 0;
    if (!messages && strcmp(state->scope, "state") != 0)
        return;
    const char *const type = delta      ? "state_delta"
                             : messages ? "messages_snapshot"
                                        : "state_snapshot";
    struct buf *const b = awaken_begin(e, type);
    awaken_add_json(b,
                    delta      ? "delta"
                    : messages ? "messages"
                               : "snapshot",
                    delta ? state->patch : state->value);
    awaken_end(e, b);
}

static void awaken_write_write_notice(const struct awaken_write_ctx *e)
{
    const struct tc_notice *const notice = &e->ev->u.notice;
    if (!awaken_rest(e->ev, "/event_type").p) /* not an error of the run itself */
        return;
    struct buf *const b = awaken_begin(e, "error");
    json_style_member_str(b, SERDE, "message", notice->text);
    awaken_add_str(b, "code", notice->code);
    awaken_end(e, b);
}

static void awaken_write_write_raw(const struct awaken_write_ctx *e)
{
    const struct tc_raw *const raw = &e->ev->u.raw;
    if (strcmp(raw->dialect, "awaken") != 0)
        return;
    buf_add(writer_begin_message(e->out), raw->event, raw->event_len);
    writer_begin_end_message(e->out);
}

/* The end. */

static void awaken_write_store_final(const struct awaken_write_ctx *e)
{
    const struct tc_final *const final = &e->ev->u.final;
    e->w->answered =
        final->text_len > 0 && !final->synthesized && !awaken_rest(e->ev, "/derived").p;
    awaken_write_replace(&e->w->response, final->text);
}

static void awaken_write_store_error(const struct awaken_write_ctx *e)
{
    awaken_write_replace(&e->w->error, e->ev->u.error.message);
}

static void add_termination(struct buf *b, const struct awaken_writer *w,
                            const struct tc_done *done)
{
    const char *const reason = done->reason;
    const bool completed = strcmp(reason, "completed") == 0;
    const bool requested = done->code && strcmp(done->code, "behavior_requested") == 0;
    const char *const type = completed ? (requested ? done->code : "natural_end")
                             : strcmp(reason, "refused") == 0 ? "blocked"
                             : strcmp(reason, "lost") == 0    ? "error"
                                                              : reason;
    const char *const why = done->detail ? done->detail : done->code ? done->code : reason;
    json_style_member_str(b, SERDE, "type", type);
    if (strcmp(type, "error") == 0) {
        json_style_member_str(b, SERDE, "value", w->error.len ? w->error.p : why);
    } else if (strcmp(type, "blocked") == 0) {
        json_style_member_str(b, SERDE, "value", why);
    } else if (strcmp(type, "stopped") == 0) {
        json_style_append_key(b, SERDE, "value");
        buf_add_char(b, '{');
        json_style_member_str(b, SERDE, "code", done->code ? done->code : "stopped");
        awaken_add_str(b, "detail", done->detail);
        buf_add_char(b, '}');
    }
}

static void awaken_write_add_result(struct buf *b, const struct awaken_writer *w,
                                    const struct tc_done *done)
{
    const struct str own = {done->result, done->result ? strlen(done->result) : 0};
    if (value_get_last(own, "response").p) {
        awaken_add_slice(b, "result", own);
    } else if (w->answered) {
        json_style_append_key(b, SERDE, "result");
        buf_add_char(b, '{');
        json_style_member_str(b, SERDE, "response", w->response.p);
        buf_add_char(b, '}');
    }
}

static void awaken_write_write_done(const struct awaken_write_ctx *e)
{
    const struct tc_done *const done = &e->ev->u.done;
    struct buf *const b = awaken_begin(e, "run_finish");
    json_style_member_str(b, SERDE, "thread_id", e->w->thread_id.p);
    json_style_member_str(b, SERDE, "run_id", e->w->run_id.p);
    awaken_write_add_result(b, e->w, done);
    json_style_append_key(b, SERDE, "termination");
    buf_add_char(b, '{');
    add_termination(b, e->w, done);
    buf_add_char(b, '}');
    awaken_end(e, b);
}

static void awaken_write_write_event(void *state, const struct writer_out *out,
                                     const struct event *ev)
{
    static void (*const write[TC_KINDS])(const struct awaken_write_ctx *) = {
        [TC_NARRATION] = awaken_write_write_narration,
        [TC_THINKING] = awaken_write_write_thinking,
        [TC_FINAL] = awaken_write_store_final,
        [TC_TOOL_CALL] = awaken_write_call,
        [TC_PROGRESS] = awaken_write_progress,
        [TC_TOOL_RESULT] = awaken_write_result,
        [TC_REQUEST] = awaken_write_request,
        [TC_START] = awaken_write_write_start,
        [TC_STEP] = awaken_write_write_step,
        [TC_ERROR] = awaken_write_store_error,
        [TC_DONE] = awaken_write_write_done,
        [TC_USAGE] = awaken_write_write_usage,
        [TC_NOTICE] = awaken_write_write_notice,
        [TC_STATE] = awaken_write_write_state,
        [TC_RAW] = awaken_write_write_raw,
    };
    struct awaken_writer *const w = state;
    const struct awaken_write_ctx e = {.w = w, .out = out, .ev = ev};
    if (write[ev->kind])
        write[ev->kind](&e);
    w->activity &= ev->kind == TC_STATE;
}

static void awaken_write_close_state(void *state)
{
    struct awaken_writer *const w = state;
    buf_fini(&w->thread_id);
    buf_fini(&w->run_id);
    buf_fini(&w->model);
    buf_fini(&w->response);
    buf_fini(&w->error);
    open_calls_fini(&w->started);
    open_calls_fini(&w->suspended);
}

const struct writer writer_awaken = {
    .name = "awaken",
    .summary = "awaken's flat events",
    .state_size = sizeof(struct awaken_writer),
    .event = awaken_write_write_event,
    .close = awaken_write_close_state,
};
