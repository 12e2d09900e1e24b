/* SPDX-License-Identifier: MIT
 * Child side of the shim between fork and exec: cgroup, limits, user, working directory, exec. A
 * failing step is reported with its errno through a close-on-exec pipe. */
#ifndef IO_PROCESS_SHIM_EXEC_H
#define IO_PROCESS_SHIM_EXEC_H

#include <sys/types.h>

#include "base/attr.h"
#include "io/process/shim_protocol.h"

struct shim_exec_spec {
    char **argv;        /* argv[0] is looked up in the PATH of the environment */
    const char *cwd;    /* or NULL: the shim's */
    const char *user;   /* in the form of shim_protocol.h; or NULL */
    const char *files;  /* soft limit of open files before the host raised it; or NULL */
    const char *limits; /* as that user */
    const char *cgroup; /* or NULL */
};

/* Returns when exec has succeeded or an earlier step has failed. -1: failed, as *failure says; no
 * child is left. */
pid_t shim_exec_agent(const struct shim_exec_spec *a, struct shim_report *failure) MUST_CHECK;

#endif
