/* SPDX-License-Identifier: MIT
 * Owns the one answer to memory that is not there: a message and the end of the process. */
#include "base/alloc.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *check(void *p, size_t n)
{
    if (p)
        return p;
    fprintf(stderr, "turncast: out of memory (%zu bytes)\n", n);
    abort();
}

/* A request of nothing gets a byte: NULL always means failure then. */
static size_t at_least_one(size_t n)
{
    return n ? n : 1;
}

void *xmalloc(size_t n)
{
    return check(malloc(at_least_one(n)), n);
}

void *xcalloc(size_t n, size_t size)
{
    return check(calloc(at_least_one(n), at_least_one(size)), n);
}

void *xrealloc(void *p, size_t n)
{
    return check(realloc(p, at_least_one(n)), n);
}

char *xstrdup(const char *s)
{
    return xstrndup(s, strlen(s));
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
    return check(n < 0 ? NULL : text, strlen(fmt));
}
