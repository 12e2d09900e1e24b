/* SPDX-License-Identifier: MIT
 * Memory ordering between the two sides of the ring buffer. */
#include "plugin/queue/event_ring.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/invariant.h"

void event_ring_init(struct event_ring *in, size_t size)
{
    in->size = 4;
    while (in->size * 2 <= size)
        in->size *= 2;
    ASSERT((in->size & (in->size - 1)) == 0);
    in->slots = xcalloc(in->size, sizeof *in->slots);
    in->next = in->next_bytes = in->known_head = 0;
    atomic_init(&in->tail, 0);
    atomic_init(&in->head, 0);
    atomic_init(&in->bytes_in, 0);
    atomic_init(&in->bytes_out, 0);
}

void event_ring_fini(struct event_ring *in)
{
    event_ring_publish(in);
    struct event_ring_slot slot;
    while (event_ring_take(in, &slot, 1))
        shared_event_unref(slot.shared);
    free(in->slots);
}

/* The store of the tail and the later load of the consumer's state (event_queue.c) are sequentially
 * consistent: either the producer sees that the consumer sleeps, or the consumer sees the event. */
void event_ring_publish(struct event_ring *in)
{
    atomic_store_explicit(&in->bytes_in, in->next_bytes, memory_order_relaxed);
    atomic_store(&in->tail, in->next);
}

size_t event_ring_take(struct event_ring *in, struct event_ring_slot *slots, size_t max)
{
    const size_t head = atomic_load_explicit(&in->head, memory_order_relaxed);
    const size_t there = atomic_load(&in->tail) - head;
    ASSERT(there <= in->size);
    const size_t n = there < max ? there : max;
    size_t bytes = 0;
    for (size_t i = 0; i < n; i++)
        slots[i] = in->slots[(head + i) & (in->size - 1)];
    for (size_t i = 0; i < n; i++)
        bytes += shared_event_size(slots[i].shared);
    if (n == 0)
        return 0;
    const size_t before = atomic_load_explicit(&in->bytes_out, memory_order_relaxed);
    atomic_store_explicit(&in->bytes_out, before + bytes, memory_order_relaxed);
    atomic_store_explicit(&in->head, head + n, memory_order_release);
    return n;
}

size_t event_ring_count(const struct event_ring *in)
{
    const size_t head = atomic_load_explicit(&in->head, memory_order_acquire);
    return atomic_load(&in->tail) - head;
}

/* The two counters are read at slightly different times; the result is never negative. */
size_t event_ring_bytes(const struct event_ring *in)
{
    const size_t out = atomic_load_explicit(&in->bytes_out, memory_order_relaxed);
    const size_t all = atomic_load_explicit(&in->bytes_in, memory_order_relaxed);
    return all > out ? all - out : 0;
}
