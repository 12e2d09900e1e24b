/* SPDX-License-Identifier: MIT
 * Tests of the descriptors of the host: how many a child uses, which a child inherits, and a child
 * that ends when none is free. */
#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/sys/clock.h"
#include "fake/children.h"
#include "io/process/process.h"
#include "tap/tap.h"

#define DEADLINE_MS 60000
#define CHILDREN 20
#define MANY 1500
#define A_CHILD 4 /* three pipes and the shim */

struct watched {
    struct process *p;
    bool exited;
    int status;
};

static struct loop *loop;

static void ignore_failure(void *ctx, const struct tc_err *err)
{
    (void)ctx;
    (void)err;
}

static void ignore(void *ctx, const char *bytes, size_t n)
{
    (void)ctx;
    (void)bytes;
    (void)n;
}

static void ignore_end(void *ctx)
{
    (void)ctx;
}

static void on_gone(void *ctx, int status)
{
    struct watched *const w = ctx;
    w->exited = true;
    w->status = status;
}

static void spawn(struct watched *w, const char *word)
{
    static const struct process_events events = {ignore_failure, ignore, ignore, ignore_end,
                                                 on_gone};
    static const char *const env[] = {"PATH=/usr/bin:/bin", NULL};
    const char *const argv[] = {children_agent(), word, NULL};
    struct tc_err err = {0};
    *w = (struct watched){0};
    w->p = process_spawn(loop, &(struct process_spec){.argv = argv, .env = env}, &events, w, &err);
    if (!w->p)
        bail("%s", err_format(&err));
}

static bool wait_until(const bool *flag)
{
    const int64_t until = clock_mono_ms() + DEADLINE_MS;
    while (!*flag && clock_mono_ms() < until)
        loop_run_once(loop, 1000);
    return *flag;
}

/* Lowers the limit so that no descriptor is free. Returns the previous limit. */
static struct rlimit use_all(void)
{
    struct rlimit before;
    getrlimit(RLIMIT_NOFILE, &before);
    const int next = dup(0);
    close(next);
    setrlimit(RLIMIT_NOFILE, &(struct rlimit){(rlim_t)next, before.rlim_max});
    return before;
}

static void test_many_at_once(void)
{
    struct watched w[CHILDREN];
    const unsigned fds = children_open_fds();
    for (int i = 0; i < CHILDREN; i++)
        spawn(&w[i], "sleep");
    is_int(children_open_fds() - fds, CHILDREN * A_CHILD, "a child uses four descriptors");
    const struct rlimit before = use_all();
    ok(dup(0) < 0 && errno == EMFILE, "no descriptor is free");
    int alive = 0;
    for (int i = 0; i < CHILDREN; i++) {
        const int64_t until = clock_mono_ms() + DEADLINE_MS;
        while (process_kill_tree(w[i].p) && clock_mono_ms() < until)
            ;
        alive += process_kill_tree(w[i].p) != 0;
    }
    is_int(alive, 0, "all children can be killed");
    ok(wait_until(&w[CHILDREN - 1].exited) && WIFSIGNALED(w[CHILDREN - 1].status),
       "the status of a killed child is reported");
    for (int i = 0; i < CHILDREN; i++)
        process_free(w[i].p);
    setrlimit(RLIMIT_NOFILE, &before);
    ok(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD, "no child is left");
    is_int(children_open_fds(), fds, "no descriptor is left");
}

/* Whether a child of this process has exactly three descriptors. */
static bool has_three(struct watched *w)
{
    char dump[4200];
    snprintf(dump, sizeof dump, "dump=%s/dump", tap_tmpdir());
    spawn(w, dump);
    const bool ended = wait_until(&w->exited) && w->status == 0;
    process_free(w->p);
    char *const text = tap_slurp(dump + 5, NULL);
    const bool three = ended && strstr(text, "\"fds\":[0,1,2]");
    free(text);
    return three;
}

/* Some descriptors are below the range that the shim closes one by one, most are above; none is
 * close-on-exec. */
static void test_host_with_many(void)
{
    static int open_fds[MANY];
    for (int i = 0; i < MANY; i++)
        open_fds[i] = dup(0);
    struct watched w;
    ok(has_three(&w), "a child of a host with many descriptors has three");
    for (int i = 0; i < MANY; i++)
        close(open_fds[i]);
}

/* Runs in a child, because a filter cannot be removed. */
static bool has_three_without_close_range(void)
{
    const pid_t pid = fork();
    if (pid == 0) {
        struct watched w;
        scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
        loop = loop_new();
        if (!filter || seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(close_range), 0) ||
            seccomp_load(filter))
            _exit(2);
        _exit(has_three(&w) ? 0 : 1);
    }
    int status = -1;
    waitpid(pid, &status, 0);
    return status == 0;
}

static void test_without_close_range(void)
{
    const int open_fd = dup(0);
    ok(has_three_without_close_range(),
       "a child has three descriptors where the kernel has no close_range");
    close(open_fd);
}

int main(void)
{
    plan_lazy();
    loop = loop_new();
    test_many_at_once();
    test_host_with_many();
    test_without_close_range();
    loop_free(loop);
    return 0;
}
