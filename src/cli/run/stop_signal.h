/* SPDX-License-Identifier: MIT
 * SIGINT, SIGTERM and SIGHUP through a signalfd, for commands without an event loop. */
#ifndef CLI_RUN_STOP_SIGNAL_H
#define CLI_RUN_STOP_SIGNAL_H

#include <stdbool.h>
#include <stdint.h>

struct stop_signal {
    int fd;
};

/* Whether the signal ends the command: not SIGHUP if it was ignored at the start (nohup). */
bool stop_signal_is_enabled(int signo);

/* Blocks the signals. Call it before threads start, because they inherit the mask. */
void stop_signal_init(struct stop_signal *s);
/* Restores the default actions: the next signal ends the process. */
void stop_signal_fini(struct stop_signal *s);
/* Waits until a signal arrives (true), `fd` is readable, or wait_ms have passed (-1: no limit). fd
 * may be -1. */
bool stop_signal_wait(const struct stop_signal *s, int fd, int64_t wait_ms);

#endif
