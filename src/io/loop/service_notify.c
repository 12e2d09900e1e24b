/* SPDX-License-Identifier: MIT
 * Owns the socket of the service manager, and the watchdog's timer. */
#include "io/loop/service_notify.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/bytes/buf.h"
#include "base/sys/log.h"

#define PETS 3 /* fraction of the watchdog interval for pings */

struct service_notify {
    struct sockaddr_un at;
    socklen_t len;
    int fd; /* -1: no service manager */
    int64_t pet_ms;
    struct loop_timer *watchdog; /* NULL: no watchdog */
    bool failed;                 /* an error was logged */
};

static void service_notify_send_text(struct service_notify *n, const struct buf *text)
{
    if (n->fd < 0 || sendto(n->fd, text->p, text->len, MSG_NOSIGNAL | MSG_DONTWAIT,
                            (const struct sockaddr *)&n->at, n->len) >= 0)
        return;
    if (!n->failed)
        log_write(LOG_WARN, "host", "cannot notify the service manager: %s", strerror(errno));
    n->failed = true;
}

static void on_watchdog(void *arg)
{
    struct service_notify *const n = arg;
    service_notify_send_text(
        n, &(struct buf){.p = (char[]){"WATCHDOG=1"}, .len = strlen("WATCHDOG=1")});
    loop_timer_set(n->watchdog, n->pet_ms);
}

/* A path, or, with @ in front, an abstract socket. */
static void service_notify_open_socket(struct service_notify *n, const char *name)
{
    const size_t len = name ? strlen(name) : 0;
    n->fd = -1;
    if (len < 2 || len >= sizeof n->at.sun_path || (*name != '/' && *name != '@'))
        return;
    n->at.sun_family = AF_UNIX;
    memcpy(n->at.sun_path, name, len);
    if (*name == '@')
        n->at.sun_path[0] = 0;
    n->len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len);
    n->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
}

/* Watchdog interval of this process; 0: none. */
static int64_t service_notify_watchdog_ms(void)
{
    const char *const usec = getenv("WATCHDOG_USEC"), *const pid = getenv("WATCHDOG_PID");
    if (!usec || (pid && strtoll(pid, NULL, 10) != getpid()))
        return 0;
    const long long n = strtoll(usec, NULL, 10);
    return n > 0 ? n / 1000 / PETS + 1 : 0;
}

struct service_notify *service_notify_new(struct loop *l)
{
    struct service_notify *const n = xcalloc(1, sizeof *n);
    service_notify_open_socket(n, getenv("NOTIFY_SOCKET"));
    n->pet_ms = service_notify_watchdog_ms();
    if (n->fd < 0 || !n->pet_ms)
        return n;
    n->watchdog = loop_timer_new(l, on_watchdog, n);
    loop_timer_set(n->watchdog, 0);
    return n;
}

void service_notify_free(struct service_notify *n)
{
    if (!n)
        return;
    if (n->watchdog)
        loop_timer_free(n->watchdog);
    if (n->fd >= 0)
        close(n->fd);
    free(n);
}

void service_notify_ready(struct service_notify *n, const char *status)
{
    CLEANUP_BUF struct buf text = {0};
    buf_printf(&text, "READY=1\nSTATUS=%s", status);
    service_notify_send_text(n, &text);
}

/* Includes the time, by which the service manager recognises that the requested reload has
 * begun. */
void service_notify_reloading(struct service_notify *n)
{
    CLEANUP_BUF struct buf text = {0};
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    buf_printf(&text, "RELOADING=1\nMONOTONIC_USEC=%" PRId64,
               (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000);
    service_notify_send_text(n, &text);
}

void service_notify_stopping(struct service_notify *n, int64_t ms)
{
    CLEANUP_BUF struct buf text = {0};
    buf_printf(&text, "STOPPING=1\nSTATUS=waiting for running turns\nEXTEND_TIMEOUT_USEC=%" PRId64,
               ms * 1000);
    service_notify_send_text(n, &text);
}
