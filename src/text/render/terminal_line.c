/* SPDX-License-Identifier: MIT
 * Writes lines, and holds back the last word until it is known whether it fits. */
#include "text/render/terminal_line.h"

#include <string.h>

#include "base/bytes/utf8.h"
#include "text/display_width.h"

#define TAB_SPACES 4
#define ZWJ 0x200d

void terminal_line_fini(struct terminal_line *l)
{
    buf_fini(&l->word);
}

/* ---- styles ---- */

static bool same_link(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool has_same_style(const struct terminal_style *a, const struct terminal_style *b)
{
    return a->bold == b->bold && a->dim == b->dim && a->italic == b->italic &&
           a->underline == b->underline && a->strike == b->strike && a->color == b->color;
}

static bool terminal_style_equal(const struct terminal_style *a, const struct terminal_style *b)
{
    return has_same_style(a, b) && same_link(a->link, b->link);
}

/* Writes an OSC 8 sequence. Characters other than printable ASCII are percent-encoded, because they
 * could end the sequence. */
static void write_link(struct buf *out, const char *url)
{
    buf_add_str(out, "\033]8;;");
    for (; url && *url; url++) {
        const unsigned char c = (unsigned char)*url;
        if (c > 0x20 && c < 0x7f)
            buf_add_char(out, *url);
        else
            buf_printf(out, "%%%02X", c);
    }
    buf_add_str(out, "\033\\");
}

static void write_style(struct buf *out, const struct terminal_style *s)
{
    static const char *const colors[] = {
        [TERMINAL_DEFAULT] = "",   [TERMINAL_RED] = ";31",     [TERMINAL_GREEN] = ";32",
        [TERMINAL_YELLOW] = ";33", [TERMINAL_MAGENTA] = ";35", [TERMINAL_CYAN] = ";36",
    };
    buf_printf(out, "\033[0%s%s%s%s%s%sm", s->bold ? ";1" : "", s->dim ? ";2" : "",
               s->italic ? ";3" : "", s->underline ? ";4" : "", s->strike ? ";9" : "",
               colors[s->color]);
}

static void set_style(struct terminal_line *l, const struct terminal_style *s)
{
    if (!same_link(l->shown.link, s->link))
        write_link(l->out, s->link);
    if (l->styled && !has_same_style(&l->shown, s))
        write_style(l->out, s);
    l->shown = *s;
}

/* ---- lines ---- */

static void begin_line(struct terminal_line *l)
{
    static const struct terminal_style dim = {.dim = true};
    if (l->begun)
        return;
    l->begun = true;
    if (strspn(l->prefix, " ") < l->prefix_len)
        set_style(l, &dim);
    buf_add(l->out, l->prefix, l->prefix_len);
    l->column = l->prefix_width;
}

static void trim_spaces(struct buf *out)
{
    while (out->len > 0 && out->p[out->len - 1] == ' ')
        out->len--;
}

static void break_line(struct terminal_line *l)
{
    static const struct terminal_style plain = {0};
    set_style(l, &plain);
    buf_add_char(l->out, '\n');
    l->begun = false;
    l->column = l->spaces = 0;
}

static bool terminal_line_fits(const struct terminal_line *l, size_t width)
{
    return l->columns == 0 || l->column + width <= l->columns;
}

/* Whether the line has only its prefix. */
static bool terminal_line_is_fresh(const struct terminal_line *l)
{
    return !l->begun || l->column <= l->prefix_width;
}

/* Blanks get the style that spans them, so that links and underlines have no gaps. */
static void write_spaces(struct terminal_line *l, const struct terminal_style *next)
{
    static const struct terminal_style plain = {0};
    if (l->spaces == 0)
        return;
    if (!terminal_style_equal(&l->shown, next))
        set_style(l, &plain);
    l->column += l->spaces;
    for (; l->spaces > 0; l->spaces--)
        buf_add_char(l->out, ' ');
}

static void write_char(struct terminal_line *l, const char *p, size_t len, unsigned width,
                       const struct terminal_style *style)
{
    if (!terminal_line_fits(l, l->spaces + width)) {
        l->spaces = 0;
        if (!terminal_line_fits(l, width) && !terminal_line_is_fresh(l))
            break_line(l);
    }
    begin_line(l);
    write_spaces(l, style);
    set_style(l, style);
    buf_add(l->out, p, len);
    l->column += width;
}

void terminal_line_flush(struct terminal_line *l)
{
    size_t at = 0, len;
    if (l->word.len == 0)
        return;
    begin_line(l);
    if (!terminal_line_fits(l, l->spaces + l->word_width) && !terminal_line_is_fresh(l)) {
        l->spaces = 0;
        break_line(l);
    }
    for (size_t r = 0; r < l->n_runs; r++)
        for (const size_t end = at + l->runs[r].len; at < end; at += len) {
            const uint32_t cp = utf8_decode(l->word.p + at, l->word.len - at, &len);
            write_char(l, l->word.p + at, len, display_width_char(cp), &l->runs[r].style);
        }
    buf_reset(&l->word);
    l->word_width = 0;
    l->n_runs = 0;
}

void terminal_line_end(struct terminal_line *l)
{
    terminal_line_flush(l);
    l->spaces = 0;
    begin_line(l);
    if (terminal_line_is_fresh(l) && l->prefix_len) {
        static const struct terminal_style plain = {0};
        trim_spaces(l->out);
        set_style(l, &plain);
    }
    break_line(l);
    l->last_width = 0;
}

/* ---- text ---- */

static void add_to_word(struct terminal_line *l, const char *p, size_t len,
                        const struct terminal_style *style)
{
    struct terminal_run *const last = l->n_runs ? &l->runs[l->n_runs - 1] : NULL;
    const bool same =
        last && (l->n_runs == TERMINAL_WORD_RUNS || terminal_style_equal(&last->style, style));
    if (same)
        last->len += len;
    else
        l->runs[l->n_runs++] = (struct terminal_run){.len = len, .style = *style};
    buf_add(&l->word, p, len);
}

/* A line may be broken before and after a wide character. */
static bool may_break(const struct terminal_line *l, unsigned width)
{
    return width > 0 && !l->joined && (width == 2 || l->last_width == 2);
}

/* Invisible characters and those that change the direction of text. */
static bool is_invisible(uint32_t cp)
{
    return cp < 0x20 || (cp >= 0x7f && cp < 0xa0) || cp == 0xad || cp == 0x61c || cp == 0x180e ||
           cp == 0x200b || cp == 0x200e || cp == 0x200f || (cp >= 0x2028 && cp <= 0x202e) ||
           (cp >= 0x2060 && cp <= 0x206f) || cp == 0xfeff || (cp >= 0xfff0 && cp <= 0xfffb) ||
           (cp >= 0xe0000 && cp <= 0xe0fff);
}

static void terminal_line_add_char(struct terminal_line *l, const char *p, size_t len, uint32_t cp,
                                   const struct terminal_style *style)
{
    const unsigned width = display_width_char(cp);
    if (is_invisible(cp))
        return;
    if (may_break(l, width))
        terminal_line_flush(l);
    add_to_word(l, p, len, style);
    l->word_width += width;
    l->joined = cp == ZWJ;
    if (width)
        l->last_width = width;
}

static void add_spaces(struct terminal_line *l, size_t n, const struct terminal_style *style)
{
    if (!l->verbatim) {
        terminal_line_flush(l);
        l->spaces += terminal_line_is_fresh(l) && l->column == l->prefix_width ? 0 : n;
        return;
    }
    for (; n > 0; n--)
        write_char(l, " ", 1, 1, style);
}

void terminal_line_put(struct terminal_line *l, struct str text, const struct terminal_style *style)
{
    size_t len;
    for (size_t at = 0; at < text.len; at += len) {
        const uint32_t cp = utf8_decode(text.p + at, text.len - at, &len);
        if (cp == '\n')
            terminal_line_end(l);
        else if (cp == ' ' || cp == '\t')
            add_spaces(l, cp == ' ' ? 1 : TAB_SPACES, style);
        else
            terminal_line_add_char(l, text.p + at, len, cp, style);
        if (l->verbatim)
            terminal_line_flush(l);
    }
}

/* ---- the prefix ---- */

bool terminal_line_add_prefix(struct terminal_line *l, const char *text, size_t width)
{
    const size_t n = strlen(text);
    const size_t most = l->columns ? l->columns / 2 : SIZE_MAX;
    if (l->prefix_len + n >= sizeof l->prefix || l->prefix_width + width > most)
        return false;
    memcpy(l->prefix + l->prefix_len, text, n);
    l->prefix_len += n;
    l->prefix_width += width;
    return true;
}

void terminal_line_cut_prefix(struct terminal_line *l, size_t len, size_t width)
{
    l->prefix_len = len;
    l->prefix[len] = '\0';
    l->prefix_width = width;
}
