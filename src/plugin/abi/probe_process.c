/* SPDX-License-Identifier: MIT
 * The process that loads files for the first time, each in a separate fork. */
#include "plugin/abi/probe_process.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/bytes/pack.h"
#include "base/cleanup.h"
#include "io/sandbox/sandbox.h"
#include "plugin/abi/adjacent_libraries.h"
#include "plugin/abi/loader_internal.h"

/* ---- probing a file ---- */

#define TRIAL_MEMORY ((size_t)2 << 30) /* limit of the address space */

/* Missing kernel features are reported later, when an instance starts. */
static void ignore_warning(UNUSED void *ctx, UNUSED const char *text)
{
}

/* Loading runs code of the file, so the fork is restricted like the process of an instance. */
static int enter_sandbox(struct tc_err *err)
{
    struct arena arena = {0};
    const struct sandbox_spec spec = {
        .read_fd = PROBE_FILE,
        .read_files = adjacent_libraries_list_libraries(PROBE_FILE, &arena),
        .memory = TRIAL_MEMORY,
    };
    const int rc = sandbox_enter(&spec, ignore_warning, NULL, err);
    arena_fini(&arena);
    return rc;
}

/* Restores default signal actions, so that a crash is visible as such: a sanitizer would turn it
 * into an exit. */
static int probe_process_confine(pid_t parent, struct tc_err *err)
{
    static const int keep[] = {PROBE_OUT, PROBE_FILE};
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        signal(faults[i], SIG_DFL);
    const struct sandbox_detach_spec start = {
        .parent = parent,
        .keep = keep,
        .n_keep = sizeof keep / sizeof *keep,
    };
    return sandbox_detach_process(&start, err) < 0 ? -1 : enter_sandbox(err);
}

/* Writes a message: its length, whether the file passed, and the descriptor or the error. */
static void probe_process_send_result(bool passed, struct str told)
{
    CLEANUP_BUF struct buf message = {0};
    pack_int64(&message, (int64_t)(sizeof(int64_t) + 1 + told.len + 1));
    pack_bool(&message, passed);
    pack_bytes(&message, told);
    for (size_t at = 0; at < message.len;) {
        const ssize_t n = write(PROBE_OUT, message.p + at, message.len - at);
        if (n <= 0)
            return;
        at += (size_t)n;
    }
}

__attribute__((__noreturn__)) static void probe_process_load_file(int i, pid_t parent)
{
    CLEANUP_BUF struct buf record = {0};
    struct tc_err err = {0};
    if (i > 0 &&
        (dup2(PROBE_OUT + 2 * i, PROBE_OUT) < 0 || dup2(PROBE_FILE + 2 * i, PROBE_FILE) < 0))
        _exit(1);
    if (probe_process_confine(parent, &err) == 0 &&
        loader_describe_in_process(PROBE_FILE, &record, &err) == 0)
        probe_process_send_result(true, (struct str){record.p, record.len});
    else
        probe_process_send_result(false, (struct str){err.text, strlen(err.text)});
    _exit(0);
}

/* ---- the forking process ---- */

struct probe_process {
    pid_t *pids; /* pids of forks; 0: reaped */
    int n;
};

/* Kills the fork with its process group. */
static void probe_process_kill_fork(const struct probe_process *all, int i)
{
    if (!all->pids[i])
        return;
    kill(all->pids[i], SIGKILL); /* if it has no group yet */
    kill(-all->pids[i], SIGKILL);
}

/* Writes a number in place of a message. A message without a reader, or a full pipe, does not
 * matter. */
static void probe_process_send_exit_status(int i, int status)
{
    CLEANUP_BUF struct buf message = {0};
    const int out = PROBE_OUT + 2 * i;
    pack_int64(&message, -1 - (int64_t)status);
    fcntl(out, F_SETFL, O_NONBLOCK);
    (void)!write(out, message.p, message.len);
    close(out);
}

static int probe_process_number_of(const struct probe_process *all, pid_t pid)
{
    int i = 0;
    while (i < all->n && all->pids[i] != pid)
        i++;
    return i;
}

/* False: no fork is left. */
static bool probe_process_reap_forks(const struct probe_process *all)
{
    siginfo_t gone;
    for (;;) {
        gone.si_pid = 0;
        if (waitid(P_ALL, 0, &gone, WEXITED | WNOWAIT | WNOHANG) < 0)
            return false;
        if (!gone.si_pid)
            return true;
        const int i = probe_process_number_of(all, gone.si_pid);
        int status = 0;
        probe_process_kill_fork(all, i); /* remaining processes */
        all->pids[i] = 0;
        waitpid(gone.si_pid, &status, 0);
        probe_process_send_exit_status(i, status);
    }
}

/* Waits until all forks have ended, or the host closes its end of the pipe; then kills the rest. */
static void probe_process_wait_for_forks(const struct probe_process *all, const sigset_t *signals)
{
    while (probe_process_reap_forks(all))
        if (sigwaitinfo(signals, NULL) == SIGTERM)
            break;
    for (int i = 0; i < all->n; i++)
        probe_process_kill_fork(all, i);
}

void probe_process_main(pid_t host, int n)
{
    const pid_t self = getpid();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != host)
        _exit(1);
    const struct probe_process all = {xcalloc((size_t)n, sizeof(pid_t)), n};
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGCHLD);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    for (int i = 0; i < n; i++) {
        all.pids[i] = fork();
        if (all.pids[i] == 0) {
            sigprocmask(SIG_UNBLOCK, &signals, NULL);
            probe_process_load_file(i, self);
        }
        if (all.pids[i] < 0)
            all.pids[i] = 0; /* its pipe closes with this process */
    }
    probe_process_wait_for_forks(&all, &signals);
    _exit(0);
}
