/* SPDX-License-Identifier: MIT
 * cost FILE COMMAND...: runs the command and writes what it took, with all its children, to FILE:
 * CPU seconds, seconds, and KiB of the largest resident process. Small itself, for a process
 * counts as at least as large as the one it was forked from. */
#include <err.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        errx(2, "cost FILE COMMAND...");
    const double began = now();
    const pid_t pid = fork();
    if (pid == 0) {
        execvp(argv[2], argv + 2);
        err(127, "%s", argv[2]);
    }
    struct rusage u;
    int status;
    if (pid < 0 || wait4(pid, &status, 0, &u) != pid)
        err(2, "%s", argv[2]);
    FILE *const f = fopen(argv[1], "we");
    if (!f ||
        fprintf(f, "%.6f %.6f %ld\n", seconds(u.ru_utime) + seconds(u.ru_stime), now() - began,
                u.ru_maxrss) < 0 ||
        fclose(f) != 0)
        err(2, "%s", argv[1]);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
