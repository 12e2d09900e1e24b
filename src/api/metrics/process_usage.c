/* SPDX-License-Identifier: MIT
 * Reads the resource usage of this process from the kernel. */
#include "api/metrics/process_usage.h"

#include <dirent.h>
#include <sys/resource.h>
#include <unistd.h>

#include "io/process/process_tree.h"

static double cpu_s(void)
{
    struct rusage u;
    if (getrusage(RUSAGE_SELF, &u) < 0)
        return -1;
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

/* Excludes ".", ".." and the descriptor that is used for counting. */
static double process_usage_open_files(void)
{
    DIR *const dir = opendir("/proc/self/fd");
    double n = -3;
    if (!dir)
        return -1;
    while (readdir(dir))
        n++;
    closedir(dir);
    return n;
}

struct process_usage process_usage_read(void)
{
    return (struct process_usage){cpu_s(), (double)process_tree_read_rss(getpid()),
                                  process_usage_open_files()};
}
