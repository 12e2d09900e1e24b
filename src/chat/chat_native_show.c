/* SPDX-License-Identifier: MIT
 * Converts events of a turn to items of its native stream. Only text that can no longer change is
 * added, because a stream cannot remove text. */
#include <string.h>

#include "base/sys/clock.h"
#include "chat/chat_internal.h"

#define SILENT_MS 30000
#define NOTICE_BYTES ((size_t)400)

/* ---- narration ---- */

static void chat_native_add_narration(struct chat_turn *t, bool all)
{
    const struct str text = chat_said_read_new(&t->stream.said, all);
    if (text.len)
        chat_native_add_text(t, text.p, text.len);
}

/* Adds the rest of the narration, because another event follows. */
static void chat_native_end_narration(struct chat_turn *t)
{
    chat_native_add_narration(t, true);
    t->stream.said.over = true;
}

static void chat_native_handle_narration(struct chat_turn *t, const struct tc_narration *ev)
{
    struct chat_native *const s = &t->stream;
    if (!chat_said_continues(&s->said, ev->message_id)) {
        chat_native_end_narration(t);
        chat_said_begin(&s->said, ev->message_id);
    }
    if (!chat_said_add(&s->said, ev->text, ev->text_len))
        s->incomplete = true;
    chat_native_add_narration(t, false);
}

/* ---- beside it ---- */

static void chat_native_show_notice(struct chat_turn *t, const struct tc_notice *ev)
{
    char text[NOTICE_BYTES];
    CLEANUP_BUF struct buf markdown = {0};
    if (strcmp(ev->level, "info") == 0)
        return;
    chat_native_end_narration(t);
    chat_view_clip(text, sizeof text, ev->text);
    buf_add_str(&markdown, "⚠ ");
    chat_text_escape(&markdown, text);
    chat_native_add_text(t, markdown.p, markdown.len);
}

static void chat_native_handle_notice(struct chat_turn *t, const struct tc_notice *ev)
{
    if (!ev->code || strcmp(ev->code, "retracted") != 0)
        chat_native_show_notice(t, ev);
    else if (chat_said_is_of_message(&t->stream.said, ev->message_id))
        chat_said_begin(&t->stream.said, NULL);
}

static void chat_native_handle_call(struct chat_turn *t, const struct tc_tool_call *ev, int64_t now)
{
    if (!ev->meta->agent)
        chat_native_end_narration(t);
    chat_native_add_line(t, chat_lines_begin_call(&t->stream.lines, ev, now));
}

static void chat_native_end_line(struct chat_turn *t, enum chat_line_kind kind, int64_t now)
{
    chat_native_add_line(t, chat_lines_complete_running(&t->stream.lines, kind, now));
}

void chat_native_end_silence(struct chat_turn *t, int64_t now)
{
    chat_native_end_line(t, CHAT_LINE_SILENCE, now);
    chat_native_end_line(t, CHAT_LINE_THINKING, now);
}

/* ---- events ---- */

/* Whether the event belongs to a sub-agent, whose text and thinking are not shown. */
static bool chat_native_is_of_sub_agent(const struct event *ev)
{
    return ev->meta.agent || ev->meta.parent_id;
}

static void chat_native_show_event(struct chat_turn *t, const struct event *ev, int64_t now)
{
    struct chat_lines *const lines = &t->stream.lines;
    switch ((int)ev->kind) {
    case TC_NARRATION:
        if (!chat_native_is_of_sub_agent(ev))
            chat_native_handle_narration(t, &ev->u.narration);
        break;
    case TC_THINKING:
        if (!chat_native_is_of_sub_agent(ev) && t->chat->options.thinking &&
            ev->u.thinking.text_len)
            chat_native_add_line(t, chat_lines_add_thinking(lines, ev->u.thinking.text, now));
        break;
    case TC_TOOL_CALL:
        chat_native_handle_call(t, &ev->u.tool_call, now);
        break;
    case TC_TOOL_RESULT:
        chat_native_add_line(t, chat_lines_finish(lines, &ev->u.tool_result, now));
        break;
    case TC_NOTICE:
        chat_native_handle_notice(t, &ev->u.notice);
        break;
    default:
        break;
    }
}

/* Whether the event ends the thinking. */
static bool chat_native_ends_thinking(const struct event *ev)
{
    return (ev->kind == TC_NARRATION && !chat_native_is_of_sub_agent(ev)) ||
           ev->kind == TC_TOOL_CALL || ev->kind == TC_TOOL_RESULT || ev->kind == TC_NOTICE ||
           ev->kind == TC_REQUEST;
}

void chat_native_handle_event(struct chat_turn *t, const struct event *ev, int64_t now)
{
    if (!chat_native_is_active(t))
        return;
    if (chat_native_ends_thinking(ev))
        chat_native_end_silence(t, now);
    else
        chat_native_end_line(t, CHAT_LINE_SILENCE, now);
    chat_native_show_event(t, ev, now);
    chat_native_wake(t, now);
}

void chat_native_update_running(struct chat_turn *t, int64_t now)
{
    const int64_t since = t->view.active_ms;
    if (now - since >= SILENT_MS)
        chat_lines_begin_silence(&t->stream.lines, since, t->view.waiting > 0);
    chat_native_add_running_lines(t, &t->stream.next, 0);
}
