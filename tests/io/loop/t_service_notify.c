/* SPDX-License-Identifier: MIT
 * What a service manager hears of the host: a fake one listens. */
#include "io/loop/service_notify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tap/tap.h"

static int listener;

/* Listens at that path, or with @ in front under that name, and says so in the environment. */
static void listen_at(const char *name)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    const size_t len = strlen(name);
    memcpy(at.sun_path, name, len);
    if (*name == '@')
        at.sun_path[0] = 0;
    listener = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (bind(listener, (const struct sockaddr *)&at,
             (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len)) < 0)
        bail("bind");
    setenv("NOTIFY_SOCKET", name, 1);
}

/* The next datagram; "": there is none. */
static const char *heard(void)
{
    static char text[512];
    const ssize_t n = recv(listener, text, sizeof text - 1, 0);
    text[n > 0 ? n : 0] = 0;
    return text;
}

static void test_states(const char *name)
{
    struct loop *const l = loop_new();
    listen_at(name);
    struct service_notify *const n = service_notify_new(l);
    is_str(heard(), "", "%.1s: no message before the first state", name);
    service_notify_ready(n, "serving");
    is_str(heard(), "READY=1\nSTATUS=serving", "ready");
    service_notify_reloading(n);
    const char *const reloading = heard();
    ok(strncmp(reloading, "RELOADING=1\nMONOTONIC_USEC=", 27) == 0 && atoll(reloading + 27) > 0,
       "the message has the state and the time");
    service_notify_stopping(n, 1500);
    is_str(heard(), "STOPPING=1\nSTATUS=waiting for running turns\nEXTEND_TIMEOUT_USEC=1500000",
           "the message has the state and the time limit");
    loop_run_once(l, 0);
    is_str(heard(), "", "without a watchdog no message is sent");
    service_notify_free(n);
    loop_free(l);
    close(listener);
}

static bool pet(void *ctx)
{
    loop_run_once(ctx, 20);
    return strcmp(heard(), "WATCHDOG=1") == 0;
}

static void test_watchdog(const char *name)
{
    struct loop *const l = loop_new();
    char pid[20];
    snprintf(pid, sizeof pid, "%ld", (long)getpid());
    listen_at(name);
    setenv("WATCHDOG_USEC", "30000", 1);
    setenv("WATCHDOG_PID", pid, 1);
    struct service_notify *n = service_notify_new(l);
    ok(tap_wait(pet, l, 5000), "the watchdog message is sent while the loop runs");
    ok(tap_wait(pet, l, 5000), "the watchdog message is repeated");
    while (*heard())
        ;
    is_str(heard(), "", "no watchdog message is sent while the loop does not run");
    service_notify_free(n);
    setenv("NOTIFY_SOCKET", name, 1);
    setenv("WATCHDOG_USEC", "30000", 1);
    setenv("WATCHDOG_PID", "1", 1);
    n = service_notify_new(l);
    loop_run_once(l, 20);
    is_str(heard(), "", "the watchdog of another process is ignored");
    service_notify_free(n);
    loop_free(l);
    close(listener);
}

/* Each descriptor that stayed open would move it. */
static int lowest_free(void)
{
    const int fd = dup(STDERR_FILENO);
    close(fd);
    return fd;
}

static void test_nobody(void)
{
    struct loop *const l = loop_new();
    static const char *const names[] = {"", "relative", "/no/such/socket"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const int before = lowest_free();
        setenv("NOTIFY_SOCKET", names[i], 1);
        struct service_notify *const n = service_notify_new(l);
        service_notify_ready(n, "x");
        service_notify_free(n);
        is_int(lowest_free(), before, "nobody at \"%s\", and nothing is left open", names[i]);
    }
    unsetenv("NOTIFY_SOCKET");
    struct service_notify *const n = service_notify_new(l);
    service_notify_stopping(n, 0);
    service_notify_free(n);
    service_notify_free(NULL);
    loop_free(l);
}

int main(void)
{
    char path[600], name[64];
    plan_lazy();
    snprintf(path, sizeof path, "%s/notify", tap_tmpdir());
    snprintf(name, sizeof name, "@turncast-test-%ld", (long)getpid());
    test_states(path);
    unlink(path);
    test_states(name);
    test_watchdog(path);
    test_nobody();
    return 0;
}
