/* SPDX-License-Identifier: MIT
 * One child process: spawned below a shim of its own (shim_protocol.h) with three pipes, and ended
 * with all that it started. Loop thread only.
 *
 * The shim knows whose a process is, reaps, and kills when it is told to or the host is gone.
 * Should somebody kill the shim, the child dies with it, and the rest is looked for in /proc
 * (process_tree.h). */
#ifndef IO_PROCESS_PROCESS_H
#define IO_PROCESS_PROCESS_H

#include <stddef.h>
#include <sys/types.h>

#include "base/sys/err.h"
#include "conf/conf.h"
#include "io/loop/loop.h"

struct process_spec {
    const char *const *argv;      /* NULL-terminated; argv[0] is looked up in the child's PATH */
    const char *const *env;       /* the whole environment of the child, "K=V", NULL-terminated */
    const char *cwd;              /* or NULL: the host's */
    const char *mark;             /* of env, and of no other child's; or NULL */
    const struct conf_user *user; /* or NULL: the host's */
    const struct conf_limits *limits; /* or NULL */
    const char *name;                 /* of a cgroup that is its own (cgroup.h); or NULL */
};

struct process_events {
    /* The child could not be started (the place of err is the command). No other event follows. */
    void (*failed)(void *ctx, const struct tc_err *err);
    void (*out)(void *ctx, const char *p, size_t n); /* stdout bytes */
    void (*err)(void *ctx, const char *p, size_t n); /* stderr bytes */
    void (*out_end)(void *ctx);                      /* stdout reached end of file */
    /* The child itself is gone (waitid status in `status`) and what was in the pipes has been
     * given. A grandchild that still holds them does not delay it. */
    void (*exit)(void *ctx, int status);
};

struct process;

/* Starts the child: process group of its own, in a session that is not the host's (so no terminal
 * either), default signals, empty mask, umask 077, no inherited descriptor but 0-2. When the host
 * dies it gets SIGTERM, and soon after SIGKILL with all that is below. Waits for nothing: whether
 * it could be run comes through the loop. NULL with err (its place is the command) when not even
 * that can be tried. Borrows events and ctx; the caller frees with process_free. */
struct process *process_spawn(struct loop *l, const struct process_spec *spec,
                              const struct process_events *events, void *ctx, struct tc_err *err);
/* Appends to what is written to stdin, without ever blocking; a child that does not read it
 * (EPIPE) loses it. */
void process_write(struct process *p, const char *bytes, size_t n);
/* Closes stdin once everything appended has been written. */
void process_close_stdin(struct process *p);
/* Sends a signal to the child's process group; does nothing once the child is gone. */
void process_signal(struct process *p, int signo);
/* The child and all its descendants are killed at that time (clock_mono_ms), even while this
 * process is stopped, unless this is called again before; 0: no such time. */
void process_set_lease(struct process *p, int64_t until_ms);
/* The pid of the shim, which is the session leader of the child. */
pid_t process_pid(const struct process *p);
/* SIGKILL to the child and everything below it; waits up to 100 ms for their end. 0: nobody is
 * left; else call it again later. When the child itself was alive, its exit event comes through
 * the loop as usual. */
unsigned process_kill_tree(struct process *p);
/* Descendants (the child itself not counted) that process_kill_tree had to kill so far. */
unsigned process_count_killed(struct process *p);
/* Ends what is left (kill_tree), closes the pipes, reaps, frees. NULL is fine. Of the callbacks
 * only `exit` and `failed` may call it. */
void process_free(struct process *p);

#endif
