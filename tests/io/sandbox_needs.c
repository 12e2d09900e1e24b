/* SPDX-License-Identifier: MIT
 * The attempts that must succeed in the sandbox of a connector. */
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/attr.h"
#include "io/sandbox_cases.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/lsan_interface.h>
#endif

static void *count_up(void *arg)
{
    free(malloc(1 << 16));
    return arg;
}

static int make_threads(UNUSED const struct sandbox_place *here)
{
    pthread_t threads[8];
    for (size_t i = 0; i < 8; i++) {
        const int error = pthread_create(&threads[i], NULL, count_up, NULL);
        if (error)
            return error;
    }
    for (size_t i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
    return 0;
}

static int use_memory(UNUSED const struct sandbox_place *here)
{
    char *const p = malloc(32 << 20);
    if (!p)
        return ENOMEM;
    memset(p, 1, 32 << 20);
    free(p);
    return 0;
}

static int keep_state_in(const char *folder)
{
    char *const dir = xstrdup(sandbox_below(folder, "dir"));
    char *const from = xstrdup(sandbox_below(folder, "dir/from"));
    char *const to = xstrdup(sandbox_below(folder, "dir/to"));
    int error = sandbox_came(mkdir(dir, 0700));
    const int fd = open(from, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (!error)
        error = sandbox_came(write(fd, "state", 5));
    if (!error)
        error = sandbox_came(ftruncate(fd, 2)) | sandbox_came(fsync(fd)) |
                sandbox_came(rename(from, to)) | sandbox_came(unlink(to)) |
                sandbox_came(rmdir(dir));
    close(fd);
    free(dir);
    free(from);
    free(to);
    return error;
}

static int keep_state(const struct sandbox_place *here)
{
    return keep_state_in(here->state);
}

static int write_more(const struct sandbox_place *here)
{
    return keep_state_in(here->more);
}

static int read_shown(const struct sandbox_place *here)
{
    return sandbox_came_fd(open(here->shown, O_RDONLY | O_CLOEXEC));
}

static int read_given(const struct sandbox_place *here)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", here->given);
    return sandbox_came_fd(open(here->library, O_RDONLY | O_CLOEXEC)) |
           sandbox_came_fd(open(path, O_RDONLY | O_CLOEXEC));
}

static int make_room(const struct sandbox_place *here)
{
    return sandbox_came_fd(open(sandbox_below(here->full, "old"), O_RDONLY | O_CLOEXEC)) |
           sandbox_came(unlink(sandbox_below(here->full, "old")));
}

static int connect_declared(const struct sandbox_place *here)
{
    return sandbox_connect(here->open_port);
}

static int ask_name_server(UNUSED const struct sandbox_place *here)
{
    const int error = sandbox_connect(53);
    return error == ECONNREFUSED ? 0 : error; /* no name server runs here */
}

static int resolve_localhost(UNUSED const struct sandbox_place *here)
{
    const struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    const int error = getaddrinfo("localhost", "80", &hints, &found);
    if (!error)
        freeaddrinfo(found);
    /* Without the file, which a container may lack, no sandbox could resolve the name. */
    return error && access("/etc/hosts", F_OK) == 0 ? EHOSTUNREACH : 0;
}

static int know_time_zone(UNUSED const struct sandbox_place *here)
{
    setenv("TZ", "Asia/Kolkata", 1);
    tzset();
    struct tm tm;
    const time_t noon = 1700000000;
    return localtime_r(&noon, &tm) && tm.tm_gmtoff == 19800 ? 0 : ENOENT;
}

static int read_random(UNUSED const struct sandbox_place *here)
{
    return sandbox_came_fd(open("/dev/urandom", O_RDONLY | O_CLOEXEC));
}

static int write_null(UNUSED const struct sandbox_place *here)
{
    return sandbox_came_fd(open("/dev/null", O_WRONLY | O_CLOEXEC));
}

static int read_itself(UNUSED const struct sandbox_place *here)
{
    return sandbox_came_fd(open("/proc/self/status", O_RDONLY | O_CLOEXEC));
}

static int read_certificates(UNUSED const struct sandbox_place *here)
{
    const int error = sandbox_came_fd(open("/etc/ssl/certs", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    return error == ENOENT ? 0 : error;
}

static int signal_itself(UNUSED const struct sandbox_place *here)
{
    signal(SIGUSR1, SIG_IGN);
    return sandbox_came(raise(SIGUSR1)) | sandbox_came(kill(getpid(), SIGUSR1)) |
           pthread_kill(pthread_self(), SIGUSR1);
}

static int wait_for_things(UNUSED const struct sandbox_place *here)
{
    return sandbox_came_fd(epoll_create1(EPOLL_CLOEXEC)) |
           sandbox_came_fd(eventfd(0, EFD_CLOEXEC)) |
           sandbox_came_fd(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC));
}

static int open_stream_pair(UNUSED const struct sandbox_place *here)
{
    int pair[2];
    const int error = sandbox_came(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair));
    if (!error)
        close(pair[0]);
    return error ? error : sandbox_came(close(pair[1]));
}

static int set_priority(UNUSED const struct sandbox_place *here)
{
    return sandbox_came(setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0)));
}

static int open_udp(UNUSED const struct sandbox_place *here)
{
    return sandbox_came_fd(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) |
           sandbox_came_fd(socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0)) |
           sandbox_came_fd(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
}

static int count_leaks(UNUSED const struct sandbox_place *here)
{
#if defined(__SANITIZE_ADDRESS__)
    return __lsan_do_recoverable_leak_check() ? EPERM : 0;
#else
    return 0;
#endif
}

const struct sandbox_need sandbox_needs[NEEDS] = {
    {"threads", make_threads},
    {"memory", use_memory},
    {"files in its state folder", keep_state},
    {"files in a configured folder", write_more},
    {"reading a configured file", read_shown},
    {"reading a library, and a file whose descriptor it has", read_given},
    {"removing a file from a full folder", make_room},
    {"connecting to a declared port", connect_declared},
    {"UDP", open_udp},
    {"connecting to a name server over TCP", ask_name_server},
    {"resolving localhost", resolve_localhost},
    {"time zones", know_time_zone},
    {"random numbers", read_random},
    {"/dev/null", write_null},
    {"reading its own /proc", read_itself},
    {"certificates", read_certificates},
    {"signals to itself", signal_itself},
    {"epoll, eventfd, timerfd", wait_for_things},
    {"a pair of streams", open_stream_pair},
    {"its own priority", set_priority},
    {"checking for leaks", count_leaks},
};
