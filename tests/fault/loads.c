/* SPDX-License-Identifier: MIT
 * Modules that do something as they are loaded, one for each value of LOADS; else they would be
 * good plugins. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <turncast/plugin.h>

#define WAY __attribute__((__unused__)) static void
#define FDS 64

WAY aborts(void)
{
    abort();
}

WAY segfaults(void)
{
    volatile int *const nothing = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *nothing = 1;
}

WAY hangs(void)
{
    for (;;)
        pause();
}

WAY exits(void)
{
    exit(0);
}

WAY exits7(void)
{
    _exit(7);
}

WAY closes(void)
{
    for (int fd = 0; fd < FDS; fd++)
        close(fd);
}

/* To where a program prints. */
WAY prints(void)
{
    puts("hello from a constructor");
    fputs("and an error\n", stderr);
}

/* To whatever is open. */
WAY scribbles(void)
{
    static const char rubbish[] = "rubbish that is no verdict, and long enough for one";
    for (int fd = 0; fd < FDS; fd++)
        if (write(fd, rubbish, sizeof rubbish) < 0)
            continue;
}

/* Leaves a process behind, which holds all that is open. */
WAY forks(void)
{
    if (fork() == 0)
        hangs();
}

/* Succeeds in its environment only: there must be nothing of the host's. */
WAY looks(void)
{
    if (getenv("TURNCAST_CANARY") || getenv("PATH") || getenv("HOME"))
        abort();
}

__attribute__((__constructor__)) static void begin(void)
{
    LOADS();
}

TURNCAST_PLUGIN(.name = "loads", .version = "1", .summary = "does something as it is loaded",
                .sink = TC_SINK(.on_event = NULL));
