/* SPDX-License-Identifier: MIT
 * Restart back-off of a crashed connector process: exponential delay, and a circuit breaker after
 * five deaths in ten minutes. Pure; the caller passes the time. */
#ifndef PLUGIN_PROCESS_SPAWN_RESTART_BACKOFF_H
#define PLUGIN_PROCESS_SPAWN_RESTART_BACKOFF_H

#include <stdbool.h>
#include <stdint.h>

#define REVIVAL_DEATHS 5 /* within REVIVAL_WINDOW_MS: restarted only every REVIVAL_MAX_MS */
#define REVIVAL_WINDOW_MS ((int64_t)600000)
#define REVIVAL_FIRST_MS ((int64_t)1000)
#define REVIVAL_MAX_MS ((int64_t)300000)

/* A struct of zeros: no deaths. Times are monotonic ms. */
struct restart_backoff {
    int64_t died[REVIVAL_DEATHS]; /* ring buffer of times */
    uint64_t deaths;
    int64_t delay_ms; /* time of the last death */
    bool open;        /* the circuit breaker is open */
};

/* Milliseconds to wait before the next start; began: start of the process that has ended. */
int64_t restart_backoff_record_death(struct restart_backoff *r, int64_t began, int64_t now);
/* To be called while the process runs. True: it has just become old enough to count as stable. */
bool restart_backoff_check_recovery(struct restart_backoff *r, int64_t began, int64_t now);

#endif
