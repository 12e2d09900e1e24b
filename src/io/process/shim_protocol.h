/* SPDX-License-Identifier: MIT
 * What the host and a turncast-shim say to each other.
 *
 * The shim is a program of its own, a small one, between the host and one agent. It is the
 * subreaper of all that the agent starts: whatever calls setsid or forks twice becomes its child,
 * and of no other turn's. So "nobody is left" is not looked for but known: the kernel says that
 * the shim has no child. It leads the session that the agent's group is in.
 *
 *   turncast-shim PROTOCOL [-d DIRECTORY] [-u UID:GID[:GROUP…]] [-n FILES] [-l RESOURCE:LIMIT…]
 *                 [-g CGROUP] -- PROGRAM [ARGUMENT…]
 *
 * with the environment of the agent, its descriptors as 0-2, and a SOCK_SEQPACKET as
 * SHIM_CONTROL_FD. The agent is put into the cgroup, which is the shim's to remove. When the host's
 * end of that is closed, as by the host's death, the shim asks the agent to end, then kills all
 * there is. It does so as well at a time that the host has set and not put off, because a host that
 * stands still cannot end an agent itself. It exits with 0 once nobody is left, and only then. */
#ifndef IO_PROCESS_SHIM_PROTOCOL_H
#define IO_PROCESS_SHIM_PROTOCOL_H

#include <stdint.h>

enum { SHIM_CONTROL_FD = 3 };
#define SHIM_PROTOCOL "3"
enum { SHIM_MAX_GROUPS = 1024 };

/* To the shim, one byte: a signal for the agent's process group, or this: kill everything. */
enum { SHIM_KILL = 0xff };
/* Or a struct: when all is to be killed, in milliseconds of CLOCK_MONOTONIC; 0: at no time. */
struct shim_lease {
    int64_t until_ms;
};

/* From the shim, SHIM_READY first: whoever falls silent after it was killed. */
struct shim_report {
    enum shim_kind {
        SHIM_READY,  /* the shim runs; the agent does not yet */
        SHIM_FAILED, /* there is no agent; value: errno of that step */
        SHIM_EXITED, /* the agent is gone; value: its status as of waitpid */
        SHIM_KILLED, /* value: how many others had to be killed; nobody is left */
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
