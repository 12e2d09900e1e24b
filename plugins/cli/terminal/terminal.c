/* SPDX-License-Identifier: MIT
 * A line-aware, buffered writer for terminals and logs. */
#include "terminal.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "safe_char.h"

#define MARGIN_WIDTH 2
#define TAB_WIDTH 4

static bool is_set(const char *name)
{
    const char *value = getenv(name);
    return value && *value;
}

/* Only a locale with another character set disables UTF-8, because today's terminals show UTF-8
 * without a locale. */
static bool locale_is_not_utf8(void)
{
    const char *locale = is_set("LC_ALL")     ? getenv("LC_ALL")
                         : is_set("LC_CTYPE") ? getenv("LC_CTYPE")
                                              : getenv("LANG");
    const char *dot = locale ? strchr(locale, '.') : NULL;
    return dot && strncasecmp(dot, ".utf-8", 6) != 0 && strncasecmp(dot, ".utf8", 5) != 0;
}

/* These terminals print the address, or drop it together with the text. */
static bool terminal_supports_links(const char *type)
{
    return strcmp(type, "linux") != 0 && strncmp(type, "screen", 6) != 0 &&
           strncmp(type, "tmux", 4) != 0;
}

void term_init(struct term *t, int fd, bool tty, enum term_color color)
{
    const char *type = getenv("TERM");
    const bool dumb = !type || strcmp(type, "dumb") == 0;
    t->fd = fd;
    t->cursor = tty && !dumb;
    t->color = color == TERM_ALWAYS || (color == TERM_AUTO && t->cursor && !is_set("NO_COLOR"));
    t->ascii = locale_is_not_utf8();
    t->links = t->cursor && terminal_supports_links(type);
    term_measure(t);
}

void term_measure(struct term *t)
{
    struct winsize size;
    t->columns = t->rows = 0;
    if (!t->cursor)
        return;
    const bool known = ioctl(t->fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    t->columns = known ? size.ws_col : 80;
    t->rows = known && size.ws_row > 0 ? size.ws_row : 24;
}

static void write_out(struct term *t)
{
    size_t done = 0;
    while (done < t->len) {
        const ssize_t n = write(t->fd, t->buf + done, t->len - done);
        if (n > 0)
            done += (size_t)n;
        else if (n < 0 && errno == EAGAIN)
            poll(&(struct pollfd){.fd = t->fd, .events = POLLOUT}, 1, -1);
        else if (n == 0 || errno != EINTR)
            break;
    }
    t->failed |= done < t->len;
    t->len = 0;
}

int term_flush(struct term *t)
{
    write_out(t);
    const bool failed = t->failed;
    t->failed = false;
    return failed ? -1 : 0;
}

static void add(struct term *t, const char *p, size_t n)
{
    if (t->live && !t->drawing)
        term_live_hide(t);
    if (n > sizeof t->buf - t->len)
        write_out(t);
    memcpy(t->buf + t->len, p, n);
    t->len += n;
}

void term_put(struct term *t, const char *s, unsigned width)
{
    add(t, s, strlen(s));
    t->column += width;
}

void term_margin(struct term *t, const char *margin)
{
    unsigned width = 0;
    for (const char *at = margin; *at; at++)
        width += ((unsigned char)*at & 0xc0) != 0x80;
    term_put(t, margin, width);
}

void term_look(struct term *t, const char *look)
{
    if (!t->color)
        return;
    add(t, "\033[", 2);
    add(t, *look ? look : "0", *look ? strlen(look) : 1);
    add(t, "m", 1);
}

void term_newline(struct term *t)
{
    add(t, "\n", 1);
    t->column = 0;
}

void term_break(struct term *t)
{
    if (t->column > 0)
        term_newline(t);
}

void term_rewind(struct term *t)
{
    add(t, "\r\033[K", 4);
    t->column = 0;
}

static void put_glyph(struct term *t, const struct glyph *g)
{
    add(t, g->text, g->len);
    t->column += g->width;
}

/* Continuation lines of wrapped text have another margin than lines of the text. */
static void put_wrapped(struct term *t, const struct glyph *g)
{
    const bool tab = g->text[0] == '\t';
    const unsigned width = tab ? TAB_WIDTH : g->width;
    if (t->columns > 2 * MARGIN_WIDTH && t->column + width > t->columns) {
        term_newline(t);
        term_put(t, t->ascii ? ": " : "┆ ", MARGIN_WIDTH);
    }
    if (tab && t->columns)
        term_put(t, "    ", TAB_WIDTH);
    else
        put_glyph(t, g);
}

/* ---- the live region ---- */

bool term_is_foreground(const struct term *t)
{
    const pid_t group = tcgetpgrp(t->fd);
    return group < 0 || group == getpgrp();
}

/* Clears the first row, and everything below from its second column on. tmux would move the screen
 * into its history if it were cleared from the first row and column, so each redraw would stay
 * there. */
#define ERASE "\r\033[K\033[C\033[J\r"

/* Rows drawn before the host was put into the background are left to the shell. */
void term_live_hide(struct term *t)
{
    if (!t->live)
        return;
    t->live = false;
    if (term_is_foreground(t))
        add(t, ERASE, sizeof ERASE - 1);
    t->column = 0;
}

void term_live_begin(struct term *t)
{
    term_live_hide(t);
    term_break(t);
    t->drawing = true;
    t->live_rows = 0;
}

void term_live_row(struct term *t)
{
    if (t->live_rows > 0)
        term_newline(t);
    t->live_rows++;
}

void term_live_end(struct term *t)
{
    char up[16];
    if (t->live_rows > 1) {
        const int n = snprintf(up, sizeof up, "\033[%uA", t->live_rows - 1);
        add(t, up, (size_t)n);
    }
    if (t->live_rows > 0)
        add(t, "\r", 1);
    t->live = t->live_rows > 0;
    t->drawing = false;
    t->column = 0;
}

/* ---- text ---- */

static const struct {
    const char *symbol;
    char ascii;
} replaced[] = {{"•", '*'}, {"│", '|'}, {"─", '-'}, {"┼", '+'},
                {"☐", 'o'}, {"☑", 'x'}, {"—", '-'}, {"…", '.'}};

/* One character of a line: sequences are ASCII. */
static size_t add_ascii(struct term *t, const char *s, size_t n)
{
    size_t len = 1;
    if ((unsigned char)*s < 0x80) {
        add(t, s, 1);
        return 1;
    }
    while (len < n && ((unsigned char)s[len] & 0xc0) == 0x80)
        len++;
    char shown = '?';
    for (size_t i = 0; i < sizeof replaced / sizeof *replaced; i++)
        if (strlen(replaced[i].symbol) == len && memcmp(replaced[i].symbol, s, len) == 0)
            shown = replaced[i].ascii;
    add(t, &shown, 1);
    return len;
}

static void add_line(struct term *t, const char *s, size_t n)
{
    if (!t->ascii) {
        for (size_t part; n > 0; s += part, n -= part) {
            part = n < sizeof t->buf ? n : sizeof t->buf;
            add(t, s, part);
        }
        return;
    }
    for (size_t len; n > 0; s += len, n -= len)
        len = add_ascii(t, s, n);
}

void term_rendered_line(struct term *t, const char *s, size_t n, const char *margin,
                        const char *look)
{
    if (look)
        term_look(t, look);
    if (margin)
        add(t, margin, strlen(margin));
    add_line(t, s, n);
    if (look)
        term_look(t, LOOK_PLAIN);
}

void term_rendered(struct term *t, const char *s, size_t n, const char *margin, const char *look)
{
    while (n > 0) {
        const char *const newline = memchr(s, '\n', n);
        const size_t len = newline ? (size_t)(newline - s) : n;
        term_rendered_line(t, s, len, margin, look);
        term_newline(t);
        s += newline ? len + 1 : len;
        n -= newline ? len + 1 : len;
    }
}

void term_text(struct term *t, const char *s, size_t n, const char *margin)
{
    while (n > 0) {
        const struct glyph g = glyph_next(s, n, t->ascii);
        if (g.text[0] == '\n') {
            term_newline(t);
        } else {
            if (t->column == 0 && margin)
                term_put(t, margin, MARGIN_WIDTH);
            put_wrapped(t, &g);
        }
        s += g.used;
        n -= g.used;
    }
}

static struct glyph phrase_next(const struct term *t, const char *s, size_t n)
{
    const struct glyph g = glyph_next(s, n, t->ascii);
    if (g.text[0] == '\n' || g.text[0] == '\t')
        return (struct glyph){.used = g.used, .len = 1, .width = 1, .text = " "};
    return g;
}

unsigned term_room(const struct term *t, unsigned least)
{
    if (t->columns == 0)
        return 0;
    return t->columns > t->column + least ? t->columns - t->column : least;
}

unsigned term_measure_phrase(const struct term *t, const char *s, size_t n, unsigned most)
{
    unsigned width = 0;
    while (n > 0 && width <= most) {
        const struct glyph g = phrase_next(t, s, n);
        width += g.width;
        s += g.used;
        n -= g.used;
    }
    return width;
}

void term_phrase(struct term *t, const char *s, size_t n, unsigned limit)
{
    const bool cut = limit > 0 && term_measure_phrase(t, s, n, limit) > limit;
    const unsigned mark = t->ascii ? 3 : 1;
    unsigned left = cut ? (limit > mark ? limit - mark : 0) : 0;
    while (n > 0) {
        const struct glyph g = phrase_next(t, s, n);
        if (cut && g.width > left)
            break;
        left -= cut ? g.width : 0;
        put_glyph(t, &g);
        s += g.used;
        n -= g.used;
    }
    if (cut)
        term_put(t, t->ascii ? "..." : "…", mark);
}
