/* SPDX-License-Identifier: MIT
 * Starts turncast-connector as the process of an instance, and determines how it ended. The process
 * gets a separate group, so that a terminal's signals do not reach it. Its standard output and
 * standard error are pipes to the host, not the host's descriptors. */
#ifndef PLUGIN_PROCESS_SPAWN_CONNECTOR_SPAWN_H
#define PLUGIN_PROCESS_SPAWN_CONNECTOR_SPAWN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/attr.h"
#include "base/sys/err.h"

struct connector_child {
    pid_t pid;
    int socket;  /* a non-blocking stream socket, owned by the caller like the next */
    int output;  /* its stderr: the reading end of a pipe, non-blocking */
    int printed; /* pipe of its stdout; -1: `output` contains stdout, too */
};

/* End of a process. */
struct connector_exit_info {
    bool by_signal;
    int code;       /* signal, or exit status */
    int64_t cpu_ms; /* user and system */
};

/* Passes the descriptors of the status page and of the plugin's file. With `prints`, its stdout is
 * a separate pipe, whose reading end the caller closes. -1 with err. */
int connector_spawn_start(struct connector_child *s, const char *name, int status_fd, int plugin_fd,
                          bool prints, struct tc_err *err) MUST_CHECK;
/* Kills its process group, if it runs, and closes the descriptors. */
void connector_spawn_kill(struct connector_child *s);
/* Call it after connector_spawn_kill. Reaps the process if it has ended; false: not yet, because
 * the kernel may delay the end while the process is inside an uninterruptible system call. */
bool connector_spawn_reap(struct connector_child *s, struct connector_exit_info *end) MUST_CHECK;
/* Whether the process has ended by itself. */
bool connector_spawn_has_exited(const struct connector_child *s);
/* Resident memory in bytes; 0: unknown. */
int64_t connector_spawn_rss_bytes(const struct connector_child *s);
/* Maximum resident memory since exec; 0: unknown, e.g. after its end. (The kernel's ru_maxrss
 * includes the size of the parent at the fork.) */
int64_t connector_spawn_peak_bytes(const struct connector_child *s);

#endif
