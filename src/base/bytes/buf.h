/* SPDX-License-Identifier: MIT
 * Growable byte buffer. Growth doubles, so appending n bytes costs O(n) in any number of calls. */
#ifndef BASE_BYTES_BUF_H
#define BASE_BYTES_BUF_H

#include <stdarg.h>
#include <stddef.h>

#include "base/str.h"

struct buf {
    char *p; /* owned; NUL-terminated whenever not NULL; NULL while empty */
    size_t len, cap;
};

/* A struct of zeros is valid and empty. */
void buf_fini(struct buf *b);
/* Empties it and keeps the memory. */
void buf_reset(struct buf *b);
/* Grows a buffer that has no room for n more bytes and the NUL. */
void buf_grow(struct buf *b, size_t n);
/* Makes room for n more bytes (and the NUL); returns the address for them. The caller adds to
 * len. */
static inline char *buf_reserve(struct buf *b, size_t n)
{
    if (n >= b->cap - b->len)
        buf_grow(b, n);
    return b->p + b->len;
}
void buf_add(struct buf *b, const void *p, size_t n);
void buf_add_str(struct buf *b, const char *s);
void buf_add_char(struct buf *b, char c);
void buf_printf(struct buf *b, const char *fmt, ...) __attribute__((__format__(__printf__, 2, 3)));
void buf_vprintf(struct buf *b, const char *fmt, va_list ap)
    __attribute__((__format__(__printf__, 2, 0)));
/* Drops the first n bytes. */
void buf_consume(struct buf *b, size_t n);
/* Returns the bytes: owned by the caller, NUL-terminated, never NULL. */
char *buf_steal(struct buf *b);

#define CLEANUP_BUF __attribute__((__cleanup__(buf_fini)))

#endif
