/* SPDX-License-Identifier: MIT
 * Orders the steps of the sandbox, and reports features that the kernel lacks. */
#include "io/sandbox/sandbox.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/bytes/buf.h"
#include "base/cleanup.h"
#include "io/sandbox/sandbox_internal.h"

#define DESCRIPTORS 256
/* The kernel counts threads per user, not per process: above this number, this process gets no more
 * threads, while the host, with the full limit, still does. */
#define USER_THREADS 4096

/* --- first stage: before the plugin is loaded ---------------------------------------------- */

static int sandbox_lower_rlimit(int what, rlim_t to)
{
    struct rlimit limit;
    if (getrlimit(what, &limit) < 0)
        return -1;
    if (limit.rlim_max < to)
        to = limit.rlim_max;
    return setrlimit(what, &(struct rlimit){to, to});
}

static int limit_threads(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NPROC, &limit) < 0)
        return -1;
    return sandbox_lower_rlimit(RLIMIT_NPROC, limit.rlim_max == RLIM_INFINITY ? USER_THREADS
                                                                              : limit.rlim_max / 2);
}

static int sandbox_compare_fds(const void *a, const void *b)
{
    const int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

static int sandbox_close_other_fds(const int *keep, size_t n)
{
    CLEANUP_FREE int *sorted = xcalloc(n + 1, sizeof *sorted);
    if (n)
        memcpy(sorted, keep, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, sandbox_compare_fds);
    unsigned from = 0;
    for (size_t i = 0; i < n; i++) {
        const unsigned fd = (unsigned)sorted[i];
        if (fd > from && close_range(from, fd - 1, 0) < 0)
            return -1;
        from = fd + 1;
    }
    return close_range(from, ~0U, 0);
}

/* A later open must not return descriptor 1, which is standard output. */
static int sandbox_fill_stdio(void)
{
    int fd;
    do
        fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    while (fd >= 0 && fd <= 2);
    return fd < 0 ? -1 : close(fd);
}

/* Leaves the foreground process group, so that the terminal sends it no signals. */
static int sandbox_become_session_leader(void)
{
    return getsid(0) == getpid() || setsid() >= 0 ? 0 : -1;
}

static int sandbox_isolate_process(const struct sandbox_detach_spec *start, struct tc_err *err)
{
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || prctl(PR_SET_DUMPABLE, 0) < 0 ||
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return err_set_errno(err, errno, NULL, "cannot isolate the connector process (prctl)");
    if (getppid() != start->parent)
        return err_set(err, NULL, "parent process %ld has exited", (long)start->parent);
    if (getpgrp() != getpid() && sandbox_become_session_leader() < 0)
        return err_set_errno(err, errno, NULL, "cannot start a new session (setsid)");
    return 0;
}

int sandbox_detach_process(const struct sandbox_detach_spec *start, struct tc_err *err)
{
    const char *const dir = start->dir ? start->dir : "/";
    if (sandbox_isolate_process(start, err) < 0)
        return -1;
    if (sandbox_close_other_fds(start->keep, start->n_keep) < 0 || sandbox_fill_stdio() < 0)
        return err_set_errno(err, errno, NULL, "cannot close inherited file descriptors");
    if (sandbox_lower_rlimit(RLIMIT_CORE, 0) < 0 ||
        sandbox_lower_rlimit(RLIMIT_NOFILE, DESCRIPTORS) < 0 || limit_threads() < 0)
        return err_set_errno(err, errno, NULL, "cannot set resource limits");
    if (chdir(dir) < 0)
        return err_set_errno(err, errno, dir, "cannot change to this directory");
    umask(077);
    return 0;
}

/* --- second stage: before the plugin's init ---------------------------------------------- */

struct sandbox_features sandbox_probe_kernel(void)
{
    return (struct sandbox_features){
        .landlock = sandbox_landlock_version(),
        .seccomp = sandbox_seccomp_is_supported(),
    };
}

/* Landlock applies to the calling thread and to threads that it creates. */
static void sandbox_check_threads(sandbox_warn_fn *warn, void *ctx)
{
    unsigned n = 0;
    DIR *const tasks = opendir("/proc/self/task");
    for (const struct dirent *d; tasks && (d = readdir(tasks));)
        n += d->d_name[0] != '.';
    if (tasks)
        closedir(tasks);
    if (n > 1 && !SANDBOX_SANITIZER_BUILD)
        warn(ctx, "a plugin constructor started threads; Landlock does not apply to them, so they "
                  "can open every file of this user");
}

/* Capabilities that a connector has with versions of Landlock before `until`. */
static const struct gap {
    int from, until;
    bool filtered; /* not if seccomp is available */
    bool connects; /* only with ports, or if sockets are not refused otherwise */
    const char *what;
} gaps[] = {
    {0, 1, false, false, "open every file of this user"},
    {1, 3, true, false, "truncate every file of this user"},
    {0, SANDBOX_PORTS, false, true, "connect to every port"},
};

char *sandbox_describe_landlock_gaps(const struct sandbox_features *kernel, bool has_ports)
{
    CLEANUP_BUF struct buf text = {0};
    const int version = kernel->landlock;
    const bool connects = has_ports || !kernel->seccomp;
    for (const struct gap *g = gaps; g < gaps + sizeof gaps / sizeof gaps[0]; g++)
        if (version >= g->from && version < g->until && (connects || !g->connects) &&
            !(kernel->seccomp && g->filtered))
            buf_printf(&text, "%s%s", text.len ? ", and " : ": connectors can ", g->what);
    if (!text.len)
        return NULL;
    return version ? xasprintf("the kernel's Landlock ABI is version %d%s", version, text.p)
                   : xasprintf("this kernel has no Landlock%s", text.p);
}

const char *sandbox_describe_seccomp_gaps(const struct sandbox_features *kernel)
{
    return kernel->seccomp ? NULL
                           : "this kernel has no seccomp: connectors can start programs, signal "
                             "processes of this user, use its sockets, and change the mode, the "
                             "owner and the times of its files";
}

static void sandbox_warn_about_gaps(const struct sandbox_features *kernel,
                                    const struct sandbox_spec *spec, sandbox_warn_fn *warn,
                                    void *ctx)
{
    CLEANUP_FREE char *landlock = sandbox_describe_landlock_gaps(kernel, spec->n_ports > 0);
    const char *const seccomp = sandbox_describe_seccomp_gaps(kernel);
    if (landlock)
        warn(ctx, landlock);
    if (seccomp)
        warn(ctx, seccomp);
}

/* Drops root's capabilities, except those that come from owning a file. */
static int drop_capabilities(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    const struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {0};
    return (int)syscall(SYS_capset, &header, none);
}

static int sandbox_apply(const struct sandbox_features *kernel, const struct sandbox_spec *spec,
                         struct tc_err *err)
{
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return err_set_errno(err, errno, spec->label, "cannot set no_new_privs");
    if (kernel->landlock && sandbox_landlock_enter(kernel->landlock, spec, err) < 0)
        return -1;
    if (drop_capabilities() < 0)
        return err_set_errno(err, errno, spec->label, "cannot drop capabilities");
    if (spec->memory && !SANDBOX_SANITIZER_BUILD &&
        sandbox_lower_rlimit(RLIMIT_AS, spec->memory) < 0)
        return err_set_errno(err, errno, spec->label, "cannot set the memory limit");
    if (spec->data && !SANDBOX_SANITIZER_BUILD && sandbox_lower_rlimit(RLIMIT_DATA, spec->data) < 0)
        return err_set_errno(err, errno, spec->label, "cannot set the memory limit");
    if (spec->file_size && sandbox_lower_rlimit(RLIMIT_FSIZE, spec->file_size) < 0)
        return err_set_errno(err, errno, spec->label, "cannot set the file size limit");
    return kernel->seccomp ? sandbox_seccomp_enter(kernel->landlock, spec, err) : 0;
}

int sandbox_enter_with(const struct sandbox_features *kernel, const struct sandbox_spec *spec,
                       sandbox_warn_fn *warn, void *ctx, struct tc_err *err)
{
    if (kernel->landlock)
        sandbox_check_threads(warn, ctx);
    sandbox_warn_about_gaps(kernel, spec, warn, ctx);
    return sandbox_apply(kernel, spec, err);
}

int sandbox_enter(const struct sandbox_spec *spec, sandbox_warn_fn *warn, void *ctx,
                  struct tc_err *err)
{
    const struct sandbox_features kernel = sandbox_probe_kernel();
    return sandbox_enter_with(&kernel, spec, warn, ctx, err);
}
