/* SPDX-License-Identifier: MIT
 * Forwards standard output of an instance's process, a pipe, to the standard output of the host, in
 * whole lines. The process has no descriptor of the host's output, so it can neither truncate it
 * nor change its mode. Loop thread only; never waits for the reader of the host's output, except in
 * stdout_forwarder_finish. */
#ifndef PLUGIN_PROCESS_SPAWN_STDOUT_FORWARDER_H
#define PLUGIN_PROCESS_SPAWN_STDOUT_FORWARDER_H

#include <poll.h>

#include "io/loop/loop.h"

struct print;

/* Takes over `fd`, the reading end, non-blocking. `label` (borrowed) names the instance in the log.
 * If the host's output fails, the pipe is closed, so that the instance's writes fail, too. */
struct print *stdout_forwarder_new(struct loop *loop, int fd, const char *label);
/* Forwards available data, as far as the host's output accepts it. NULL is allowed. */
void stdout_forwarder_pump(struct print *p);
/* Descriptor and events for which stdout_forwarder_pump waits, for poll(); NULL is allowed. */
struct pollfd stdout_forwarder_poll_spec(const struct print *p);
/* The process has ended: forwards the rest, waiting up to wait_ms for the reader of the host's
 * output, and frees it. NULL is allowed. */
void stdout_forwarder_finish(struct print *p, int wait_ms);

#endif
