/* SPDX-License-Identifier: MIT
 * listen AGENTS RATE SECONDS: the floor under many agents. It starts them as bench/serve has them
 * started, reads what they say as one loop would, and does nothing with it. */
#include <err.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench/files.h"

#define READY_MAX 256

extern char **environ;

struct listener {
    int epoll;
    unsigned open;
    uint64_t lines;
};

static double cpu_now(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void spawn(char **argv, int in, int out)
{
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, in, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
    pid_t pid;
    if (posix_spawn(&pid, argv[0], &files, NULL, argv, environ) != 0)
        errx(2, "%s (run it in the build tree)", argv[0]);
    posix_spawn_file_actions_destroy(&files);
}

static void add_agent(struct listener *l, char **argv)
{
    int in[2], out[2];
    if (pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0)
        err(2, "pipe");
    spawn(argv, in[0], out[1]);
    if (write(in[1], "tick", 4) != 4)
        err(2, "write");
    close(in[0]);
    close(in[1]);
    close(out[1]);
    struct epoll_event ready = {.events = EPOLLIN, .data.fd = out[0]};
    if (epoll_ctl(l->epoll, EPOLL_CTL_ADD, out[0], &ready) < 0)
        err(2, "epoll_ctl");
    l->open++;
}

static void hear(struct listener *l, int fd)
{
    char text[16384];
    const ssize_t n = read(fd, text, sizeof text);
    for (const char *at = text; n > 0 && (at = memchr(at, '\n', (size_t)(text + n - at))); at++)
        l->lines++;
    if (n > 0)
        return;
    close(fd);
    l->open--;
}

static void step(struct listener *l, int ms)
{
    struct epoll_event ready[READY_MAX];
    const int n = epoll_wait(l->epoll, ready, READY_MAX, ms);
    for (int i = 0; i < n; i++)
        hear(l, ready[i].data.fd);
}

int main(int argc, char **argv)
{
    const unsigned long agents = argc == 4 ? strtoul(argv[1], NULL, 10) : 0;
    const char *const build = getenv("TURNCAST_BUILDDIR");
    char program[500];
    if (!agents)
        errx(2, "listen AGENTS RATE SECONDS");
    files_raise();
    snprintf(program, sizeof program, "%s/bench/ticker", build ? build : ".");
    struct listener l = {.epoll = epoll_create1(EPOLL_CLOEXEC)};
    double starting = 0;
    for (unsigned long i = 0; i < agents; i++) {
        const double began = cpu_now();
        add_agent(&l, (char *[]){program, argv[3], argv[2], NULL});
        starting += cpu_now() - began;
        step(&l, 0);
    }
    while (l.open)
        step(&l, -1);
    while (wait(NULL) > 0)
        continue;
    printf("%-20s %12.2f us a line, of %lu\n", "cpu-line",
           (cpu_now() - starting) * 1e6 / (double)l.lines, (unsigned long)l.lines);
    return 0;
}
