/* SPDX-License-Identifier: MIT
 * One child process: spawned in its own session with three pipes, watched through a pidfd, ended
 * with its whole tree (process_tree.h). Loop thread only. */
#ifndef IO_PROCESS_H
#define IO_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"
#include "io/loop.h"

struct process_spec {
    const char *const *argv; /* NULL-terminated; argv[0] is looked up in the child's PATH */
    const char *const *env;  /* the whole environment of the child, "K=V", NULL-terminated */
    const char *cwd;         /* or NULL: the host's */
};

struct process_events {
    void (*out)(void *ctx, const char *p, size_t n); /* stdout bytes */
    void (*err)(void *ctx, const char *p, size_t n); /* stderr bytes */
    void (*out_end)(void *ctx);                      /* stdout reached end of file */
    /* The child itself is gone (waitid status in `status`) and what was in the pipes has been
     * given. A grandchild that still holds them does not delay it. */
    void (*exit)(void *ctx, int status);
};

struct process;

/* Makes this process the reaper of orphaned descendants; once, before the first spawn. */
void process_become_subreaper(void);

/* Starts the child: own session (so no terminal either) and process group, default signals,
 * empty mask, umask 077, no inherited descriptor but 0-2, SIGTERM when the host dies. NULL with
 * err (its place is the command) when it could not be started, exec failure included. Borrows
 * events and ctx; the caller frees with process_free. */
struct process *process_spawn(struct loop *l, const struct process_spec *spec,
                              const struct process_events *events, void *ctx, struct tc_err *err);
/* Appends to what is written to stdin, without ever blocking; a child that does not read it
 * (EPIPE) loses it. */
void process_write(struct process *p, const char *bytes, size_t n);
/* Closes stdin once everything appended has been written. */
void process_close_stdin(struct process *p);
/* To the child's process group; nothing once the child is gone. */
void process_signal(struct process *p, int signo);
pid_t process_pid(const struct process *p);
/* One bounded burst of SIGKILL to the child and to every descendant that can be found, reaping
 * what it can; returns how many still live: call it again later until that is 0. When the child
 * itself was alive, its exit event comes through the loop as usual. */
unsigned process_kill_tree(struct process *p);
/* Descendants (the child itself not counted) that process_kill_tree had to kill so far. */
unsigned process_strays(const struct process *p);
/* Ends what is left (kill_tree), closes the pipes, reaps, frees. NULL is fine. Of the callbacks
 * only `exit` may call it. */
void process_free(struct process *p);

#endif
