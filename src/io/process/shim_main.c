/* SPDX-License-Identifier: MIT
 * turncast-shim: process reaper (child subreaper) for one agent. Starts it, reaps all
 * descendants, reports to the host, and exits only when no descendant is left. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/sys/clock.h"
#include "io/process/cgroup.h"
#include "io/process/process_tree.h"
#include "io/process/shim_exec.h"
#include "io/process/shim_protocol.h"

#define ORPHANED_MS 300 /* from SIGTERM to SIGKILL, after the host's exit */
#define ROUND_MS 10
#define SLOW_ROUND_MS 500
#define ROUNDS_MAX 200 /* afterwards, processes that cannot be killed are retried slowly */

struct shim_state {
    int signals;      /* a signalfd for SIGCHLD */
    bool host;        /* the host is connected */
    pid_t agent;      /* process id of the agent; 0: exited */
    int64_t kill_ms;  /* when to kill all processes; -1: not set */
    int64_t lease_ms; /* deadline of the host's lease; 0: none */
    unsigned rounds, killed;
    const char *cgroup; /* or NULL */
};

static void shim_main_send_report(enum shim_kind kind, int value)
{
    const struct shim_report r = {.kind = kind, .value = value};
    /* Ignores errors, because the host may have exited. */
    (void)!send(SHIM_CONTROL_FD, &r, sizeof r, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* Reaps exited children; false: no child is left, so no descendant is. */
static bool shim_main_reap_children(struct shim_state *s)
{
    for (;;) {
        int status;
        const pid_t pid = waitpid(-1, &status, WNOHANG | __WALL);
        if (pid <= 0)
            return pid == 0 || errno != ECHILD;
        if (pid == s->agent) {
            s->agent = 0;
            shim_main_send_report(SHIM_EXITED, status);
        } else if (s->kill_ms >= 0) {
            s->killed++;
        }
    }
}

static void shim_main_signal_agent(const struct shim_state *s, int signo)
{
    if (s->agent)
        kill(-s->agent, signo);
}

static void shim_main_handle_lost_host(struct shim_state *s)
{
    s->host = false;
    if (s->kill_ms >= 0)
        return;
    shim_main_signal_agent(s, SIGTERM);
    s->kill_ms = clock_mono_ms() + (s->agent ? ORPHANED_MS : 0);
}

static void shim_main_read_commands(struct shim_state *s)
{
    union {
        unsigned char byte;
        struct shim_lease lease;
    } asked;
    ssize_t n;
    while ((n = recv(SHIM_CONTROL_FD, &asked, sizeof asked, MSG_DONTWAIT)) > 0)
        if (n == (ssize_t)sizeof asked.lease)
            s->lease_ms = asked.lease.until_ms;
        else if (asked.byte == SHIM_KILL)
            s->kill_ms = 0;
        else
            shim_main_signal_agent(s, asked.byte);
    if (n == 0 || (errno != EAGAIN && errno != EINTR))
        shim_main_handle_lost_host(s);
}

/* Kills when due; returns the time until the next action. */
static int shim_main_kill_if_due(struct shim_state *s)
{
    const int64_t now = clock_mono_ms();
    if (s->lease_ms && now >= s->lease_ms)
        s->kill_ms = 0;
    if (s->kill_ms < 0)
        return s->lease_ms ? (int)(s->lease_ms - now) : -1;
    if (s->kill_ms > now)
        return (int)(s->kill_ms - now);
    if (s->cgroup)
        cgroup_kill(s->cgroup);
    process_tree_kill_descendants(getpid());
    return s->rounds++ < ROUNDS_MAX ? ROUND_MS : SLOW_ROUND_MS;
}

static void shim_main_wait_for_event(struct shim_state *s, int ms)
{
    struct pollfd fds[] = {
        {.fd = s->signals, .events = POLLIN},
        {.fd = s->host ? SHIM_CONTROL_FD : -1, .events = POLLIN},
    };
    if (poll(fds, 2, ms) <= 0)
        return;
    struct signalfd_siginfo info;
    if (fds[0].revents && read(s->signals, &info, sizeof info) < 0)
        return;
    if (fds[1].revents)
        shim_main_read_commands(s);
}

/* Signals for the agent go to its group only: the shim ignores all except SIGKILL and SIGSTOP, and
 * is not dumpable, so that an agent of the same user cannot inspect it. */
static int shim_main_prepare(void)
{
    sigset_t all, child;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    signal(SIGCHLD, SIG_DFL);
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    setsid();
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    prctl(PR_SET_DUMPABLE, 0);
    return signalfd(-1, &child, SFD_NONBLOCK | SFD_CLOEXEC);
}

static int shim_main_parse_args(int argc, char **argv, struct shim_exec_spec *a)
{
    if (argc < 2 || strcmp(argv[1], SHIM_PROTOCOL) != 0)
        return -1;
    int option;
    optind = 2;
    while ((option = getopt(argc, argv, "+d:u:n:l:g:")) >= 0)
        switch (option) {
        case 'd':
            a->cwd = optarg;
            break;
        case 'u':
            a->user = optarg;
            break;
        case 'n':
            a->files = optarg;
            break;
        case 'l':
            a->limits = optarg;
            break;
        case 'g':
            a->cgroup = optarg;
            break;
        default:
            return -1;
        }
    a->argv = argv + optind;
    return *a->argv ? 0 : -1;
}

int main(int argc, char **argv)
{
    struct shim_exec_spec agent = {0};
    if (shim_main_parse_args(argc, argv, &agent) < 0)
        return 2;
    struct shim_state s = {
        .signals = shim_main_prepare(), .host = true, .kill_ms = -1, .cgroup = agent.cgroup};
    struct shim_report failure;
    if (s.signals < 0)
        return 1;
    shim_main_send_report(SHIM_READY, 0); /* before an agent exists that could kill this shim */
    s.agent = shim_exec_agent(&agent, &failure);
    if (s.agent < 0) {
        (void)!send(SHIM_CONTROL_FD, &failure, sizeof failure, MSG_NOSIGNAL);
        if (s.cgroup)
            cgroup_remove(s.cgroup);
        _exit(0);
    }
    for (int fd = 0; fd < 3; fd++)
        close(fd); /* they belong to the agent alone: readers must see their end */
    while (shim_main_reap_children(&s))
        shim_main_wait_for_event(&s, shim_main_kill_if_due(&s));
    if (s.cgroup)
        cgroup_remove(s.cgroup);
    shim_main_send_report(SHIM_KILLED, (int)s.killed);
    /* Skips exit handlers: a leak checker could not inspect this process. */
    _exit(0);
}
