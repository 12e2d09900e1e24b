/* SPDX-License-Identifier: MIT
 * Starts this program again as the process of an instance, and learns how it ended. It gets a group
 * of its own, so that a terminal's signals do not reach it. It has no descriptor of the host's
 * standard output or standard error, but pipes to the host. */
#ifndef PLUGIN_PROCESS_SPAWN_CONNECTOR_SPAWN_H
#define PLUGIN_PROCESS_SPAWN_CONNECTOR_SPAWN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/attr.h"
#include "base/sys/err.h"

struct connector_child {
    pid_t pid;
    int socket;  /* a stream, non-blocking; the caller's, as the next */
    int output;  /* what it says on stderr: the reading end of a pipe, non-blocking */
    int printed; /* the same of its stdout; -1: that is `output`, too */
};

/* How a process ended. */
struct connector_exit_info {
    bool by_signal;
    int code;       /* the signal, or the exit status */
    int64_t cpu_ms; /* user and system */
};

/* The descriptors of the status page and of the plugin's file go to it. With `prints` its stdout is
 * a pipe of its own, whose reading end is the caller's to close. -1 with err. */
int connector_spawn_start(struct connector_child *s, const char *name, int status_fd, int plugin_fd,
                          bool prints, struct tc_err *err) MUST_CHECK;
/* Kills it, if it lives, with all of its process group, and closes the descriptors. */
void connector_spawn_kill(struct connector_child *s);
/* After connector_spawn_kill. Reaps it if it has ended; false: not yet, which the kernel may delay
 * for as long as the process is inside an uninterruptible system call. */
bool connector_spawn_reap(struct connector_child *s, struct connector_exit_info *end) MUST_CHECK;
/* Whether the process has ended by itself. */
bool connector_spawn_has_exited(const struct connector_child *s);
/* Resident memory in bytes; 0: not known. */
int64_t connector_spawn_rss_bytes(const struct connector_child *s);
/* Bytes in memory at most since it became the program of an instance; 0: not known, as when it has
 * ended. (The kernel's ru_maxrss begins with the size of the process that started it.) */
int64_t connector_spawn_peak(const struct connector_child *s);

#endif
