/* SPDX-License-Identifier: MIT
 * Owns the order in which the two sides of the ring see each other's writes. */
#include "plugin/inbox.h"

#include <stdlib.h>

#include "base/alloc.h"

void inbox_init(struct inbox *in, size_t size)
{
    in->size = 4;
    while (in->size * 2 <= size)
        in->size *= 2;
    in->slots = xcalloc(in->size, sizeof *in->slots);
    in->known_head = 0;
    atomic_init(&in->tail, 0);
    atomic_init(&in->head, 0);
    atomic_init(&in->bytes_in, 0);
    atomic_init(&in->bytes_out, 0);
}

void inbox_fini(struct inbox *in)
{
    struct inbox_slot slot;
    while (inbox_take(in, &slot))
        event_box_unref(slot.box);
    free(in->slots);
}

/* The tail is stored, and the consumer's state is looked at behind it (queue.c), in one order for
 * all threads: either the producer sees that the consumer sleeps, or that one sees the event. */
bool inbox_put(struct inbox *in, struct inbox_slot slot)
{
    const size_t tail = atomic_load_explicit(&in->tail, memory_order_relaxed);
    const size_t bytes = atomic_load_explicit(&in->bytes_in, memory_order_relaxed);
    in->slots[tail & (in->size - 1)] = slot;
    atomic_store_explicit(&in->bytes_in, bytes + event_box_size(slot.box), memory_order_relaxed);
    atomic_store(&in->tail, tail + 1);
    if (tail + 1 - in->known_head < in->size)
        return true;
    in->known_head = atomic_load_explicit(&in->head, memory_order_acquire);
    return tail + 1 - in->known_head < in->size;
}

bool inbox_take(struct inbox *in, struct inbox_slot *slot)
{
    const size_t head = atomic_load_explicit(&in->head, memory_order_relaxed);
    if (head == atomic_load(&in->tail))
        return false;
    const size_t bytes = atomic_load_explicit(&in->bytes_out, memory_order_relaxed);
    *slot = in->slots[head & (in->size - 1)];
    atomic_store_explicit(&in->bytes_out, bytes + event_box_size(slot->box), memory_order_relaxed);
    atomic_store_explicit(&in->head, head + 1, memory_order_release);
    return true;
}

size_t inbox_count(const struct inbox *in)
{
    const size_t head = atomic_load_explicit(&in->head, memory_order_acquire);
    return atomic_load(&in->tail) - head;
}

/* The two sums are of slightly different moments; never less than nothing. */
size_t inbox_bytes(const struct inbox *in)
{
    const size_t out = atomic_load_explicit(&in->bytes_out, memory_order_relaxed);
    const size_t all = atomic_load_explicit(&in->bytes_in, memory_order_relaxed);
    return all > out ? all - out : 0;
}
