/* SPDX-License-Identifier: MIT
 * Implements the ring buffer. */
#include "core/agent/stderr_tail.h"

#include <stdlib.h>

#include "base/alloc.h"

void stderr_tail_append(struct stderr_tail *t, const char *p, size_t n)
{
    if (!n)
        return;
    if (!t->ring)
        t->ring = xmalloc(TAIL_CAP);
    if (n > TAIL_CAP) {
        t->total += n - TAIL_CAP;
        p += n - TAIL_CAP;
        n = TAIL_CAP;
    }
    const size_t at = t->total % TAIL_CAP;
    const size_t first = n < TAIL_CAP - at ? n : TAIL_CAP - at;
    memcpy(t->ring + at, p, first);
    memcpy(t->ring, p + first, n - first);
    t->total += n;
}

static void copy_last(struct buf *out, const struct stderr_tail *t, size_t n)
{
    const size_t at = (t->total - n) % TAIL_CAP;
    const size_t first = n < TAIL_CAP - at ? n : TAIL_CAP - at;
    buf_add(out, t->ring + at, first);
    buf_add(out, t->ring, n - first);
}

void stderr_tail_copy(struct buf *out, const struct stderr_tail *t, size_t n)
{
    const uint64_t kept = t->total < TAIL_CAP ? t->total : TAIL_CAP;
    if (!kept)
        return;
    if (n >= kept) {
        copy_last(out, t, kept);
        return;
    }
    CLEANUP_BUF struct buf text = {0};
    copy_last(&text, t, n + 1); /* one byte more, to see whether a line begins after it */
    const char *const nl = memchr(text.p, '\n', text.len);
    const char *const from = nl && nl + 1 < text.p + text.len ? nl + 1 : text.p + 1;
    buf_add(out, from, (size_t)(text.p + text.len - from));
}

static bool stderr_tail_is_blank(char c)
{
    return c == '\n' || c == '\r' || c == ' ' || c == '\t';
}

void stderr_tail_copy_last_line(struct buf *out, const struct stderr_tail *t, size_t n)
{
    CLEANUP_BUF struct buf text = {0};
    stderr_tail_copy(&text, t, TAIL_CAP);
    size_t end = text.len;
    while (end && stderr_tail_is_blank(text.p[end - 1]))
        end--;
    size_t begin = end;
    while (begin && text.p[begin - 1] != '\n')
        begin--;
    if (end > begin)
        buf_add(out, text.p + begin, end - begin < n ? end - begin : n);
}

void stderr_tail_fini(struct stderr_tail *t)
{
    free(t->ring);
    *t = (struct stderr_tail){0};
}
