/* SPDX-License-Identifier: MIT
 * Starts this program again as the process of an instance, and learns how it ended. It gets a group
 * of its own, so that a terminal's signals do not reach it. It has no descriptor of the host's
 * standard output or standard error, but pipes to the host. */
#ifndef PLUGIN_PROCESS_CONNECTOR_SPAWN_H
#define PLUGIN_PROCESS_CONNECTOR_SPAWN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/attr.h"
#include "base/sys/err.h"

struct spawn {
    pid_t pid;
    int socket;  /* a stream, non-blocking; the caller's, as the next */
    int output;  /* what it says on stderr: the reading end of a pipe, non-blocking */
    int printed; /* the same of its stdout; -1: that is `output`, too */
};

/* How a life ended. */
struct spawn_end {
    bool by_signal;
    int code;       /* the signal, or the exit status */
    int64_t cpu_ms; /* user and system */
};

/* The descriptors of the gauge and of the plugin's file go to it. With `prints` its stdout is a
 * pipe of its own, whose reading end is the caller's to close. -1 with err. */
int spawn_start(struct spawn *s, const char *name, int gauge_fd, int plugin_fd, bool prints,
                struct tc_err *err) MUST_CHECK;
/* Kills it, if it lives, with all of its process group, and closes the descriptors. */
void spawn_kill(struct spawn *s);
/* After spawn_kill. Reaps it if it has ended; false: not yet, which the kernel may delay for as
 * long as the process is inside an uninterruptible system call. */
bool spawn_reap(struct spawn *s, struct spawn_end *end) MUST_CHECK;
/* It has ended by itself. */
bool spawn_has_ended(const struct spawn *s);
/* Bytes in memory now; 0: not known. */
int64_t spawn_rss(const struct spawn *s);
/* Bytes in memory at most since it became the program of an instance; 0: not known, as when it has
 * ended. (The kernel's ru_maxrss begins with the size of the process that started it.) */
int64_t spawn_peak(const struct spawn *s);

#endif
