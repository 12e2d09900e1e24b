/* SPDX-License-Identifier: MIT
 * Counts recently ready descriptors. */
#include "io/loop/wakeup_coalescer.h"

#define WINDOW_US 1000
#define SHARE_US 250 /* fewer ready descriptors in that time need no pause */

void wakeup_coalescer_count_ready(struct wakeup_coalescer *l, uint32_t *seen)
{
    if (*seen == l->window + 1)
        return;
    *seen = l->window + 1;
    l->ready++;
}

bool wakeup_coalescer_should_wait(struct wakeup_coalescer *l, int64_t now_us)
{
    const int64_t took_us = now_us - l->began_us;
    if (took_us < WINDOW_US)
        return l->crowded;
    l->crowded = l->ready >= took_us / SHARE_US;
    l->began_us = now_us;
    l->window++;
    l->ready = 0;
    return l->crowded;
}
