/* SPDX-License-Identifier: MIT
 * Decides when the loop pauses for a moment, so that more descriptors become ready. Pure; the
 * caller passes the time.
 *
 * A wake-up costs more than reading a line. With a thousand agents, a loop that polls twice per
 * millisecond finds about ten ready descriptors at once, instead of being woken for each. A single
 * agent is never delayed, however fast it is and however many receivers it has: only ready
 * descriptors of different agents count. */
#ifndef IO_LOOP_WAKEUP_COALESCER_H
#define IO_LOOP_WAKEUP_COALESCER_H

#include <stdbool.h>
#include <stdint.h>

enum { LULL_US = 500 }; /* pause that is worth it and not noticeable for people */

/* A struct of zeros: no descriptor was ready yet. */
struct wakeup_coalescer {
    int64_t began_us; /* number of the counting window */
    uint32_t window;  /* descriptors in the previous window */
    uint32_t ready;   /* descriptors in this window, each counted once */
    bool crowded;     /* whether many were ready in the previous window */
};

/* A descriptor was ready; *seen belongs to it, and is initially 0. */
void wakeup_coalescer_count_ready(struct wakeup_coalescer *l, uint32_t *seen);
/* Call it after each round: whether so many descriptors are ready that the loop should pause. */
bool wakeup_coalescer_should_wait(struct wakeup_coalescer *l, int64_t now_us);

#endif
