/* SPDX-License-Identifier: MIT
 * Scope-exit cleanup for local variables (GCC cleanup attribute): free, close and fclose on every
 * return path. */
#ifndef BASE_CLEANUP_H
#define BASE_CLEANUP_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static inline void cleanup_free(void *p)
{
    free(*(void **)p);
}

static inline void cleanup_fd(const int *fd)
{
    if (*fd >= 0)
        close(*fd);
}

static inline void cleanup_file(FILE **f)
{
    if (*f)
        fclose(*f);
}

#define CLEANUP_FREE __attribute__((__cleanup__(cleanup_free)))
#define CLEANUP_FD __attribute__((__cleanup__(cleanup_fd)))
#define CLEANUP_FILE __attribute__((__cleanup__(cleanup_file)))

#endif
