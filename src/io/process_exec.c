/* SPDX-License-Identifier: MIT
 * Owns the start of a shim. posix_spawn does not copy the page tables of the host, which for a
 * gigabyte would be 15 ms in which no turn moves; what it cannot set, the shim sets. */
#include "io/process_exec.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "io/cgroup.h"

#define NAME "turncast-shim"
#define WORDS_MAX 16 /* in front of the program */

/* --- which program ---------------------------------------------------------------------------- */

static char *if_runs(char *path)
{
    if (access(path, X_OK) == 0)
        return path;
    free(path);
    return NULL;
}

/* Beside this program, as where it was built; else where it was installed with it, wherever that
 * was moved to; else where it was to be installed. Owned; NULL: nowhere. */
static char *find_shim(void)
{
    const char *const named = getenv("TURNCAST_SHIM");
    if (named)
        return if_runs(xstrdup(named));
    char self[4096];
    const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n > 0 ? n : 0] = '\0';
    char *const slash = strrchr(self, '/');
    char *path = NULL;
    if (slash) {
        *slash = '\0';
        path = if_runs(xasprintf("%s/" NAME, self));
        if (!path)
            path = if_runs(xasprintf("%s/../libexec/turncast/" NAME, self));
    }
    return path ? path : if_runs(xstrdup(TURNCAST_LIBEXECDIR "/" NAME));
}

/* --- how it is called ------------------------------------------------------------------------- */

struct call {
    const char **words;
    struct buf user, limits, files; /* some of them */
};

static void call_fini(struct call *c)
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

/* Who is that user already keeps what he has. */
static void add_user(struct buf *out, const struct conf_user *u)
{
    if (geteuid() == u->uid)
        return;
    buf_printf(out, "%u:%u", u->uid, u->gid);
    for (size_t i = 0; i < u->n_groups && i < SHIM_GROUPS_MAX; i++)
        buf_printf(out, ":%u", u->groups[i]);
}

static size_t add_option(const char **at, const char *name, const char *value)
{
    if (!value)
        return 0;
    at[0] = name;
    at[1] = value;
    return 2;
}

static void call_init(struct call *c, const struct process_spec *spec, uint64_t files,
                      const char *cgroup)
{
    size_t n = 0, args = 0;
    while (spec->argv[args])
        args++;
    *c = (struct call){.words = xcalloc(WORDS_MAX + args + 1, sizeof *c->words)};
    if (spec->user)
        add_user(&c->user, spec->user);
    if (spec->limits)
        add_limits(&c->limits, spec->limits);
    if (files)
        buf_printf(&c->files, "%" PRIu64, files);
    c->words[n++] = NAME;
    c->words[n++] = SHIM_PROTOCOL;
    n += add_option(c->words + n, "-d", spec->cwd);
    n += add_option(c->words + n, "-u", c->user.p);
    n += add_option(c->words + n, "-n", c->files.p);
    n += add_option(c->words + n, "-l", c->limits.p);
    n += add_option(c->words + n, "-g", cgroup);
    c->words[n++] = "--";
    memcpy(c->words + n, spec->argv, args * sizeof *c->words);
}

/* --- its start -------------------------------------------------------------------------------- */

int process_above_stdio(int fd)
{
    if (fd > 2)
        return fd;
    const int high = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    close(fd);
    return high;
}

/* The control comes last: its number may be that of one of the others. */
static int set_descriptors(posix_spawn_file_actions_t *actions, const int stdio[3], int control)
{
    int error = 0;
    for (int i = 0; i < 3 && !error; i++)
        error = posix_spawn_file_actions_adddup2(actions, stdio[i], i);
    if (!error)
        error = posix_spawn_file_actions_adddup2(actions, control, SHIM_CONTROL_FD);
    if (!error)
        error = posix_spawn_file_actions_addclosefrom_np(actions, SHIM_CONTROL_FD + 1);
    return error;
}

/* 0, or an errno. */
static int spawn(const char *path, const struct process_spec *spec, uint64_t files,
                 const char *cgroup, const int stdio[3], int control, pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t all;
    sigfillset(&all);
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setsigmask(&attributes, &all);
    struct call call;
    call_init(&call, spec, files, cgroup);
    int error = set_descriptors(&actions, stdio, control);
    if (!error)
        error = posix_spawn(pid, path, &actions, &attributes, (char *const *)(uintptr_t)call.words,
                            (char *const *)(uintptr_t)spec->env);
    call_fini(&call);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

static int start(const char *path, const struct process_spec *spec, uint64_t files,
                 const int stdio[3], struct process_shim *out, struct tc_err *err)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        return err_sys(err, errno, spec->argv[0], "no socket");
    CLEANUP_FD int ours = process_above_stdio(ends[0]);
    CLEANUP_FD const int theirs = process_above_stdio(ends[1]);
    const int error = spawn(path, spec, files, out->cgroup, stdio, theirs, &out->pid);
    if (error)
        return err_sys(err, error, spec->argv[0], "its shim %s cannot be run", path);
    out->pidfd = pidfd_open(out->pid, 0);
    if (out->pidfd < 0) {
        err_sys(err, errno, spec->argv[0], "no pidfd");
        kill(out->pid, SIGKILL);
        waitpid(out->pid, NULL, 0);
        return -1;
    }
    out->control = ours;
    ours = -1;
    return 0;
}

int process_exec(const struct process_spec *spec, uint64_t files, const int stdio[3],
                 struct process_shim *out, struct tc_err *err)
{
    const int64_t max = spec->limits ? spec->limits->processes : 0;
    CLEANUP_FREE char *path = find_shim();
    if (!path)
        return err_set(err, spec->argv[0], "%s is not installed where this program looks for it",
                       NAME);
    *out = (struct process_shim){.cgroup = spec->name ? cgroup_make(spec->name, max) : NULL};
    if (start(path, spec, files, stdio, out, err) == 0)
        return 0;
    if (out->cgroup)
        cgroup_remove(out->cgroup);
    free(out->cgroup);
    return -1;
}

int process_exec_explain(const char *command, const char *cwd, const struct shim_report *r,
                         struct tc_err *err)
{
    switch (r->step) {
    case SHIM_FORK:
        return err_sys(err, r->value, command, "no process");
    case SHIM_LIMITS:
        return err_sys(err, r->value, command, "its limits cannot be set");
    case SHIM_USER:
        return err_sys(err, r->value, command, "its user cannot be taken on");
    case SHIM_CWD:
        return err_sys(err, r->value, command, "its working directory %s cannot be entered", cwd);
    case SHIM_INTERPRETER:
        return err_sys(err, r->value, command, "the interpreter it names cannot be run");
    case SHIM_EXEC:
        break;
    }
    return err_sys(err, r->value, command, "cannot be run");
}
