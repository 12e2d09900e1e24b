/* SPDX-License-Identifier: MIT
 * Ring buffer of events in front of a backlog. The producer adds events without a lock; the holder
 * of the queue's lock takes them. So the loop thread does not contend with consumers for the lock.
 */
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
    /* Used by the producer only. */
    size_t next, next_bytes; /* staged, published or not */
    size_t known_head;       /* may be out of date */
    _Alignas(64) _Atomic size_t tail;
    _Atomic size_t bytes_in; /* bytes ever published */
    _Alignas(64) _Atomic size_t head;
    _Atomic size_t bytes_out; /* bytes ever taken */
};

/* `size` is rounded down to a power of two, at least 4. */
void event_ring_init(struct event_ring *in, size_t size);
/* Releases the remaining events. */
void event_ring_fini(struct event_ring *in);
/* Producer: takes over the reference to a shared event of that many bytes; there must be room. The
 * event is visible after event_ring_publish. False: the ring is full; events have to be taken
 * before the next call. */
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
/* Producer: makes the staged events visible. */
void event_ring_publish(struct event_ring *in);
/* Producer: how many events are staged and not published, and their bytes. */
static inline size_t event_ring_staged_count(const struct event_ring *in)
{
    return in->next - atomic_load_explicit(&in->tail, memory_order_relaxed);
}
static inline size_t event_ring_staged_bytes(const struct event_ring *in)
{
    return in->next_bytes - atomic_load_explicit(&in->bytes_in, memory_order_relaxed);
}
/* Under the lock: takes up to max events. 0: empty. */
size_t event_ring_take(struct event_ring *in, struct event_ring_slot *slots, size_t max);
/* Any thread: what has been published and not taken. */
size_t event_ring_count(const struct event_ring *in);
size_t event_ring_bytes(const struct event_ring *in);

#endif
