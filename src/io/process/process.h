/* SPDX-License-Identifier: MIT
 * One child process: spawned below a shim of its own (shim_protocol.h) with three pipes, and ended
 * with all that it started. Loop thread only.
 *
 * The shim is the reaper of all descendants, and kills them on request or when the host has exited.
 * If the shim itself is killed, the child dies with it, and the other descendants are searched in
 * /proc (process_tree.h). */
#ifndef IO_PROCESS_PROCESS_H
#define IO_PROCESS_PROCESS_H

#include <stddef.h>
#include <sys/types.h>

#include "base/sys/err.h"
#include "conf/conf.h"
#include "io/loop/loop.h"

struct process_spec {
    const char *const *argv;      /* NULL-terminated; argv[0] is looked up in the child's PATH */
    const char *const *env;       /* the complete environment of the child, "K=V",
                                   * NULL-terminated */
    const char *cwd;              /* or NULL: the host's */
    const char *mark;             /* TURNCAST_TURN variable of env that no other child has; or
                                   * NULL */
    const struct conf_user *user; /* or NULL: the host's */
    const struct conf_limits *limits; /* or NULL */
    const char *name;                 /* path of a separate cgroup (cgroup.h); or NULL */
};

struct process_events {
    /* The child could not be started (the place of err is the command). No other event follows. */
    void (*failed)(void *ctx, const struct tc_err *err);
    void (*out)(void *ctx, const char *p, size_t n); /* stdout bytes */
    void (*err)(void *ctx, const char *p, size_t n); /* stderr bytes */
    void (*out_end)(void *ctx);                      /* stdout reached end of file */
    /* The child has exited (waitid status in `status`), and the output in the pipes was passed on.
     * A grandchild that still holds the pipes does not delay this. */
    void (*exit)(void *ctx, int status);
};

struct process;

/* Starts the child: process group of its own, in a session that is not the host's (so no terminal
 * either), default signals, empty mask, umask 077, no inherited descriptor but 0-2. When the host
 * dies it gets SIGTERM, and soon after SIGKILL with all that is below. Does not block: failures are
 * reported from the loop. NULL with err (its place is the command) if the attempt itself is
 * impossible. Borrows events and ctx; the caller frees with process_free. */
struct process *process_spawn(struct loop *l, const struct process_spec *spec,
                              const struct process_events *events, void *ctx, struct tc_err *err);
/* Appends bytes for stdin, without blocking; they are lost if the child has closed it (EPIPE). */
void process_write(struct process *p, const char *bytes, size_t n);
/* Closes stdin when everything appended has been written. */
void process_close_stdin(struct process *p);
/* Sends a signal to the child's process group; no effect after its exit. */
void process_signal(struct process *p, int signo);
/* Sets the time (clock_mono_ms) at which the child and all its descendants are killed, even while
 * this process is stopped; call it again to extend; 0: none. */
void process_set_lease(struct process *p, int64_t until_ms);
/* The pid of the shim, which is the session leader of the child. */
pid_t process_pid(const struct process *p);
/* Sends SIGKILL to the child and all descendants; waits up to 100 ms for their end. 0: no process
 * is left; otherwise call it again later. If the child was alive, its exit event is reported
 * through the loop as usual. */
unsigned process_kill_tree(struct process *p);
/* Descendants (the child itself not counted) that process_kill_tree had to kill so far. */
unsigned process_count_killed(struct process *p);
/* Kills remaining processes (kill_tree), closes the pipes, reaps, frees. NULL is allowed. Of the
 * callbacks, only `exit` and `failed` may call it. */
void process_free(struct process *p);

#endif
