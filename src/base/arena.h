/* SPDX-License-Identifier: MIT
 * Bump memory that is freed at once: of a line, of a turn. Not thread safe. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stdarg.h>
#include <stddef.h>

#include "base/str.h"

struct arena_block;

struct arena {
    struct arena_block *head; /* the block being filled; older ones behind it */
    size_t used;              /* bytes handed out since the last reset */
};

/* An all-zero struct arena is valid and empty. */
void arena_fini(struct arena *a);
/* Forgets all that was handed out; keeps one block so that a reset per line costs nothing. (Not
 * under the address sanitizer, which so finds what is used after it.) */
void arena_reset(struct arena *a);
/* Zeroed bytes, aligned for any type. */
void *arena_alloc(struct arena *a, size_t n);
/* Uninitialised bytes, unaligned: for text. */
char *arena_alloc_bytes(struct arena *a, size_t n);
/* NUL-terminated copies. */
char *arena_strdup(struct arena *a, const char *s); /* NULL of NULL */
char *arena_strndup(struct arena *a, const char *s, size_t n);
/* All n bytes, NUL ones too, and a NUL behind them; p NULL with n 0 is fine. */
char *arena_memdup(struct arena *a, const char *p, size_t n);
char *arena_sprintf(struct arena *a, const char *fmt, ...)
    __attribute__((__format__(__printf__, 2, 3)));
char *arena_vsprintf(struct arena *a, const char *fmt, va_list ap)
    __attribute__((__format__(__printf__, 2, 0)));

#endif
