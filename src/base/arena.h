/* SPDX-License-Identifier: MIT
 * Arena allocator: memory of a line or a turn, freed as a whole. Not thread-safe. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stdarg.h>
#include <stddef.h>

#include "base/str.h"

struct arena_block;

struct arena {
    struct arena_block *head; /* the current block; older ones follow */
    size_t used;              /* bytes allocated since the last reset */
};

/* A struct of zeros is valid and empty. */
void arena_fini(struct arena *a);
/* Frees all allocations; keeps one block, so that a reset per line is cheap. (Not under the address
 * sanitizer, so that it detects use after a reset.) */
void arena_reset(struct arena *a);
/* Zeroed bytes, aligned for any type. */
void *arena_alloc(struct arena *a, size_t n);
/* Uninitialised bytes, unaligned: for text. */
char *arena_alloc_bytes(struct arena *a, size_t n);
/* NUL-terminated copies. */
char *arena_strdup(struct arena *a, const char *s); /* NULL for NULL */
char *arena_strndup(struct arena *a, const char *s, size_t n);
/* Copies n bytes, which may include NULs, and adds a NUL; p NULL with n 0 is allowed. */
char *arena_memdup(struct arena *a, const char *p, size_t n);
char *arena_sprintf(struct arena *a, const char *fmt, ...)
    __attribute__((__format__(__printf__, 2, 3)));
char *arena_vsprintf(struct arena *a, const char *fmt, va_list ap)
    __attribute__((__format__(__printf__, 2, 0)));

#endif
