/* SPDX-License-Identifier: MIT
 * Protocol between the host and turncast-shim.
 *
 * The shim is a small separate program between the host and one agent. It is the subreaper of all
 * processes that the agent starts: a process that calls setsid or forks twice becomes a child of
 * this shim, and not of another turn's. So the kernel reports reliably when no process is left: the
 * shim has no child. It leads the session of the agent's process group.
 *
 *   turncast-shim PROTOCOL [-d DIRECTORY] [-u UID:GID[:GROUP…]] [-n FILES] [-l RESOURCE:LIMIT…]
 *                 [-g CGROUP] -- PROGRAM [ARGUMENT…]
 *
 * with the environment of the agent, its descriptors as 0-2, and a SOCK_SEQPACKET as
 * SHIM_CONTROL_FD. The agent is put into the cgroup, which the shim removes at the end. When the
 * host's end of the control socket is closed, e.g. by a crash of the host, the shim asks the agent
 * to end, then kills all processes. It does the same at a time set by the host, unless the host
 * extends it, because a host that is stopped cannot end an agent itself. It exits with 0 when no
 * process is left, and only then. */
#ifndef IO_PROCESS_SHIM_PROTOCOL_H
#define IO_PROCESS_SHIM_PROTOCOL_H

#include <stdint.h>

enum { SHIM_CONTROL_FD = 3 };
#define SHIM_PROTOCOL "3"
enum { SHIM_MAX_GROUPS = 1024 };

/* To the shim, one byte: a signal for the agent's process group, or this value: kill all
 * processes. */
enum { SHIM_KILL = 0xff };
/* Or a struct: the time at which to kill all processes, in milliseconds of CLOCK_MONOTONIC; 0:
 * none. */
struct shim_lease {
    int64_t until_ms;
};

/* From the shim; SHIM_READY is first: without it, the program was not a shim, or was killed. */
struct shim_report {
    enum shim_kind {
        SHIM_READY,  /* the shim runs; the agent does not yet */
        SHIM_FAILED, /* the agent could not be started; value: errno of the failing step */
        SHIM_EXITED, /* the agent has exited; value: its waitpid status */
        SHIM_KILLED, /* value: number of other processes that had to be killed; none is left */
    } kind;
    enum shim_step {
        SHIM_FORK,
        SHIM_LIMITS,
        SHIM_USER,
        SHIM_CWD,
        SHIM_INTERPRETER,
        SHIM_EXEC,
    } step;
    int value;
};

#endif
