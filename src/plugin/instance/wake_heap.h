/* SPDX-License-Identifier: MIT
 * Times that somebody wants to be woken at, the next one first: a heap. Pure. */
#ifndef PLUGIN_INSTANCE_WAKE_HEAP_H
#define PLUGIN_INSTANCE_WAKE_HEAP_H

#include <stddef.h>
#include <stdint.h>

/* Part of what is to be woken; all-zero: no time is set. */
struct wake {
    int64_t due; /* monotonic ms */
    size_t at;   /* its place in the heap, from 1; 0: in none */
};

/* All-zero is empty. */
struct wakes {
    struct wake **heap;
    size_t count, cap;
};

void wakes_fini(struct wakes *w);
/* Sets or changes the time. */
void wakes_set(struct wakes *w, struct wake *wake, int64_t due);
/* Fine when none is set. */
void wakes_clear(struct wakes *w, struct wake *wake);
/* When the next one is due; INT64_MAX: none is set. */
int64_t wakes_due(const struct wakes *w);
/* The next one that is due at `now`, cleared; NULL: none. */
struct wake *wakes_take(struct wakes *w, int64_t now);

#endif
