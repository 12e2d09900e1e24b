/* SPDX-License-Identifier: MIT
 * The allocator of the host: memory that is not there ends the process with a message. Sizes
 * that come from outside are capped by the caller before they reach it. */
#ifndef BASE_ALLOC_H
#define BASE_ALLOC_H

#include <stddef.h>

/* The exit status of a process that the system does not give what it cannot do without. */
enum { ALLOC_EXIT_STATUS = 4 };
/* Writes "turncast: cannot allocate WHAT" to stderr and ends the process. Any thread. */
void alloc_exit_exhausted(const char *what) __attribute__((__noreturn__));

/* All return owned memory for free(); NULL only where NULL is copied. */
void *xmalloc(size_t n);
void *xcalloc(size_t n, size_t size);
void *xrealloc(void *p, size_t n);
/* The array of n elements, moved if need be, with room for one more: it doubles. `cap` starts at 0.
 */
void *alloc_grow(void *array, size_t n, size_t *cap, size_t size);
char *xstrdup(const char *s); /* NULL of NULL */
char *xstrndup(const char *s, size_t n);
/* The same of memory that came from elsewhere: p, or the end. */
void *alloc_check(void *p, size_t n);
char *xasprintf(const char *fmt, ...) __attribute__((__format__(__printf__, 1, 2)));

/* Clears n bytes: by a call, which for some hundred of them is done before what compilers put in
 * its place has begun. */
void alloc_zero(void *p, size_t n);

#endif
