/* SPDX-License-Identifier: MIT
 * Injects the selected fault into the process of the instance: delay, hang, crash, abort, exit,
 * memory leak, closed descriptors, garbage on sockets. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "plugin/chaos/chaos.h"

#define FDS_MAX 1024
#define GARBAGE_BYTES 4096

bool chaos_file_exists(const char *path)
{
    return access(path, F_OK) == 0;
}

static void chaos_inject_sleep(int64_t ms)
{
    struct timespec left = {ms / 1000, ms % 1000 * 1000000};
    while (nanosleep(&left, &left) < 0)
        ;
}

__attribute__((__noreturn__)) static void chaos_inject_hang(void)
{
    for (;;)
        pause();
}

/* Resets the signal's action, so that the process ends as with a real fault. */
static void chaos_inject_raise_signal(int signal_)
{
    signal(signal_, SIG_DFL);
    raise(signal_);
}

/* Does not use the allocator, whose checks would detect the leak. */
static void chaos_inject_leak(size_t bytes)
{
    void *const p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p != MAP_FAILED)
        memset(p, 0xa5, bytes);
}

static void chaos_inject_close_all(void)
{
    syscall(SYS_close_range, 0, ~0U, 0);
}

static void chaos_inject_write_garbage(struct chaos *c)
{
    uint64_t garbage[GARBAGE_BYTES / sizeof(uint64_t)];
    for (size_t i = 0; i < sizeof garbage / sizeof *garbage; i++)
        garbage[i] = chaos_next_random(c);
    for (int fd = 0; fd < FDS_MAX; fd++) {
        struct stat st;
        if (fstat(fd, &st) == 0 && S_ISSOCK(st.st_mode))
            (void)!send(fd, garbage, sizeof garbage, MSG_DONTWAIT | MSG_NOSIGNAL);
    }
}

void chaos_inject_fault(struct chaos *c, const struct conf_chaos *rule)
{
    switch (rule->what) {
    case CHAOS_NOTHING:
    case CHAOS_ERROR:
        return;
    case CHAOS_DELAY:
        chaos_inject_sleep(rule->delay_ms);
        return;
    case CHAOS_HANG:
        chaos_inject_hang();
    case CHAOS_CRASH:
        chaos_inject_raise_signal(SIGSEGV);
        return;
    case CHAOS_ABORT:
        chaos_inject_raise_signal(SIGABRT);
        return;
    case CHAOS_EXIT:
        exit(0);
    case CHAOS_LEAK:
        chaos_inject_leak((size_t)rule->bytes);
        return;
    case CHAOS_CLOSE:
        chaos_inject_close_all();
        return;
    case CHAOS_GARBAGE:
        chaos_inject_write_garbage(c);
        return;
    }
}
