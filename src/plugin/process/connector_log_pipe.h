/* SPDX-License-Identifier: MIT
 * Log pipe of a connector process: what it writes to its standard error goes to the log of the
 * host. connector_log_pipe.c writes the members. Loop thread. */
#ifndef PLUGIN_PROCESS_CONNECTOR_LOG_PIPE_H
#define PLUGIN_PROCESS_CONNECTOR_LOG_PIPE_H

#include <stdint.h>

#include "base/bytes/buf.h"

struct connector_process;

struct connector_log_pipe {
    struct buf line; /* its beginning */
    int64_t second;
    unsigned lines, suppressed; /* in that second */
};

void connector_log_pipe_read(struct connector_process *g);
void connector_log_pipe_flush(struct connector_process *g); /* a line without an end, too */
void connector_log_pipe_fini(struct connector_process *g);

#endif
