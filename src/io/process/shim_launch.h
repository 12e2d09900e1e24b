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
 * the caller's. Waits for no more than the shim's own exec: what came of the program is its first
 * report. -1 with err: there is no shim. What is in *out is the caller's. */
int shim_launch_start(const struct process_spec *spec, const struct loop *l, const int stdio[3],
                      struct shim_handle *out, struct tc_err *err) MUST_CHECK;
/* Fills err with the meaning of SHIM_FAILED. Returns -1. */
int shim_launch_explain(const char *command, const char *cwd, const struct shim_report *r,
                        struct tc_err *err);
/* A descriptor above 2 for the same; closes the other. -1: there is none. */
int shim_launch_dup_above_stdio(int fd);

#endif
