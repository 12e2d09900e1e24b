/* SPDX-License-Identifier: MIT
 * Tests of a child with a lease: the shim kills the child when the lease ends, whatever the host
 * does. */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/sys/clock.h"
#include "fake/children.h"
#include "io/process/process.h"
#include "tap/tap.h"

#define DEADLINE_MS 60000
#define LONG_MS INT64_C(3600000)

static struct loop *loop;
static bool has_output, exited;
static int status;

static void on_failed(void *ctx, const struct tc_err *err)
{
    (void)ctx;
    bail("%s", err_format(err));
}

static void on_out(void *ctx, const char *bytes, size_t n)
{
    (void)ctx, (void)bytes, (void)n;
    has_output = true;
}

static void on_err(void *ctx, const char *bytes, size_t n)
{
    (void)ctx, (void)bytes, (void)n;
}

static void on_out_end(void *ctx)
{
    (void)ctx;
}

static void on_gone(void *ctx, int how)
{
    (void)ctx;
    exited = true;
    status = how;
}

static struct process *spawn(const char *const *argv)
{
    static const struct process_events events = {on_failed, on_out, on_err, on_out_end, on_gone};
    static const char *const env[] = {"PATH=/usr/bin:/bin", NULL};
    struct tc_err err = {0};
    has_output = exited = false;
    struct process *const p =
        process_spawn(loop, &(struct process_spec){.argv = argv, .env = env}, &events, NULL, &err);
    if (!p)
        bail("%s", err_format(&err));
    return p;
}

static bool wait_until(const bool *flag)
{
    const int64_t until = clock_mono_ms() + DEADLINE_MS;
    while (!*flag && clock_mono_ms() < until)
        loop_run_once(loop, 1000);
    return *flag;
}

#define WORDS(...) ((const char *const[]){children_agent(), __VA_ARGS__, NULL})

static void test_lease_ends(void)
{
    struct process *const p = spawn(WORDS("ignore=15", "child=setsid", "text=ready", "sleep"));
    ok(wait_until(&has_output), "a child with a lease is running");
    process_set_lease(p, clock_mono_ms() + LONG_MS);
    process_set_lease(p, clock_mono_ms() + 1);
    ok(wait_until(&exited) && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL,
       "the child is killed when the lease ends");
    while (process_kill_tree(p) > 0)
        continue;
    is_int((long long)process_count_killed(p), 1,
           "the processes that the child has started are killed");
    process_free(p);
}

static void test_lease_removed(void)
{
    struct process *const p = spawn(WORDS("text=ready", "echo=1", "exit=0"));
    wait_until(&has_output);
    process_set_lease(p, clock_mono_ms() + LONG_MS);
    process_set_lease(p, 0);
    process_write(p, "x\n", 2);
    ok(wait_until(&exited) && WIFEXITED(status), "a child whose lease was removed ends by itself");
    process_free(p);
}

/* A suspended host, which does nothing. */
static void test_suspended_host(void)
{
    int fds[2];
    if (pipe(fds) < 0)
        bail("no pipe");
    const pid_t host = fork();
    if (host == 0) {
        loop = loop_new(); /* not the loop of the parent */
        struct process *const p = spawn(WORDS("child=setsid", "text=ready", "sleep"));
        wait_until(&has_output);
        const pid_t shim = process_pid(p);
        process_set_lease(p, clock_mono_ms() + 1);
        (void)!write(fds[1], &shim, sizeof shim);
        raise(SIGSTOP);
        _exit(0);
    }
    pid_t shim = 0;
    ok(read(fds[0], &shim, sizeof shim) == (ssize_t)sizeof shim,
       "a host is suspended while its child runs");
    siginfo_t info = {0};
    waitid(P_PID, (id_t)host, &info, WSTOPPED);
    const int64_t until = clock_mono_ms() + DEADLINE_MS;
    char stat[64], text[4096] = "";
    snprintf(stat, sizeof stat, "/proc/%d/stat", shim);
    while (!strstr(text, ") Z ") && clock_mono_ms() < until) {
        poll(NULL, 0, 10);
        FILE *const f = fopen(stat, "re");
        const size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
        text[n] = 0;
        if (f)
            fclose(f);
    }
    ok(strstr(text, ") Z "), "the shim has killed all processes of the child and has exited");
    kill(host, SIGKILL);
    waitpid(host, NULL, 0);
    close(fds[0]);
    close(fds[1]);
}

int main(void)
{
    plan_lazy();
    loop = loop_new();
    test_lease_ends();
    test_lease_removed();
    test_suspended_host();
    loop_free(loop);
    return 0;
}
