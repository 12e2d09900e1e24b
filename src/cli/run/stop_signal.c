/* SPDX-License-Identifier: MIT
 * Implements stop_signal.h with a signalfd: no handler, no global variable, no race. */
#include "cli/run/stop_signal.h"

#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

bool stop_signal_is_enabled(int signo)
{
    struct sigaction now;
    return signo != SIGHUP || sigaction(signo, NULL, &now) < 0 || now.sa_handler != SIG_IGN;
}

static sigset_t stop_signals(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (stop_signal_is_enabled(signals[i]))
            sigaddset(&set, signals[i]);
    return set;
}

void stop_signal_init(struct stop_signal *s)
{
    const sigset_t set = stop_signals();
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    s->fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

void stop_signal_fini(struct stop_signal *s)
{
    struct signalfd_siginfo taken;
    const sigset_t set = stop_signals();
    if (s->fd >= 0) {
        while (read(s->fd, &taken, sizeof taken) > 0)
            ;
        close(s->fd);
    }
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

bool stop_signal_wait(const struct stop_signal *s, int fd, int64_t wait_ms)
{
    struct pollfd fds[] = {{.fd = s->fd, .events = POLLIN}, {.fd = fd, .events = POLLIN}};
    const int ms = wait_ms > INT_MAX ? INT_MAX : (int)wait_ms;
    if (poll(fds, 2, ms) <= 0)
        return false;
    return fds[0].revents != 0;
}
