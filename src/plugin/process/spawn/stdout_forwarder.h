/* SPDX-License-Identifier: MIT
 * Forwards what the process of an instance prints on its standard output, a pipe, to the standard
 * output of the host, whole lines at a time. The process has no descriptor of the host's output, so
 * it can neither truncate it nor change its mode. Loop thread only; never waits for the reader of
 * the host's output, but for stdout_forwarder_finish. */
#ifndef PLUGIN_PROCESS_SPAWN_STDOUT_FORWARDER_H
#define PLUGIN_PROCESS_SPAWN_STDOUT_FORWARDER_H

#include <poll.h>

#include "io/loop/loop.h"

struct print;

/* Takes over `fd`, the reading end, non-blocking. `label` (borrowed) names the instance in the log.
 * When the host's output cannot be written to, the pipe is closed, so that the instance learns it
 * as a failed write. */
struct print *stdout_forwarder_new(struct loop *loop, int fd, const char *label);
/* Forwards what there is, as far as the host's output takes it. NULL is fine. */
void stdout_forwarder_pump(struct print *p);
/* The descriptor and events that stdout_forwarder_pump waits for, for poll(); NULL is fine. */
struct pollfd stdout_forwarder_wants(const struct print *p);
/* The process has ended: forwards the rest, for which it waits up to wait_ms for the reader of the
 * host's output, and frees it. NULL is fine. */
void stdout_forwarder_finish(struct print *p, int wait_ms);

#endif
