/* SPDX-License-Identifier: MIT
 * Starts turncast-shim for a child process: builds its command line, attaches the control socket
 * and waits for its exec only. */
#ifndef IO_PROCESS_SHIM_LAUNCH_H
#define IO_PROCESS_SHIM_LAUNCH_H

#include "base/attr.h"
#include "io/process/process.h"
#include "io/process/shim_protocol.h"

struct shim_handle {
    pid_t pid;
    int control;
    char *cgroup; /* or NULL */
};

/* Starts a shim for the program, with these as its descriptors 0-2; all are close-on-exec and stay
 * the caller's. Waits only for the shim's exec: its first message reports the start of the program.
 * -1 with err: no shim. The caller owns the contents of *out. */
int shim_launch_start(const struct process_spec *spec, const struct loop *l, const int stdio[3],
                      struct shim_handle *out, struct tc_err *err) MUST_CHECK;
/* Fills err with the meaning of SHIM_FAILED. Returns -1. */
int shim_launch_explain(const char *command, const char *cwd, const struct shim_report *r,
                        struct tc_err *err);
/* Duplicates to a descriptor above 2; closes the original. -1: none available. */
int shim_launch_dup_above_stdio(int fd);

#endif
