/* SPDX-License-Identifier: MIT
 * Writes the progress message as Markdown: one source for every form of text. */
#include <inttypes.h>

#include "base/plural.h"
#include "chat/show/chat_text.h"
#include "chat/show/chat_view.h"

#define SILENT_MS 60000 /* from then on the time without output is shown */
#define SUMMARY_BYTES ((size_t)100)

static void chat_view_write_line(struct buf *out, const struct tc_tool_line *line)
{
    static const char *const signs[] = {
        [TC_LINE_RUNNING] = "▸ ", [TC_LINE_OK] = "✓ ", [TC_LINE_FAILED] = "✗ "};
    buf_add_str(out, signs[line->state]);
    chat_text_escape(out, line->name);
    if (*line->summary) {
        buf_add_str(out, ": ");
        chat_text_add_code(out, line->summary, SUMMARY_BYTES);
    }
    if (line->state == TC_LINE_RUNNING)
        buf_add_str(out, " …");
    else if (line->took_ms < 60000)
        buf_printf(out, " \\(%.1fs\\)", (double)line->took_ms / 1e3);
    else {
        buf_add_str(out, " \\(");
        chat_text_add_time(out, line->took_ms);
        buf_add_str(out, "\\)");
    }
    buf_add_str(out, "\\\n");
}

static void write_lines(struct buf *out, const struct tc_view *view)
{
    if (view->lines_before)
        buf_printf(out, "… %zu earlier tool call%s\\\n", view->lines_before,
                   PLURAL(view->lines_before, "", "s"));
    for (size_t i = 0; i < view->line_count; i++)
        chat_view_write_line(out, &view->lines[i]);
}

static void write_state(struct buf *out, const struct tc_view *view)
{
    if (view->waiting == 1)
        buf_add_str(out, "✋ Waiting for an answer\\\n");
    else if (view->waiting > 1)
        buf_printf(out, "✋ Waiting for %u answer%s\\\n", view->waiting,
                   PLURAL(view->waiting, "", "s"));
    buf_add_str(out, view->phase == TC_PHASE_STOPPING ? "⏹ Stopping… " : "⏱ ");
    chat_text_add_time(out, view->elapsed_ms);
    if (view->silent_ms >= SILENT_MS) {
        buf_add_str(out, " · no output for ");
        chat_text_add_time(out, view->silent_ms);
    }
    buf_add_char(out, '\n');
}

static void write_quote(struct buf *out, const char *text)
{
    buf_add_str(out, "\n\n> ");
    for (const char *p = text; *p; p++) {
        buf_add_char(out, *p);
        if (*p == '\n')
            buf_add_str(out, "> ");
    }
}

void chat_view_write(struct buf *out, const struct tc_view *view)
{
    buf_add_str(out, view->headline);
    if (view->thinking)
        write_quote(out, view->thinking);
    buf_add_str(out, "\n\n");
    write_lines(out, view);
    if (view->notice) {
        chat_text_escape(out, view->notice);
        buf_add_str(out, "\\\n");
    }
    write_state(out, view);
}

void chat_view_write_summary(struct buf *out, const struct chat_view *v, int64_t now_ms)
{
    buf_add_str(out, "Done in ");
    chat_text_add_time(out, now_ms - v->began_ms);
    if (v->tools)
        buf_printf(out, " · %u tool call%s", v->tools, PLURAL(v->tools, "", "s"));
    if (v->tokens >= 1000)
        buf_printf(out, " · %" PRId64 "k tokens", (v->tokens + 500) / 1000);
    else if (v->tokens > 0)
        buf_printf(out, " · %" PRId64 " token%s", v->tokens, PLURAL(v->tokens, "", "s"));
}
