/* SPDX-License-Identifier: MIT
 * A ring of events on their way into a backlog: the producer puts without a lock; whoever holds
 * the queue's lock takes. It keeps the loop's thread out of the way of the consumers'. */
#ifndef PLUGIN_QUEUE_EVENT_RING_H
#define PLUGIN_QUEUE_EVENT_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/invariant.h"
#include "event/event.h"
#include "plugin/queue/backlog.h"

struct event_ring_slot {
    struct turn_backlog *turn_backlog;
    struct shared_event *shared; /* one reference, owned */
};

struct event_ring {
    struct event_ring_slot *slots;
    size_t size; /* a power of two */
    /* The producer's own. */
    size_t next, next_bytes; /* what it has put, told or not */
    size_t known_head;       /* maybe old */
    _Alignas(64) _Atomic size_t tail;
    _Atomic size_t bytes_in; /* ever told */
    _Alignas(64) _Atomic size_t head;
    _Atomic size_t bytes_out; /* ever taken */
};

/* `size` is rounded down to a power of two, at least 4. */
void event_ring_init(struct event_ring *in, size_t size);
/* Unreferences what is left. */
void event_ring_fini(struct event_ring *in);
/* Producer: there is room; takes over the reference to a shared event of that many bytes. Nobody
 * sees it before it is told. False: that was the last room, somebody has to take before the next
 * put. */
static inline bool event_ring_stage(struct event_ring *in, struct event_ring_slot slot,
                                    size_t bytes)
{
    in->slots[in->next++ & (in->size - 1)] = slot;
    in->next_bytes += bytes;
    if (in->next - in->known_head < in->size)
        return true;
    in->known_head = atomic_load_explicit(&in->head, memory_order_acquire);
    ASSERT(in->next - in->known_head <= in->size);
    return in->next - in->known_head < in->size;
}
/* Producer: tells what has been put. */
void event_ring_publish(struct event_ring *in);
/* Producer: how many are put and not told, and their bytes. */
static inline size_t event_ring_staged_count(const struct event_ring *in)
{
    return in->next - atomic_load_explicit(&in->tail, memory_order_relaxed);
}
static inline size_t event_ring_staged_bytes(const struct event_ring *in)
{
    return in->next_bytes - atomic_load_explicit(&in->bytes_in, memory_order_relaxed);
}
/* Under the lock, up to max. 0: empty. */
size_t event_ring_take(struct event_ring *in, struct event_ring_slot *slots, size_t max);
/* Any thread: what has been told and not taken. */
size_t event_ring_count(const struct event_ring *in);
size_t event_ring_bytes(const struct event_ring *in);

#endif
