/* SPDX-License-Identifier: MIT
 * Splits a byte stream: examines every byte once, and copies a line only if it arrived in several
 * chunks. */
#include "io/loop/line_splitter.h"

#include <string.h>

#include "base/align.h"
#include "base/invariant.h"

/* Buffer size kept for lines in several chunks: during input, and when a turn may be idle for long.
 * A stream of small lines must not keep sixteen megabytes because of one large line. */
#define KEEP_BUSY ((size_t)1 << 20)
#define KEEP_IDLE ((size_t)4 << 10)

#define AHEAD ((size_t)512) /* prefetch distance in bytes; the hardware prefetches nearer bytes */
#define AHEAD_SPAN (8 * ALIGN_CACHE_LINE)

static size_t line_splitter_max_line(const struct line_splitter *s)
{
    return s->cap ? s->cap : LINES_DEFAULT_CAP;
}

static void line_splitter_emit_line(struct line_splitter *s, const char *p, size_t len,
                                    bool complete)
{
    if (len && p[len - 1] == '\r')
        len--;
    s->line(s->ctx, p, len, complete);
}

static void line_splitter_clear_part(struct line_splitter *s, size_t keep)
{
    if (s->part.cap > keep)
        buf_fini(&s->part);
    else
        buf_reset(&s->part);
}

static void line_splitter_report_dropped(struct line_splitter *s)
{
    ASSERT(s->skipping && !s->part.len);
    const uint64_t bytes = s->skipping;
    s->skipping = 0;
    s->dropped(s->ctx, bytes);
}

/* Stores the start of an incomplete line. */
static void line_splitter_append_part(struct line_splitter *s, const char *p, size_t n)
{
    ASSERT(s->part.len <= line_splitter_max_line(s));
    if (!s->skipping && n <= line_splitter_max_line(s) - s->part.len) {
        buf_add(&s->part, p, n);
        return;
    }
    s->skipping += s->part.len + n;
    buf_fini(&s->part);
}

/* Number of bytes up to the end of a line. */
static void line_splitter_end_line(struct line_splitter *s, const char *p, size_t n)
{
    if (!s->skipping && !s->part.len && n <= line_splitter_max_line(s)) {
        line_splitter_emit_line(s, p, n, true);
        return;
    }
    line_splitter_append_part(s, p, n);
    if (s->skipping) {
        line_splitter_report_dropped(s);
        return;
    }
    line_splitter_emit_line(s, s->part.p, s->part.len, true);
    line_splitter_clear_part(s, KEEP_BUSY);
}

/* Prefetches the following bytes while this line is processed. */
static void line_splitter_prefetch(const char *p, const char *end)
{
    if ((size_t)(end - p) < AHEAD + AHEAD_SPAN)
        return;
    for (const char *at = p + AHEAD; at < p + AHEAD + AHEAD_SPAN; at += ALIGN_CACHE_LINE)
        __builtin_prefetch(at);
}

size_t line_splitter_feed(struct line_splitter *s, const char *p, size_t n)
{
    const char *const begin = p, *const end = p + n;
    s->stop = false;
    while (p < end && !s->stop) {
        const char *const nl = memchr(p, '\n', (size_t)(end - p));
        if (!nl) {
            line_splitter_append_part(s, p, (size_t)(end - p));
            return n;
        }
        line_splitter_prefetch(nl, end);
        line_splitter_end_line(s, p, (size_t)(nl - p));
        p = nl + 1;
    }
    s->stop = false;
    if (!s->part.len)
        line_splitter_clear_part(s, KEEP_IDLE);
    return (size_t)(p - begin);
}

void line_splitter_finish(struct line_splitter *s)
{
    if (s->skipping)
        line_splitter_report_dropped(s);
    else if (s->part.len)
        line_splitter_emit_line(s, s->part.p, s->part.len, false);
    buf_fini(&s->part);
}

void line_splitter_return_rest(struct line_splitter *s, struct buf *rest)
{
    if (s->part.len)
        buf_add(rest, s->part.p, s->part.len);
    s->skipping = 0;
    line_splitter_clear_part(s, KEEP_IDLE);
}

void line_splitter_fini(struct line_splitter *s)
{
    buf_fini(&s->part);
}
