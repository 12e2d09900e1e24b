/* SPDX-License-Identifier: MIT
 * Many descriptors: of a host with its turns, or of what reads as many agents. */
#ifndef BENCH_FILES_H
#define BENCH_FILES_H

#include <err.h>
#include <sys/resource.h>

#define FILES_MAX 65536

/* More than the machine's limit only root may have. Ends the program where nothing can be set. */
static inline void files_raise(void)
{
    struct rlimit limit;
    if (setrlimit(RLIMIT_NOFILE, &(struct rlimit){FILES_MAX, FILES_MAX}) == 0)
        return;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        err(2, "RLIMIT_NOFILE");
    limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
        err(2, "RLIMIT_NOFILE");
}

#endif
