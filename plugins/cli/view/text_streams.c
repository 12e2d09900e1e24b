/* SPDX-License-Identifier: MIT
 * Owns the text that was not written yet. */
#include "text_streams.h"

#include <stdio.h>
#include <string.h>

#define DEPTH_MAX 6 /* deeper sub-agents are shown at this depth */
#define MARGIN_WIDTH 2
#define TEXT_WIDTH_MIN 4

static unsigned shown_depth(unsigned depth)
{
    return depth < DEPTH_MAX ? depth : DEPTH_MAX;
}

void text_streams_margin(char out[64], const struct term *t, unsigned depth, bool thinking)
{
    size_t len = 0;
    out[0] = '\0';
    for (unsigned i = 0; i < shown_depth(depth); i++)
        len += (size_t)snprintf(out + len, 64 - len, "%s", t->ascii ? "| " : "│ ");
    if (thinking)
        snprintf(out + len, 64 - len, "%s", t->ascii ? ": " : "┊ ");
}

/* Minimum columns of a line of `columns` (0: any), so that text stays readable. */
static size_t text_width(unsigned columns, unsigned depth, bool thinking)
{
    const unsigned margin = MARGIN_WIDTH * (shown_depth(depth) + thinking);
    if (columns == 0)
        return 0;
    return columns > margin + TEXT_WIDTH_MIN ? columns - margin : TEXT_WIDTH_MIN;
}

/* The first `len` bytes, for lines of `columns`. */
static const struct tc_piece *render(const struct text_stream *s, const struct term *t,
                                     unsigned columns, struct tc_turn *turn, size_t len,
                                     size_t *count)
{
    const uint32_t flags = (s->thinking ? TC_VERBATIM
                            : t->color  ? TC_STYLED
                                        : 0) |
                           (t->links && !s->thinking ? TC_LINKED : 0);
    *count = 0;
    return tc_pieces(turn,
                     TC_TEXT(.markdown = s->text, .len = len, .form = TC_TERMINAL, .flags = flags,
                             .columns = text_width(columns, s->depth, s->thinking)),
                     count);
}

/* ---- final output ---- */

/* The first `len` bytes. */
static void write_part(struct text_stream *s, struct term *t, struct tc_turn *turn, size_t len)
{
    char margin[64];
    size_t count;
    const struct tc_piece *const pieces = render(s, t, t->columns, turn, len, &count);
    text_streams_margin(margin, t, s->depth, s->thinking);
    for (size_t i = 0; i < count; i++) {
        if (s->begun && !s->thinking)
            term_rendered(t, "\n", 1, s->depth ? margin : NULL, NULL);
        term_rendered(t, pieces[i].text, pieces[i].len, margin, s->thinking ? LOOK_DIM : NULL);
        s->begun = true;
    }
    memmove(s->text, s->text + len, s->len - len);
    s->len -= len;
}

static void text_stream_close(struct text_stream *s, struct term *t, struct tc_turn *turn)
{
    if (s->len > 0)
        write_part(s, t, turn, s->len);
    s->used = s->begun = false;
}

void text_streams_flush(struct text_streams *s, struct term *t, struct tc_turn *turn,
                        const char *parent)
{
    for (size_t i = 0; i < TEXT_STREAMS; i++)
        if (s->streams[i].used && (!parent || strcmp(s->streams[i].parent, parent) == 0))
            text_stream_close(&s->streams[i], t, turn);
}

void text_streams_drop(struct text_streams *s, const char *message)
{
    for (size_t i = 0; i < TEXT_STREAMS; i++) {
        struct text_stream *const one = &s->streams[i];
        if (!one->used || strncmp(one->message, message, sizeof one->message - 1) != 0)
            continue;
        one->used = false;
        one->len = 0;
    }
}

/* ---- input ---- */

static bool is_same(const char *kept, const char *id)
{
    return strncmp(kept, id ? id : "", 95) == 0;
}

static struct text_stream *free_stream(struct text_streams *s, struct term *t, struct tc_turn *turn)
{
    struct text_stream *oldest = &s->streams[0];
    for (size_t i = 0; i < TEXT_STREAMS; i++) {
        if (!s->streams[i].used)
            return &s->streams[i];
        if (s->streams[i].order < oldest->order)
            oldest = &s->streams[i];
    }
    text_stream_close(oldest, t, turn);
    return oldest;
}

/* Another message, or another kind of text of the same writer, ends the previous one. */
static struct text_stream *find_stream(struct text_streams *s, struct term *t, struct tc_turn *turn,
                                       const struct text_piece_source *from)
{
    for (size_t i = 0; i < TEXT_STREAMS; i++) {
        struct text_stream *const one = &s->streams[i];
        if (!one->used || !is_same(one->parent, from->parent))
            continue;
        if (one->thinking == from->thinking && is_same(one->message, from->message))
            return one;
        text_stream_close(one, t, turn);
    }
    struct text_stream *const one = free_stream(s, t, turn);
    one->used = true;
    one->thinking = from->thinking;
    one->depth = from->depth;
    snprintf(one->parent, sizeof one->parent, "%s", from->parent ? from->parent : "");
    snprintf(one->message, sizeof one->message, "%s", from->message ? from->message : "");
    return one;
}

static bool text_stream_append(struct text_stream *s, struct tc_turn *turn, const char *text,
                               size_t len)
{
    if (s->len + len > s->cap) {
        size_t cap = s->cap ? s->cap : 1024;
        while (cap < s->len + len)
            cap *= 2;
        char *const larger = tc_alloc(turn, cap);
        if (!larger)
            return false;
        if (s->len)
            memcpy(larger, s->text, s->len);
        s->text = larger;
        s->cap = cap;
    }
    memcpy(s->text + s->len, text, len);
    s->len += len;
    return true;
}

static size_t settled_length(const struct text_stream *s, struct tc_turn *turn)
{
    if (s->len > TEXT_STREAM_MAX)
        return s->len;
    if (!s->thinking)
        return tc_settled(turn, s->text, s->len);
    const char *const newline = memrchr(s->text, '\n', s->len);
    return newline ? (size_t)(newline - s->text) + 1 : 0;
}

void text_streams_add(struct text_streams *s, struct term *t, struct tc_turn *turn,
                      const struct text_piece_source *from, const char *text, size_t len)
{
    struct text_stream *const one = find_stream(s, t, turn, from);
    one->order = ++s->order;
    if (!text_stream_append(one, turn, text, len))
        return;
    if (!memchr(text, '\n', len) && one->len <= TEXT_STREAM_MAX)
        return;
    const size_t settled = settled_length(one, turn);
    if (settled > 0)
        write_part(one, t, turn, settled);
}

void text_streams_write(struct term *t, struct tc_turn *turn, const char *markdown, size_t len)
{
    char copy[1];
    struct text_stream whole = {.used = true, .text = len ? NULL : copy};
    if (len > 0 && text_stream_append(&whole, turn, markdown, len))
        text_stream_close(&whole, t, turn);
}

/* ---- drawing ---- */

const struct text_stream *text_streams_newest(const struct text_streams *s)
{
    const struct text_stream *newest = NULL;
    for (size_t i = 0; i < TEXT_STREAMS; i++)
        if (s->streams[i].used && s->streams[i].len > 0 &&
            (!newest || s->streams[i].order > newest->order))
            newest = &s->streams[i];
    return newest;
}

/* The last `rows` lines of the text. */
static const char *last_lines(const char *text, size_t len, unsigned rows)
{
    const char *at = text + len;
    for (unsigned n = 0; at > text; at--)
        if (at[-1] == '\n' && ++n == rows)
            break;
    return at;
}

void text_streams_draw(const struct text_streams *s, struct term *t, struct tc_turn *turn,
                       unsigned rows)
{
    char margin[64];
    size_t count;
    const struct text_stream *const newest = text_streams_newest(s);
    if (!newest || rows == 0)
        return;
    const unsigned columns = t->columns > 1 ? t->columns - 1 : 1;
    const struct tc_piece *const pieces = render(newest, t, columns, turn, newest->len, &count);
    text_streams_margin(margin, t, newest->depth, newest->thinking);
    if (count == 0)
        return;
    const char *at = last_lines(pieces[count - 1].text, pieces[count - 1].len, rows);
    while (*at) {
        const size_t len = strcspn(at, "\n");
        term_live_row(t);
        term_rendered_line(t, at, len, margin, newest->thinking ? LOOK_DIM : NULL);
        at += len + (at[len] == '\n');
    }
}
