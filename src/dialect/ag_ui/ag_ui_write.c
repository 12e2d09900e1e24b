/* SPDX-License-Identifier: MIT
 * Writes AG-UI: the common subset of 0.x and 1.0, or, with protocol 1.0, all of 1.0. Events from an
 * AG-UI stream are reproduced byte for byte, except chunks and the old form of reasoning, which are
 * expanded. */
#include "dialect/ag_ui/ag_ui_check.h"
#include "dialect/ag_ui/ag_ui_write.h"

static struct str ag_ui_write_text_of(const char *json)
{
    return (struct str){json, json ? strlen(json) : 0};
}

/* Values that a reader would not accept are preserved in another form. */
static void write_as_raw(const struct ag_ui_write_ctx *e, struct str value, const char *source)
{
    struct buf *const b = ag_ui_begin(e, "RAW", NULL);
    ag_ui_add_json(b, "event", value);
    ag_ui_add_str(b, "source", source);
    ag_ui_end_plain(e, b);
}

static void ag_ui_write_write_activity(const struct ag_ui_write_ctx *e)
{
    const struct tc_state *const state = &e->ev->u.state;
    const bool delta = strcmp(state->op, "delta") == 0;
    const struct str value = ag_ui_write_text_of(delta ? state->patch : state->value);
    if (delta ? !ag_ui_is_patch(value) : !ag_ui_is_object(value)) {
        write_as_raw(e, value, e->ev->meta.src);
        return;
    }
    struct buf *const b = ag_ui_begin(e, delta ? "ACTIVITY_DELTA" : "ACTIVITY_SNAPSHOT", NULL);
    json_style_member_str(b, S, "messageId", ag_ui_scoped(e, state->key ? state->key : "activity"));
    json_style_member_str(b, S, "activityType",
                          state->activity_type ? state->activity_type : "activity");
    ag_ui_add_json(b, delta ? "patch" : "content", value);
    if (!delta && state->replace >= 0)
        json_style_member_bool(b, S, "replace", state->replace);
    ag_ui_end(e, b, ag_ui_x(e));
    e->w->activity = true;
}

/* Member for the run's state, and its required type. */
static const struct ag_ui_state_target {
    const char *scope, *op, *type, *key;
    bool (*takes)(struct str value);
} places[] = {
    {"state", "snapshot", "STATE_SNAPSHOT", "snapshot", NULL},
    {"state", "delta", "STATE_DELTA", "delta", ag_ui_is_patch},
    {"messages", "snapshot", "MESSAGES_SNAPSHOT", "messages", ag_ui_is_messages},
};

static void ag_ui_write_write_state(const struct ag_ui_write_ctx *e)
{
    const struct tc_state *const state = &e->ev->u.state;
    const bool delta = strcmp(state->op, "delta") == 0;
    const struct str value = ag_ui_write_text_of(delta ? state->patch : state->value);
    if (strcmp(state->scope, "activity") == 0) {
        ag_ui_write_write_activity(e);
        return;
    }
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        const struct ag_ui_state_target *const p = &places[i];
        if (strcmp(p->scope, state->scope) != 0 || strcmp(p->op, state->op) != 0 ||
            (p->takes && !p->takes(value)))
            continue;
        struct buf *const b = ag_ui_begin(e, p->type, NULL);
        ag_ui_add_json(b, p->key, value);
        ag_ui_end(e, b, ag_ui_x(e));
        return;
    }
    struct buf *const b = ag_ui_begin(e, "CUSTOM", NULL);
    json_style_member_str(b, S, "name", state->scope);
    ag_ui_add_json(b, "value", value);
    ag_ui_end_plain(e, b);
}

/* Ids of the messages that a retraction withdraws, as they were written: text and reasoning of one
 * message are separate messages there, and so are the parts before and after a call. */
static void add_retracted(const struct ag_ui_write_ctx *e, struct buf *b, const char *message_id)
{
    const struct open_calls *const used = &e->w->used;
    bool any = false;
    for (size_t i = 0; i < used->n; i++) {
        if (!used->names[i] || strcmp(used->names[i], message_id) != 0)
            continue;
        if (!any) {
            json_style_member_str(b, S, "message_id", used->ids[i]);
            json_style_append_key(b, S, "message_ids");
        }
        buf_add_char(b, any ? ',' : '[');
        json_style_append_string(b, S, used->ids[i], strlen(used->ids[i]));
        any = true;
    }
    if (any)
        buf_add_char(b, ']');
}

static void ag_ui_write_write_notice(const struct ag_ui_write_ctx *e)
{
    const struct tc_notice *const notice = &e->ev->u.notice;
    struct buf *const b = ag_ui_begin(e, "CUSTOM", ag_ui_tag(e));
    json_style_member_str(b, S, "name", "notice");
    json_style_append_key(b, S, "value");
    buf_add_char(b, '{');
    json_style_member_str(b, S, "level", notice->level);
    json_style_member_str(b, S, "text", notice->text);
    ag_ui_add_str(b, "code", notice->code);
    ag_ui_add_str(b, "detail", notice->detail);
    if (notice->message_id)
        add_retracted(e, b, notice->message_id);
    buf_add_char(b, '}');
    ag_ui_end_plain(e, b);
}

static void ag_ui_write_write_raw(const struct ag_ui_write_ctx *e)
{
    const struct tc_raw *const raw = &e->ev->u.raw;
    const struct str event = {raw->event, raw->event_len};
    if (strcmp(raw->dialect, "ag-ui") != 0 || !ag_ui_is_custom_event(event)) {
        write_as_raw(e, event, raw->dialect);
        return;
    }
    ag_ui_start(e);
    json_style_append_value(writer_begin_message(e->out), S, event.p, event.len);
    writer_begin_end_message(e->out);
}

/* Reasoning ends before any other event, except those that belong to it. */
static void ag_ui_write_end_reasoning(const struct ag_ui_write_ctx *e)
{
    static const bool closes[TC_KINDS] = {[TC_STATE] = true, [TC_RAW] = true, [TC_NOTICE] = true};
    if (closes[e->ev->kind])
        ag_ui_close_reasoning(e);
}

static void ag_ui_write_write_event(void *state, const struct writer_out *out,
                                    const struct event *ev)
{
    static void (*const write[TC_KINDS])(const struct ag_ui_write_ctx *) = {
        [TC_NARRATION] = ag_ui_write_narration,
        [TC_THINKING] = ag_ui_write_thinking,
        [TC_MESSAGE] = ag_ui_write_message,
        [TC_FINAL] = ag_ui_write_final,
        [TC_TOOL_CALL] = ag_ui_write_call,
        [TC_PROGRESS] = ag_ui_write_progress,
        [TC_TOOL_RESULT] = ag_ui_write_result,
        [TC_REQUEST] = ag_ui_write_request,
        [TC_START] = ag_ui_start,
        [TC_STEP] = ag_ui_write_step,
        [TC_ERROR] = ag_ui_write_error,
        [TC_DONE] = ag_ui_write_done,
        [TC_USAGE] = ag_ui_write_usage,
        [TC_NOTICE] = ag_ui_write_write_notice,
        [TC_STATE] = ag_ui_write_write_state,
        [TC_RAW] = ag_ui_write_write_raw,
    };
    struct ag_ui_writer *const w = state;
    struct arena arena = {0};
    const char *const protocol = out->conf->protocol;
    const struct ag_ui_write_ctx e = {.w = w,
                                      .out = out,
                                      .ev = ev,
                                      .a = &arena,
                                      .v1 = protocol && strncmp(protocol, "0", 1) != 0,
                                      .own =
                                          strcmp(ev->meta.src ? ev->meta.src : "", "ag-ui") == 0};
    ag_ui_write_end_reasoning(&e);
    write[ev->kind](&e);
    w->activity &= ev->kind == TC_STATE;
    arena_fini(&arena);
}

static void fini_message_state(struct ag_ui_open_message *said)
{
    buf_fini(&said->source);
    buf_fini(&said->id);
    buf_fini(&said->tag);
}

static void ag_ui_write_close_state(void *state)
{
    struct ag_ui_writer *const w = state;
    struct buf *const bufs[] = {&w->thread_id, &w->run_id, &w->scope,      &w->usage,
                                &w->error,     &w->said,   &w->error_code, &w->error_x};
    struct open_calls *const sets[] = {&w->used, &w->ended, &w->waiting, &w->asked, &w->agents};
    for (size_t i = 0; i < sizeof(bufs) / sizeof(bufs[0]); i++)
        buf_fini(bufs[i]);
    fini_message_state(&w->text);
    fini_message_state(&w->reasoning);
    fini_message_state(&w->span);
    ag_ui_fini_calls(w);
    ag_ui_fini_steps(w);
    for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++)
        open_calls_fini(sets[i]);
}

const struct writer writer_ag_ui = {
    .name = "ag-ui",
    .summary = "AG-UI, for readers of 0.x and 1.0",
    .state_size = sizeof(struct ag_ui_writer),
    .event = ag_ui_write_write_event,
    .close = ag_ui_write_close_state,
};
