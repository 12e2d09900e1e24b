/* SPDX-License-Identifier: MIT
 * Defines how long texts are cut. */
#include "plugin/queue/event_truncate.h"

#include "base/bytes/utf8.h"
#include "event/json/json_writer.h"

void event_truncate_text(struct buf *out, struct str text, size_t keep)
{
    if (text.len <= keep) {
        buf_add(out, text.p, text.len);
        return;
    }
    const size_t head = utf8_truncated_len(text.p, text.len, keep / 2);
    const size_t tail = utf8_next_start(text.p, text.len, text.len - keep / 2);
    buf_add(out, text.p, head);
    buf_printf(out, "\n[… %zu bytes left out …]\n", tail - head);
    buf_add(out, text.p + tail, text.len - tail);
}

/* Buffers from which a truncated event borrows. */
struct truncated_payload {
    struct event ev;
    struct buf text[2];
    bool changed;
};

static void event_truncate_payload_fini(struct truncated_payload *t)
{
    buf_fini(&t->text[0]);
    buf_fini(&t->text[1]);
}

static void event_truncate_cut(struct truncated_payload *t, size_t slot, const char **text,
                               size_t *len, size_t keep)
{
    if (!*text || *len <= keep)
        return;
    event_truncate_text(&t->text[slot], (struct str){*text, *len}, keep);
    *text = t->text[slot].p;
    *len = t->text[slot].len;
    t->changed = true;
}

/* JSON cannot be shortened, so it is omitted completely. */
static void event_truncate_omit_json(struct truncated_payload *t, const char **json)
{
    if (!*json || strlen(*json) <= TRIM_TOOL)
        return;
    *json = NULL;
    t->changed = true;
}

static void event_truncate_tool_call(struct truncated_payload *t)
{
    struct tc_tool_call *const call = &t->ev.u.tool_call;
    if (call->args_len > TRIM_TOOL) {
        struct buf *const args = &t->text[0];
        buf_add_str(args, "{\"_truncated\":");
        jsonw_string(args, call->args,
                     utf8_truncated_len(call->args, call->args_len, TRIM_TOOL / 2));
        buf_printf(args, ",\"_bytes\":%zu}", call->args_len);
        call->args = args->p;
        call->args_len = args->len;
        t->changed = true;
    }
    event_truncate_cut(t, 1, &call->args_raw, &call->args_raw_len, TRIM_TOOL);
}

static void event_truncate_tool_result(struct truncated_payload *t)
{
    struct tc_tool_result *const result = &t->ev.u.tool_result;
    size_t diff_len = result->diff ? strlen(result->diff) : 0;
    event_truncate_cut(t, 0, &result->content, &result->content_len, TRIM_TOOL);
    event_truncate_cut(t, 1, &result->diff, &diff_len, TRIM_TOOL);
    event_truncate_omit_json(t, &result->structured);
    event_truncate_omit_json(t, &result->patch);
    result->truncated = result->truncated || t->changed;
}

static void event_truncate_message(struct truncated_payload *t)
{
    struct tc_message *const message = &t->ev.u.message;
    event_truncate_cut(t, 0, &message->text, &message->text_len, TRIM_TOOL);
    event_truncate_cut(t, 1, &message->reasoning, &message->reasoning_len, TRIM_TOOL);
}

static struct shared_event *event_truncate_build(struct truncated_payload *t)
{
    t->ev.u.meta = &t->ev.meta;
    struct shared_event *const shared = t->changed ? shared_event_new(&t->ev) : NULL;
    event_truncate_payload_fini(t);
    return shared;
}

struct shared_event *event_truncate_tool(const struct event *ev)
{
    struct truncated_payload t = {.ev = *ev};
    if (ev->kind == TC_TOOL_CALL)
        event_truncate_tool_call(&t);
    else if (ev->kind == TC_TOOL_RESULT)
        event_truncate_tool_result(&t);
    else if (ev->kind == TC_MESSAGE)
        event_truncate_message(&t);
    return event_truncate_build(&t);
}

struct shared_event *event_truncate_narration(const struct event *ev)
{
    struct truncated_payload t = {.ev = *ev};
    event_truncate_cut(&t, 0, &t.ev.u.narration.text, &t.ev.u.narration.text_len, TRIM_NARRATION);
    return event_truncate_build(&t);
}
