/* SPDX-License-Identifier: MIT
 * When a loop lets what is ready gather for a moment. Pure; times are the caller's.
 *
 * A wake-up costs more than reading a line. A loop that is woken for each of a thousand agents is
 * mostly woken; one that looks twice in a millisecond finds ten of them at once. One agent alone,
 * however fast and to however many it is told, is never kept waiting: only different agents make a
 * crowd. */
#ifndef IO_LOOP_WAKEUP_COALESCER_H
#define IO_LOOP_WAKEUP_COALESCER_H

#include <stdbool.h>
#include <stdint.h>

enum { LULL_US = 500 }; /* how long is worth it, and not noticed by anybody */

/* All zero: nothing has been ready yet. */
struct wakeup_coalescer {
    int64_t began_us; /* the window in which is counted */
    uint32_t window;  /* how many there were before it */
    uint32_t ready;   /* descriptors in it, each once */
    bool crowded;     /* it was, in the one before */
};

/* A descriptor was ready; *seen is its own, and 0 at first. */
void wakeup_coalescer_note_ready(struct wakeup_coalescer *l, uint32_t *seen);
/* After each round: whether so many are ready that what is next may gather. */
bool wakeup_coalescer_should_wait(struct wakeup_coalescer *l, int64_t now_us);

#endif
