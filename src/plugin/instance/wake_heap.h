/* SPDX-License-Identifier: MIT
 * Binary min-heap of wake-up times with intrusive nodes. Pure. */
#ifndef PLUGIN_INSTANCE_WAKE_HEAP_H
#define PLUGIN_INSTANCE_WAKE_HEAP_H

#include <stddef.h>
#include <stdint.h>

/* Embedded node; a struct of zeros has no time. */
struct wake_node {
    int64_t due; /* monotonic ms */
    size_t at;   /* index in the heap, from 1; 0: not in the heap */
};

/* A struct of zeros is empty. */
struct wake_heap {
    struct wake_node **heap;
    size_t count, cap;
};

void wake_heap_fini(struct wake_heap *w);
/* Sets or changes the time. */
void wake_heap_set(struct wake_heap *w, struct wake_node *wake, int64_t due);
/* Allowed if no time is set. */
void wake_heap_remove(struct wake_heap *w, struct wake_node *wake);
/* Time of the next node; INT64_MAX: none. */
int64_t wake_heap_next_ms(const struct wake_heap *w);
/* Removes and returns the next node due at `now`; NULL: none. */
struct wake_node *wake_heap_pop_due(struct wake_heap *w, int64_t now);

#endif
