/* SPDX-License-Identifier: MIT
 * SIGINT, SIGTERM and SIGHUP as something to poll for, for commands without an event loop. */
#ifndef CLI_RUN_STOP_SIGNAL_H
#define CLI_RUN_STOP_SIGNAL_H

#include <stdbool.h>
#include <stdint.h>

struct stop {
    int fd;
};

/* Whether the signal ends what is running: not SIGHUP when it was ignored at the start (nohup). */
bool stop_is_wanted(int signo);

/* Blocks the signals: call before threads start, which inherit that. */
void stop_init(struct stop *s);
/* The signals do again what they do by default: the next one ends the process. */
void stop_fini(struct stop *s);
/* Waits until a signal came (true), or `fd` can be read, or wait_ms passed (-1: no limit). fd may
 * be -1. */
bool stop_wait(const struct stop *s, int fd, int64_t wait_ms);

#endif
