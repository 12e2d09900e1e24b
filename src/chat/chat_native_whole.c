/* SPDX-License-Identifier: MIT
 * Native streams of services that need the complete text with each request (tc_chat.stream_whole):
 * composes this text, with tool calls as part of it, and finds the part of an answer that ended
 * streams do not show. */
#include <string.h>

#include "base/sys/clock.h"
#include "chat/chat_internal.h"

bool chat_native_is_whole(const struct chat_turn *t)
{
    return t->chat->table.stream_whole;
}

/* ---- the text ---- */

static void whole_add_texts(struct buf *out, const struct chat_batch *b)
{
    for (size_t i = 0; i < b->count; i++)
        if (b->items[i].len)
            buf_add(out, b->text.p + b->items[i].from, b->items[i].len);
}

/* Copies the text without white space at its end. Otherwise the end of an open stream would differ
 * from that of a stream that continues. */
static const char *whole_copy(const struct chat_turn *t, const struct buf *text)
{
    size_t len = text->len;
    while (len > 0 && strchr(" \t\r\n", text->p[len - 1]))
        len--;
    return len ? arena_strndup(&t->chat->scratch, text->p, len) : "";
}

const char *chat_native_whole_text(const struct chat_turn *t, const char *message,
                                   const struct chat_batch *b)
{
    const struct chat_native *const s = &t->stream;
    CLEANUP_BUF struct buf text = {0};
    if (!chat_native_is_whole(t))
        return NULL;
    if (message && strcmp(message, s->message) != 0)
        return ""; /* the message belongs to an earlier stream or process */
    if (s->whole.len)
        buf_add(&text, s->whole.p, s->whole.len);
    if (b != &s->flight)
        whole_add_texts(&text, &s->flight);
    whole_add_texts(&text, b);
    return whole_copy(t, &text);
}

void chat_native_whole_record_confirmed(struct chat_turn *t)
{
    if (chat_native_is_whole(t))
        whole_add_texts(&t->stream.whole, &t->stream.flight);
}

/* ---- lines ---- */

static bool whole_has_text(const struct chat_native *s)
{
    return s->whole.len || chat_batch_has_text(&s->flight) || chat_batch_has_text(&s->next);
}

static void whole_add_ended(struct chat_turn *t, const struct chat_line *line)
{
    CLEANUP_BUF struct buf text = {0};
    const struct tc_tool_line out =
        chat_line_export(line, 0, CHAT_LINE_RUNS, clock_mono_ms(), &t->chat->scratch);
    chat_view_write_line(&text, &out);
    chat_native_add_text(t, text.p, text.len - strlen("\\\n"));
}

bool chat_native_whole_add_line(struct chat_turn *t, const struct chat_line *line)
{
    if (!chat_native_is_whole(t))
        return false;
    if (line->is.state == TC_LINE_RUNNING)
        return whole_has_text(&t->stream);
    if (line->kind == CHAT_LINE_CALL)
        whole_add_ended(t, line);
    return true;
}

/* ---- what is not shown ---- */

const char *chat_native_whole_unshown_answer(struct chat_turn *t, const char *answer)
{
    struct chat_native *const s = &t->stream;
    const struct chat_said *const said = &s->said;
    const char *const from = answer + strspn(answer, " \t\r\n");
    if (!chat_native_is_whole(t) || said->gone || said->over || !said->confirmed)
        return NULL;
    const size_t skipped = strspn(said->text.p, " \t\r\n");
    size_t n = said->confirmed > skipped ? said->confirmed - skipped : 0;
    while (n > 0 && strchr(" \t\r\n", said->text.p[skipped + n - 1]))
        n--;
    if (n == 0 || strncmp(from, said->text.p + skipped, n) != 0)
        return NULL;
    chat_batch_clear(&s->next, &s->lines);
    return from + n + strspn(from + n, " \t\r\n");
}
