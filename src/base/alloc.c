/* SPDX-License-Identifier: MIT
 * The only reaction to exhausted memory: a message and the end of the process. */
#include "base/alloc.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ARRAY_MIN 8

/* Uses neither stdio, which may allocate, nor exit handlers. */
void alloc_exit_exhausted(const char *what)
{
    char text[256];
    const int n = snprintf(text, sizeof text, "turncast: cannot allocate %s\n", what);
    (void)!write(STDERR_FILENO, text, n < (int)sizeof text ? (size_t)n : sizeof text - 1);
    _exit(ALLOC_EXIT_STATUS);
}

void *alloc_check(void *p, size_t n)
{
    char what[64];
    if (p)
        return p;
    snprintf(what, sizeof what, "memory (%zu bytes)", n);
    alloc_exit_exhausted(what);
}

/* Requests at least one byte, so that NULL always means failure. */
static size_t alloc_at_least_one(size_t n)
{
    return n ? n : 1;
}

void *xmalloc(size_t n)
{
    return alloc_check(malloc(alloc_at_least_one(n)), n);
}

void *xcalloc(size_t n, size_t size)
{
    return alloc_check(calloc(alloc_at_least_one(n), alloc_at_least_one(size)), n);
}

void *xrealloc(void *p, size_t n)
{
    return alloc_check(realloc(p, alloc_at_least_one(n)), n);
}

void *alloc_grow(void *array, size_t n, size_t *cap, size_t size)
{
    if (n < *cap)
        return array;
    *cap = *cap ? 2 * *cap : ARRAY_MIN;
    return xrealloc(array, *cap * size);
}

char *xstrdup(const char *s)
{
    return s ? xstrndup(s, strlen(s)) : NULL;
}

char *xstrndup(const char *s, size_t n)
{
    const size_t len = strnlen(s, n);
    char *const copy = xmalloc(len + 1);
    memcpy(copy, s, len);
    copy[len] = '\0';
    return copy;
}

char *xasprintf(const char *fmt, ...)
{
    char *text = NULL;
    va_list ap;
    va_start(ap, fmt);
    const int n = vasprintf(&text, fmt, ap);
    va_end(ap);
    return alloc_check(n < 0 ? NULL : text, strlen(fmt));
}

void alloc_zero(void *p, size_t n)
{
    memset(p, 0, n);
}
