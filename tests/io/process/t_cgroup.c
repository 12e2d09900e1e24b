/* SPDX-License-Identifier: MIT
 * Tests of the cgroup of each child, within a cgroup that the test delegates to itself, and of a
 * host without cgroups. */
#include "io/process/cgroup.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/bytes/buf.h"
#include "base/sys/clock.h"
#include "io/process/process.h"
#include "tap/tap.h"

#define DEADLINE_MS 60000

static struct loop *loop;
static char before[4096], base[5000], leaf[5100]; /* directories */

struct watched {
    struct process *p;
    struct buf out;
    bool exited;
};

static void on_failed(void *ctx, const struct tc_err *err)
{
    (void)ctx;
    bail("%s", err_format(err));
}

static void on_out(void *ctx, const char *bytes, size_t n)
{
    buf_add(&((struct watched *)ctx)->out, bytes, n);
}

static void on_err(void *ctx, const char *bytes, size_t n)
{
    (void)ctx;
    diag("%.*s", (int)n, bytes);
}

static void on_out_end(void *ctx)
{
    (void)ctx;
}

static void on_gone(void *ctx, int status)
{
    (void)status;
    ((struct watched *)ctx)->exited = true;
}

static bool write_file(const char *directory, const char *name, const char *text)
{
    char path[6000];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *const f = fopen(path, "we");
    if (!f)
        return false;
    const bool written = fputs(text, f) >= 0;
    return fclose(f) == 0 && written;
}

/* Finds the cgroup of the test. */
static bool find_own(void)
{
    FILE *const mounts = fopen("/proc/self/mounts", "re"), *const own =
                                                               fopen("/proc/self/cgroup", "re");
    char line[4096], mount[2048] = "", path[2048] = "";
    while (mounts && !*mount && fgets(line, sizeof line, mounts))
        if (strstr(line, " cgroup2 "))
            sscanf(line, "%*s %2047s", mount);
    while (own && !*path && fgets(line, sizeof line, own))
        if (strncmp(line, "0::", 3) == 0)
            sscanf(line + 3, "%2047s", path);
    if (mounts)
        fclose(mounts);
    if (own)
        fclose(own);
    snprintf(before, sizeof before, "%s%s", mount, path);
    return *mount && *path;
}

static bool make_base(void)
{
    snprintf(base, sizeof base, "%s/turncast-test-%d", before, (int)getpid());
    snprintf(leaf, sizeof leaf, "%s/host", base);
    if (mkdir(base, 0755) < 0)
        return false;
    if (write_file(base, "cgroup.procs", "0"))
        return true;
    rmdir(base);
    return false;
}

static void leave_base(void)
{
    ok(write_file(before, "cgroup.procs", "0"), "the test returns to its own cgroup");
    ok(rmdir(leaf) == 0 && rmdir(base) == 0, "the cgroups of the test are removed");
}

static void spawn(struct watched *w, const char *line)
{
    static const struct process_events events = {on_failed, on_out, on_err, on_out_end, on_gone};
    static const char *const env[] = {"PATH=/usr/bin:/bin", "MARK=t_cgroup", NULL};
    const char *const argv[] = {"/bin/sh", "-c", line, NULL};
    const struct conf_limits limits = {.processes = 1000};
    const struct process_spec spec = {
        .argv = argv, .env = env, .mark = "MARK=t_cgroup", .name = "turn-1", .limits = &limits};
    *w = (struct watched){0};
    w->p = process_spawn(loop, &spec, &events, w, NULL);
    const int64_t until = clock_mono_ms() + DEADLINE_MS;
    while (!(w->out.p && strstr(w->out.p, "ready")) && clock_mono_ms() < until)
        loop_run_once(loop, 1000);
}

static bool is_tree_dead(void *process)
{
    return process_kill_tree(process) == 0;
}

static void end(struct watched *w, const char *what)
{
    char path[6000];
    snprintf(path, sizeof path, "%s/turn-1", base);
    ok(tap_wait(is_tree_dead, w->p, DEADLINE_MS), "%s: no process is left", what);
    ok(access(path, F_OK) < 0, "%s: the cgroup is removed", what);
    process_free(w->p);
    buf_fini(&w->out);
}

static void test_child(void)
{
    struct watched w;
    spawn(&w, "cat /proc/self/cgroup; setsid sleep 1000 & echo ready; sleep 1000");
    has_str(w.out.p, "/turn-1\n", "a child is in its own cgroup");
    char path[6000];
    snprintf(path, sizeof path, "%s/turn-1/cgroup.procs", base);
    char *const procs = tap_slurp(path, NULL);
    ok(procs && strchr(procs, '\n') != strrchr(procs, '\n'),
       "processes that the child has started are in its cgroup");
    free(procs);
    end(&w, "a child");
}

/* The orphan has another session, environment and parent, so only its cgroup identifies it. */
static void test_shim_killed(void)
{
    struct watched w;
    spawn(&w, "(env -i setsid sh -c 'echo ready; exec sleep 1000 >/dev/null 2>&1' &); cat");
    kill(process_pid(w.p), SIGKILL);
    end(&w, "a child without a shim");
}

static void test_failure(void)
{
    static const struct process_events events = {.failed = NULL};
    const char *const argv[] = {"/nonexistent/agent", NULL}, *const env[] = {NULL};
    const struct process_spec spec = {.argv = argv, .env = env, .name = "turn-1"};
    struct watched w = {0};
    w.p = process_spawn(loop, &spec, &events, &w, NULL);
    end(&w, "a program that cannot be executed");
}

int main(void)
{
    plan_lazy();
    loop = loop_new();
    ok(!cgroup_create("turn-1", 0), "no cgroup is created before the host has entered one");
    if (!find_own() || !make_base()) {
        skip(1, "cgroups cannot be created here");
        loop_free(loop);
        return 0;
    }
    ok(!cgroup_enter_leaf(), "a cgroup that is not delegated is not used");
    ok(access(leaf, F_OK) < 0, "nothing is created in a cgroup that is not delegated");
    if (setxattr(base, "user.delegate", "1", 1, 0) == 0 ||
        setxattr(base, "trusted.delegate", "1", 1, 0) == 0) {
        ok(cgroup_enter_leaf(), "a delegated cgroup is used");
        test_child();
        test_shim_killed();
        test_failure();
    } else {
        skip(1, "the cgroup cannot be marked as delegated");
        mkdir(leaf, 0755);
    }
    leave_base();
    loop_free(loop);
    return 0;
}
