/* SPDX-License-Identifier: MIT
 * The allocator of the host: exhausted memory ends the process with a message. Callers limit sizes
 * from outside before allocating. */
#ifndef BASE_ALLOC_H
#define BASE_ALLOC_H

#include <stddef.h>

/* Exit status of a process that cannot get an essential resource from the system. */
enum { ALLOC_EXIT_STATUS = 4 };
/* Writes "turncast: cannot allocate WHAT" to stderr and ends the process. Any thread. */
void alloc_exit_exhausted(const char *what) __attribute__((__noreturn__));

/* All return owned memory for free(); NULL only where NULL is copied. */
void *xmalloc(size_t n);
void *xcalloc(size_t n, size_t size);
void *xrealloc(void *p, size_t n);
/* Grows an array of n elements by doubling if there is no room for one more; returns the array,
 * possibly moved. `cap` starts at 0. */
void *alloc_grow(void *array, size_t n, size_t *cap, size_t size);
char *xstrdup(const char *s); /* NULL for NULL */
char *xstrndup(const char *s, size_t n);
/* Checks memory allocated elsewhere: returns p, or ends the process. */
void *alloc_check(void *p, size_t n);
char *xasprintf(const char *fmt, ...) __attribute__((__format__(__printf__, 1, 2)));

/* Clears n bytes by a function call, which is faster for some hundred bytes than the inline code of
 * compilers. */
void alloc_zero(void *p, size_t n);

#endif
