/* SPDX-License-Identifier: MIT
 * One child process: spawned in its own process group with three pipes, watched through a
 * pidfd, ended with its whole tree (group, setsid'ed descendants found by the subreaper).
 * Loop thread only. */
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

/* Starts the child: own process group, default signals, empty mask, no inherited descriptor but
 * 0–2, PDEATHSIG SIGTERM. NULL with err (its place is the command) when it could not be started
 * (exec failure included). Borrows events and ctx; the caller frees with process_free. */
struct process *process_spawn(struct loop *l, const struct process_spec *spec,
                              const struct process_events *events, void *ctx, struct tc_err *err);
/* Appends to what is written to stdin, without ever blocking; a child that does not read it
 * (EPIPE) loses it. */
void process_write(struct process *p, const char *bytes, size_t n);
/* Closes stdin once everything appended has been written. */
void process_close_stdin(struct process *p);
/* Pauses or resumes reading stdout (replay pace; a live agent is never paused). */
void process_signal(struct process *p, int signo); /* to the child's process group */
pid_t process_pid(const struct process *p);
bool process_exited(const struct process *p);
/* SIGKILL to the group and to every descendant, by /proc, in rounds until none is left (bounded);
 * reaps them. Returns how many were found alive. */
unsigned process_kill_tree(struct process *p);
/* Ends what is left (kill_tree), closes the pipes, reaps, frees. NULL is fine. */
void process_free(struct process *p);

#endif
