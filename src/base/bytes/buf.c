/* SPDX-License-Identifier: MIT
 * Growth of a buffer. */
#include "base/bytes/buf.h"
#include "base/invariant.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"

#define CAP_MIN ((size_t)64)
#define PRINTF_ROOM 120 /* most texts fit, and are formatted once */

void buf_fini(struct buf *b)
{
    free(b->p);
    *b = (struct buf){0};
}

void buf_reset(struct buf *b)
{
    b->len = 0;
    if (b->p)
        b->p[0] = '\0';
}

void buf_grow(struct buf *b, size_t n)
{
    ASSERT(b->p ? b->len < b->cap : !b->len && !b->cap);
    ASSERT(n <= SIZE_MAX / 4 - b->len);
    size_t cap = b->cap ? b->cap : CAP_MIN;
    while (cap <= b->len + n)
        cap *= 2;
    b->p = xrealloc(b->p, cap);
    b->cap = cap;
    b->p[b->len] = '\0';
}

void buf_add(struct buf *b, const void *p, size_t n)
{
    char *const to = buf_reserve(b, n);
    if (n)
        memcpy(to, p, n);
    to[n] = '\0';
    b->len += n;
}

void buf_add_str(struct buf *b, const char *s)
{
    buf_add(b, s, strlen(s));
}

void buf_add_char(struct buf *b, char c)
{
    buf_add(b, &c, 1);
}

void buf_vprintf(struct buf *b, const char *fmt, va_list ap)
{
    va_list again;
    va_copy(again, ap);
    char *to = buf_reserve(b, PRINTF_ROOM);
    const int n = vsnprintf(to, PRINTF_ROOM, fmt, ap);
    if (n >= PRINTF_ROOM) {
        to = buf_reserve(b, (size_t)n);
        vsnprintf(to, (size_t)n + 1, fmt, again);
    }
    va_end(again);
    b->len += n > 0 ? (size_t)n : 0;
    b->p[b->len] = '\0';
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    buf_vprintf(b, fmt, ap);
    va_end(ap);
}

void buf_consume(struct buf *b, size_t n)
{
    ASSERT(b->p || !b->len);
    if (n >= b->len) {
        buf_reset(b);
        return;
    }
    b->len -= n;
    memmove(b->p, b->p + n, b->len + 1);
}

char *buf_steal(struct buf *b)
{
    ASSERT(!b->p || b->len < b->cap);
    char *const p = b->p ? b->p : xstrdup("");
    *b = (struct buf){0};
    return p;
}
