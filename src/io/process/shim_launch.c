/* SPDX-License-Identifier: MIT
 * Starts a shim. fork() would block the host in proportion to its size: 15 ms per gigabyte, and 3
 * ms for 20,000 descriptors. So the child shares memory and descriptors until exec, similar to
 * posix_spawn, which copies descriptors; the shim makes all other settings. */
#include "io/process/shim_launch.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/close_range.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/attr.h"
#include "base/bytes/buf.h"
#include "base/cleanup.h"
#include "io/process/cgroup.h"
#include "io/process/libexec.h"

#define NAME "turncast-shim"
#define WORDS_MAX 16 /* arguments before the program */
#define STACK_SIZE 32768

_Static_assert(SHIM_CONTROL_FD == LOOP_PLACES - 1, "a place for each, and its number");

/* --- how it is called ------------------------------------------------------------------------- */

struct shim_argv {
    const char **words;
    struct buf user, limits, files; /* some of them */
};

static void shim_launch_argv_fini(struct shim_argv *c)
{
    free(c->words);
    buf_fini(&c->user);
    buf_fini(&c->limits);
    buf_fini(&c->files);
}

static void add_limit(struct buf *out, int resource, int64_t limit)
{
    if (limit)
        buf_printf(out, "%s%d:%" PRId64, out->len ? ":" : "", resource, limit);
}

static void add_limits(struct buf *out, const struct conf_limits *l)
{
    add_limit(out, RLIMIT_DATA, l->memory_mb << 20);
    add_limit(out, RLIMIT_NPROC, l->processes);
    add_limit(out, RLIMIT_NOFILE, l->files);
    add_limit(out, RLIMIT_CPU, l->cpu_s);
}

/* Without privileges, supplementary groups are kept if the user is unchanged. */
static void add_user(struct buf *out, const struct conf_user *u)
{
    if (geteuid() == u->uid)
        return;
    buf_printf(out, "%u:%u", u->uid, u->gid);
    for (size_t i = 0; i < u->n_groups && i < SHIM_MAX_GROUPS; i++)
        buf_printf(out, ":%u", u->groups[i]);
}

static size_t shim_launch_add_option(const char **at, const char *name, const char *value)
{
    if (!value)
        return 0;
    at[0] = name;
    at[1] = value;
    return 2;
}

static void shim_launch_argv_init(struct shim_argv *c, const struct process_spec *spec,
                                  uint64_t files, const char *cgroup)
{
    size_t n = 0, args = 0;
    while (spec->argv[args])
        args++;
    *c = (struct shim_argv){.words = xcalloc(WORDS_MAX + args + 1, sizeof *c->words)};
    if (spec->user)
        add_user(&c->user, spec->user);
    if (spec->limits)
        add_limits(&c->limits, spec->limits);
    if (files)
        buf_printf(&c->files, "%" PRIu64, files);
    c->words[n++] = NAME;
    c->words[n++] = SHIM_PROTOCOL;
    n += shim_launch_add_option(c->words + n, "-d", spec->cwd);
    n += shim_launch_add_option(c->words + n, "-u", c->user.p);
    n += shim_launch_add_option(c->words + n, "-n", c->files.p);
    n += shim_launch_add_option(c->words + n, "-l", c->limits.p);
    n += shim_launch_add_option(c->words + n, "-g", cgroup);
    c->words[n++] = "--";
    memcpy(c->words + n, spec->argv, args * sizeof *c->words);
}

/* --- its start -------------------------------------------------------------------------------- */

int shim_launch_dup_above_stdio(int fd)
{
    if (fd > 2)
        return fd;
    const int high = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    close(fd);
    return high;
}

/* Data for the child, which shares the host's memory until exec. */
struct shim_launch_state {
    const char *path;
    const char *const *argv, *const *env;
    const int *places;
    int error;
};

/* Runs in the child, which shares the host's descriptors until it gets a separate table with only
 * the needed ones. Uses system calls only, because state of libraries and sanitizers belongs to the
 * host. */
UNSANITIZED static int shim_launch_child_main(void *arg)
{
    struct shim_launch_state *const b = arg;
    long rc = syscall(SYS_close_range, (unsigned)b->places[LOOP_PLACES - 1] + 1, UINT_MAX,
                      CLOSE_RANGE_UNSHARE);
    if (rc < 0) /* a kernel before 5.9, or a filter: all are copied, and close at exec */
        rc = syscall(SYS_unshare, CLONE_FILES);
    for (int i = 0; i < LOOP_PLACES && rc >= 0; i++)
        rc = syscall(SYS_dup3, b->places[i], i, 0);
    if (rc >= 0) {
        syscall(SYS_close_range, LOOP_PLACES, UINT_MAX, 0);
        syscall(SYS_execve, b->path, b->argv, b->env);
    }
    b->error = errno;
    syscall(SYS_exit_group, 127);
    return 127;
}

/* Declared under a name that sanitizers do not intercept: they treat each clone as a fork with
 * separate memory. */
extern __typeof__(clone) __clone;

/* This thread continues when the child has executed or exited, like with vfork. */
static int shim_launch_clone(struct shim_launch_state *b, pid_t *pid)
{
    _Alignas(64) char stack[STACK_SIZE];
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* also seen by the child, which keeps it */
    *pid = __clone(shim_launch_child_main, stack + sizeof stack,
                   CLONE_VM | CLONE_VFORK | CLONE_FILES | SIGCHLD, b);
    const int error = *pid < 0 ? errno : b->error;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (*pid >= 0 && error)
        waitpid(*pid, NULL, 0);
    return error;
}

/* Duplicates `fds` to the reserved numbers; NULL: fills those numbers with placeholders. */
static void shim_launch_fill_reserved_fds(const struct loop_reserved_fds *places, const int *fds)
{
    for (int i = 0; i < LOOP_PLACES; i++)
        dup3(fds ? fds[i] : places->idle, places->at[i], O_CLOEXEC);
}

/* 0, or an errno. */
static int shim_launch_spawn(const char *path, const struct process_spec *spec,
                             const struct loop *l, const char *cgroup, const int fds[LOOP_PLACES],
                             pid_t *pid)
{
    struct shim_argv call;
    shim_launch_argv_init(&call, spec, loop_original_nofile(l), cgroup);
    const struct loop_reserved_fds *const places = loop_get_reserved_fds(l);
    struct shim_launch_state birth = {path, call.words, spec->env, places->at, 0};
    shim_launch_fill_reserved_fds(places, fds);
    const int error = shim_launch_clone(&birth, pid);
    shim_launch_fill_reserved_fds(places, NULL);
    shim_launch_argv_fini(&call);
    return error;
}

static int shim_launch_fork(const char *path, const struct process_spec *spec, const struct loop *l,
                            const int stdio[3], struct shim_handle *out, struct tc_err *err)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        return err_set_errno(err, errno, spec->argv[0], "cannot create a socket pair");
    CLEANUP_FD int ours = shim_launch_dup_above_stdio(ends[0]);
    CLEANUP_FD const int theirs = shim_launch_dup_above_stdio(ends[1]);
    const int fds[] = {stdio[0], stdio[1], stdio[2], theirs};
    const int error = shim_launch_spawn(path, spec, l, out->cgroup, fds, &out->pid);
    if (error)
        return err_set_errno(err, error, spec->argv[0],
                             "cannot execute the helper program %s; reinstall turncast", path);
    out->control = ours;
    ours = -1;
    return 0;
}

int shim_launch_start(const struct process_spec *spec, const struct loop *l, const int stdio[3],
                      struct shim_handle *out, struct tc_err *err)
{
    const int64_t max = spec->limits ? spec->limits->processes : 0;
    CLEANUP_FREE char *path = libexec_find(NAME, "TURNCAST_SHIM", spec->argv[0], err);
    if (!path)
        return -1;
    *out = (struct shim_handle){.cgroup = spec->name ? cgroup_create(spec->name, max) : NULL};
    if (shim_launch_fork(path, spec, l, stdio, out, err) == 0)
        return 0;
    if (out->cgroup)
        cgroup_remove(out->cgroup);
    free(out->cgroup);
    return -1;
}

int shim_launch_explain(const char *command, const char *cwd, const struct shim_report *r,
                        struct tc_err *err)
{
    switch (r->step) {
    case SHIM_FORK:
        return err_set_errno(err, r->value, command, "cannot fork");
    case SHIM_LIMITS:
        return err_set_errno(err, r->value, command, "cannot set resource limits (limits)");
    case SHIM_USER:
        return err_set_errno(
            err, r->value, command,
            "cannot switch to the configured user (user); turncast must run as root for that");
    case SHIM_CWD:
        return err_set_errno(err, r->value, command, "cannot change to working directory %s (cwd)",
                             cwd);
    case SHIM_INTERPRETER:
        return err_set_errno(err, r->value, command,
                             "cannot execute the interpreter named in its #! line");
    case SHIM_EXEC:
        break;
    }
    const char *const reason = strerrordesc_np(r->value);
    return err_set(err, command, "%s", reason ? reason : "cannot execute");
}
