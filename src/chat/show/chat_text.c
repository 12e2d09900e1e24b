/* SPDX-License-Identifier: MIT
 * Renders Markdown for a service, and writes Markdown around texts of agents. */
#include "chat/show/chat_text.h"

#include <inttypes.h>
#include <string.h>

#include "base/bytes/utf8.h"

/* Room for the mark of a repeat. */
#define MARK_ROOM 40

static size_t chat_text_limit(size_t whole, size_t divide_by)
{
    const size_t part = whole / divide_by;
    return part > 2 * MARK_ROOM ? part - MARK_ROOM : part;
}

const struct text_piece *chat_text_render(struct arena *arena, const struct tc_chat *table,
                                          enum tc_role role, const char *markdown, size_t len,
                                          const struct chat_text_options *options, size_t *count)
{
    const struct tc_chat_text *const limits = &table->text[role];
    const size_t divide_by = options->divide_by ? options->divide_by : 1;
    const struct tc_text text = {
        .size = sizeof text,
        .markdown = markdown,
        .len = len,
        .form = limits->form,
        .flags = limits->flags | options->flags,
        .units = chat_text_limit(limits->units, divide_by),
        .bytes = chat_text_limit(limits->bytes, divide_by * divide_by),
        .entities = limits->entities,
        .unit = table->unit,
    };
    return text_pieces_render(arena, &text, options->first_only, true, count);
}

/* ---- writing ---- */

void chat_text_escape(struct buf *out, const char *text)
{
    for (; *text; text++) {
        const bool blank = (unsigned char)*text < ' ' || *text == 0x7f;
        if (!blank && strchr("\\`*_{}[]()<>#+-.!|~&:", *text))
            buf_add_char(out, '\\');
        buf_add_char(out, blank ? ' ' : *text);
    }
}

/* Returns the length of the longest run of backticks in the text. */
static size_t chat_text_longest_backticks(const char *text, size_t len)
{
    size_t longest = 0, run = 0;
    for (size_t i = 0; i < len; i++) {
        run = text[i] == '`' ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    return longest;
}

static void add_fence(struct buf *out, size_t n)
{
    for (size_t i = 0; i < n; i++)
        buf_add_char(out, '`');
}

void chat_text_add_code(struct buf *out, const char *text, size_t cap)
{
    const size_t len = utf8_truncated_len(text, strlen(text), cap);
    const size_t fence = chat_text_longest_backticks(text, len) + 1;
    add_fence(out, fence);
    buf_add_char(out, ' ');
    for (size_t i = 0; i < len; i++)
        buf_add_char(out, (unsigned char)text[i] < ' ' ? ' ' : text[i]);
    buf_add_str(out, text[len] ? "… " : " ");
    add_fence(out, fence);
}

void chat_text_add_block(struct buf *out, const char *text, size_t len)
{
    const size_t run = chat_text_longest_backticks(text, len), fence = run < 3 ? 3 : run + 1;
    buf_add_char(out, '\n');
    add_fence(out, fence);
    buf_add_char(out, '\n');
    buf_add(out, text, len);
    buf_add_char(out, '\n');
    add_fence(out, fence);
    buf_add_char(out, '\n');
}

void chat_text_add_time(struct buf *out, int64_t ms)
{
    const int64_t s = ms / 1000;
    if (s < 60)
        buf_printf(out, "%" PRId64 "s", s);
    else if (s < 3600)
        buf_printf(out, "%" PRId64 "m %02" PRId64 "s", s / 60, s % 60);
    else
        buf_printf(out, "%" PRId64 "h %02" PRId64 "m", s / 3600, s / 60 % 60);
}
