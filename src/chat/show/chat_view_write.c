/* SPDX-License-Identifier: MIT
 * Writes the progress message as Markdown: one source for every form of text. */

#include "chat/show/chat_text.h"
#include "chat/show/chat_view.h"
#include "text/sentence/texts.h"

#define SILENT_MS 60000 /* silence after which the time without output is shown */
#define SUMMARY_BYTES ((size_t)100)

static void add_short_time(struct buf *out, int64_t ms)
{
    if (ms >= 60000) {
        chat_text_add_time(out, ms);
        return;
    }
    texts_append_decimal(out, (double)ms / 1e3, 1);
    buf_add_char(out, 's');
}

void chat_view_write_line(struct buf *out, const struct tc_tool_line *line)
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
    else {
        buf_add_str(out, " \\(");
        add_short_time(out, line->took_ms);
        buf_add_str(out, "\\)");
    }
    buf_add_str(out, "\\\n");
}

static void write_line_of(struct buf *out, enum text_id id, int64_t n)
{
    texts_append(out, id, TEXT_VALUES(TEXT_INT("n", n)));
    buf_add_str(out, "\\\n");
}

static void add_with_time(struct buf *out, enum text_id id, int64_t ms)
{
    CLEANUP_BUF struct buf time = {0};
    chat_text_add_time(&time, ms);
    texts_append(out, id, TEXT_VALUES(TEXT_STR("time", time.p)));
}

static void write_lines(struct buf *out, const struct tc_view *view)
{
    if (view->lines_before)
        write_line_of(out, TEXT_CHAT_EARLIER, (int64_t)view->lines_before);
    for (size_t i = 0; i < view->line_count; i++)
        chat_view_write_line(out, &view->lines[i]);
}

static void chat_view_write_state(struct buf *out, const struct tc_view *view)
{
    if (view->waiting)
        write_line_of(out, TEXT_CHAT_WAITING, view->waiting);
    add_with_time(out, view->phase == TC_PHASE_STOPPING ? TEXT_CHAT_STOPPING : TEXT_CHAT_RUNNING,
                  view->elapsed_ms);
    if (view->silent_ms >= SILENT_MS) {
        buf_add_str(out, " · ");
        add_with_time(out, TEXT_CHAT_NO_OUTPUT, view->silent_ms);
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
    chat_view_write_state(out, view);
}

/* ---- the numbers of a turn ---- */

static void chat_view_separate(struct buf *out)
{
    buf_add_str(out, out->len ? " · " : "");
}

static void add_number(struct buf *out, enum text_id id, int64_t n)
{
    chat_view_separate(out);
    texts_append(out, id, TEXT_VALUES(TEXT_INT("n", n)));
}

void chat_view_write_tokens(struct buf *out, const struct chat_view *v)
{
    if (v->tokens >= 1000)
        add_number(out, TEXT_CHAT_TOKENS_K, (v->tokens + 500) / 1000);
    else if (v->tokens > 0)
        add_number(out, TEXT_CHAT_TOKENS, v->tokens);
}

static void chat_view_add_work(struct buf *out, const struct chat_view *v)
{
    if (v->tools)
        add_number(out, TEXT_CHAT_TOOLS, v->tools);
    chat_view_write_tokens(out, v);
}

void chat_view_write_summary(struct buf *out, const struct chat_view *v, int64_t now_ms)
{
    add_with_time(out, TEXT_CHAT_DONE_IN, now_ms - v->began_ms);
    chat_view_add_work(out, v);
}

void chat_view_write_footer(struct buf *out, const struct chat_view *v, int64_t elapsed_ms)
{
    CLEANUP_BUF struct buf cost = {0};
    if (elapsed_ms >= 0)
        chat_text_add_time(out, elapsed_ms);
    chat_view_add_work(out, v);
    if (!(v->cost_usd >= 0.0001 && v->cost_usd < 1e9))
        return;
    chat_view_separate(out);
    texts_append_decimal(&cost, v->cost_usd, v->cost_usd < 0.01 ? 4 : 2);
    texts_append(out, TEXT_CHAT_COST, TEXT_VALUES(TEXT_STR("cost", cost.p)));
}
