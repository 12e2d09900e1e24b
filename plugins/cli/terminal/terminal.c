/* SPDX-License-Identifier: MIT
 * A line-aware, buffered writer for terminals and logs. */
#include "terminal.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "safe_char.h"

static bool is_set(const char *name)
{
    const char *value = getenv(name);
    return value && *value;
}

/* Only a locale that names another character set: terminals of today show UTF-8 without one. */
static bool locale_is_not_utf8(void)
{
    const char *locale = is_set("LC_ALL")     ? getenv("LC_ALL")
                         : is_set("LC_CTYPE") ? getenv("LC_CTYPE")
                                              : getenv("LANG");
    const char *dot = locale ? strchr(locale, '.') : NULL;
    return dot && strncasecmp(dot, ".utf-8", 6) != 0 && strncasecmp(dot, ".utf8", 5) != 0;
}

void term_init(struct term *t, int fd, bool tty, enum term_color color)
{
    const char *type = getenv("TERM");
    const bool dumb = !type || strcmp(type, "dumb") == 0;
    t->fd = fd;
    t->cursor = tty && !dumb;
    t->color = color == TERM_ALWAYS || (color == TERM_AUTO && t->cursor && !is_set("NO_COLOR"));
    t->ascii = locale_is_not_utf8();
    term_measure(t);
}

void term_measure(struct term *t)
{
    struct winsize size;
    t->columns = 0;
    if (t->cursor)
        t->columns = ioctl(t->fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
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

void term_text(struct term *t, const char *s, size_t n, const char *margin)
{
    while (n > 0) {
        const struct glyph g = glyph_next(s, n, t->ascii);
        if (g.text[0] == '\n') {
            term_newline(t);
        } else {
            if (t->column == 0 && margin)
                term_put(t, margin, 2);
            put_glyph(t, &g);
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
