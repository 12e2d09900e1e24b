/* SPDX-License-Identifier: MIT
 * Owns the table of invisible characters, and counts runs of blanks. */
#include "text/text_reveal.h"

#include <string.h>

#include "base/bytes/utf8.h"

#define ZWNJ 0x200c
#define ZWJ 0x200d
#define WIDE_SPACE 0x3000
#define EMOJI_STYLE 0xfe0f /* variation selector 16 */

struct text_reveal_range {
    uint32_t first, last;
};

/* Sorted. Controls, format characters, other default-ignorable code points, spaces other than
 * U+0020, and letters that are drawn as nothing (Unicode 15). */
static const struct text_reveal_range hidden[] = {
    {0x0000, 0x001f},   {0x007f, 0x00a0},   {0x00ad, 0x00ad},   {0x034f, 0x034f},
    {0x0600, 0x0605},   {0x061c, 0x061c},   {0x06dd, 0x06dd},   {0x070f, 0x070f},
    {0x0890, 0x0891},   {0x08e2, 0x08e2},   {0x115f, 0x1160},   {0x1680, 0x1680},
    {0x17b4, 0x17b5},   {0x180b, 0x180f},   {0x2000, 0x200f},   {0x2028, 0x202f},
    {0x205f, 0x206f},   {0x2800, 0x2800},   {0x3000, 0x3000},   {0x3164, 0x3164},
    {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},   {0xffa0, 0xffa0},   {0xfff0, 0xfffb},
    {0x110bd, 0x110bd}, {0x110cd, 0x110cd}, {0x13430, 0x1343f}, {0x1bca0, 0x1bca3},
    {0x1d159, 0x1d159}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
};

bool text_reveal_is_hidden(uint32_t cp)
{
    size_t i = 0;
    while (i < sizeof hidden / sizeof *hidden && cp > hidden[i].last)
        i++;
    const bool listed = i < sizeof hidden / sizeof *hidden && cp >= hidden[i].first;
    return listed || (cp & 0xfffe) == 0xfffe; /* noncharacters */
}

/* Symbols with an emoji form: U+FE0F and U+200D after them change only their appearance. */
static bool text_reveal_is_symbol(uint32_t cp)
{
    return cp == 0x203c || cp == 0x2049 || (cp >= 0x2100 && cp <= 0x27bf) ||
           (cp >= 0x2900 && cp <= 0x2bff) || cp == 0x3030 || cp == 0x303d || cp == 0x3297 ||
           cp == 0x3299 || (cp >= 0x1f000 && cp <= 0x1faff);
}

/* Read position and context. */
struct reading {
    struct buf *out;
    const char *p, *end;
    uint32_t last, before_last; /* characters of the current line; 0: none */
    bool line;                  /* one-line mode */
};

static uint32_t text_reveal_peek(const char *p, const char *end)
{
    size_t len;
    return p < end ? utf8_decode(p, (size_t)(end - p), &len) : 0;
}

/* Scripts from Arabic to Tibetan, in which U+200C and U+200D between letters change their shape. */
static bool text_reveal_is_shaped_script(uint32_t cp)
{
    return cp >= 0x600 && cp <= 0xfff && !text_reveal_is_hidden(cp);
}

/* Whether the character is harmless beside its visible neighbours: "heart, U+FE0F", "man, U+200D,
 * laptop", Persian with U+200C, Chinese with U+3000. */
static bool text_reveal_is_harmless(const struct reading *r, uint32_t cp, size_t len)
{
    const uint32_t next = text_reveal_peek(r->p + len, r->end);
    const bool picture = text_reveal_is_symbol(r->last) ||
                         (r->last == EMOJI_STYLE && text_reveal_is_symbol(r->before_last));
    switch (cp) {
    case EMOJI_STYLE:
        return text_reveal_is_symbol(r->last);
    case ZWJ:
        return (picture && text_reveal_is_symbol(next)) ||
               (text_reveal_is_shaped_script(r->last) && text_reveal_is_shaped_script(next));
    case ZWNJ:
        return text_reveal_is_shaped_script(r->last) && text_reveal_is_shaped_script(next);
    case WIDE_SPACE:
        return r->last > WIDE_SPACE && r->last < 0xd800;
    default:
        return false;
    }
}

static void add_character(struct reading *r)
{
    size_t len;
    const uint32_t cp = utf8_decode(r->p, (size_t)(r->end - r->p), &len);
    const bool layout = !r->line && (cp == '\n' || cp == '\t');
    if (!layout && text_reveal_is_hidden(cp) && !text_reveal_is_harmless(r, cp, len))
        buf_printf(r->out, "<U+%04X>", (unsigned)cp);
    else
        buf_add(r->out, r->p, len);
    r->before_last = r->last;
    r->last = cp;
    r->p += len;
}

static size_t count_blanks(const char *p, const char *end)
{
    size_t n = 0;
    while (p + n < end && (p[n] == ' ' || p[n] == '\t'))
        n++;
    return n;
}

static void add_blanks(struct reading *r, size_t n)
{
    const bool tabs = memchr(r->p, '\t', n);
    if (n >= REVEAL_SPACES)
        buf_printf(r->out, "[%zu %s]", n, tabs ? "spaces and tabs" : "spaces");
    else if (r->line && tabs)
        for (size_t i = 0; i < n; i++)
            buf_add_str(r->out, r->p[i] == '\t' ? "<U+0009>" : " ");
    else
        buf_add(r->out, r->p, n);
    r->p += n;
    r->before_last = r->last = ' ';
}

/* Length of the line end at p, or 0. */
static size_t end_of_line(const char *p, const char *end)
{
    if (p < end && *p == '\n')
        return 1;
    return p + 1 < end && p[0] == '\r' && p[1] == '\n' ? 2 : 0;
}

/* Number of blank lines at p, a line start; *next: behind the last one. Trailing blanks without a
 * line end are no line. */
static size_t count_blank_lines(const char *p, const char *end, const char **next)
{
    size_t n = 0;
    for (;;) {
        const char *const at = p + count_blanks(p, end);
        const size_t len = end_of_line(at, end);
        if (!len)
            break;
        p = at + len;
        n++;
    }
    *next = p;
    return n;
}

/* Begins a line. */
static void text_reveal_begin_line(struct reading *r)
{
    const char *next;
    const size_t n = count_blank_lines(r->p, r->end, &next);
    r->last = r->before_last = 0;
    if (n < REVEAL_BLANK_LINES)
        return;
    buf_printf(r->out, "[%zu blank lines]\n", n);
    r->p = next;
}

static void text_reveal_append_valid(struct buf *out, const char *p, size_t n, bool line)
{
    struct reading r = {.out = out, .p = p, .end = p + n, .line = line};
    if (!line)
        text_reveal_begin_line(&r);
    while (r.p < r.end) {
        const size_t blanks = count_blanks(r.p, r.end), newline = end_of_line(r.p, r.end);
        if (blanks) {
            add_blanks(&r, blanks);
        } else if (newline && !line) {
            buf_add_char(out, '\n');
            r.p += newline;
            text_reveal_begin_line(&r);
        } else {
            add_character(&r);
        }
    }
}

static void text_reveal_append(struct buf *out, const char *p, size_t n, bool line)
{
    if (utf8_is_valid(p, n)) {
        text_reveal_append_valid(out, p, n, line);
        return;
    }
    CLEANUP_BUF struct buf repaired = {0};
    utf8_repair(&repaired, p, n);
    text_reveal_append_valid(out, repaired.p ? repaired.p : "", repaired.len, line);
}

void text_reveal_text(struct buf *out, const char *p, size_t n)
{
    text_reveal_append(out, p, n, false);
}

void text_reveal_line(struct buf *out, const char *p, size_t n)
{
    text_reveal_append(out, p, n, true);
}

size_t text_reveal_lines(const char *p, size_t n)
{
    size_t lines = 0;
    for (size_t i = 0; i < n; i++)
        lines += p[i] == '\n';
    return lines + (n > 0 && p[n - 1] != '\n');
}

void text_reveal_with_line_count(struct buf *out, const char *p, size_t n)
{
    const size_t lines = text_reveal_lines(p, n);
    if (lines > 1)
        buf_printf(out, "[%zu lines]\n", lines);
    text_reveal_text(out, p, n);
}
