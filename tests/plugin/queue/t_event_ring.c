/* SPDX-License-Identifier: MIT
 * Tests of plugin/queue/event_ring.h; its threads are tested through the queue. */
#include "plugin/queue/event_ring.h"

#include "plugin/events.h"
#include "tap/tap.h"

static struct event_ring in;

static bool stage_event(uint64_t seq)
{
    struct shared_event *const shared = box_of(TC_USAGE, seq);
    return event_ring_stage(&in, (struct event_ring_slot){NULL, shared}, shared_event_size(shared));
}

static bool add_event(uint64_t seq)
{
    const bool room = stage_event(seq);
    event_ring_publish(&in);
    return room;
}

/* Returns the sequence number of the next event, or 0. */
static long long take_seq(void)
{
    struct event_ring_slot slot;
    if (!event_ring_take(&in, &slot, 1))
        return 0;
    const long long seq = (long long)shared_event_get(slot.shared)->meta.seq;
    shared_event_unref(slot.shared);
    return seq;
}

int main(void)
{
    plan_lazy();
    event_ring_init(&in, 11);
    is_int((long long)in.size, 8, "the size is a power of two");
    is_int(take_seq(), 0, "an empty ring returns no event");
    bool order = true;
    for (uint64_t seq = 1; seq <= 100; seq++) {
        add_event(seq);
        order = order && take_seq() == (long long)seq;
    }
    ok(order, "events are returned in order, around the ring");
    is_int((long long)event_ring_bytes(&in), 0, "the bytes of taken events are subtracted");
    for (uint64_t seq = 1; seq <= 7; seq++)
        ok(add_event(seq), "there is room after %d", (int)seq);
    ok(!add_event(8), "adding the last event reports that the ring is full");
    is_int((long long)event_ring_count(&in), 8, "the ring is full");
    struct shared_event *const shared = box_of(TC_USAGE, 1);
    is_int((long long)event_ring_bytes(&in), 8 * (long long)shared_event_size(shared),
           "the bytes of the events are counted");
    shared_event_unref(shared);
    is_int(take_seq(), 1, "the first event is returned");
    is_int(take_seq(), 2, "the second event is returned");
    ok(add_event(9), "a taken event makes room");
    struct event_ring_slot slots[8];
    is_int((long long)event_ring_take(&in, slots, 3), 3,
           "the requested number of events is returned");
    bool right = true;
    for (uint64_t i = 0; i < 3; i++) {
        right = right && shared_event_get(slots[i].shared)->meta.seq == 3 + i;
        shared_event_unref(slots[i].shared);
    }
    ok(right, "the events are in order");
    stage_event(10);
    is_int((long long)event_ring_staged_count(&in), 1, "an event is staged");
    is_int((long long)event_ring_count(&in), 4,
           "a staged event is not counted before it is published");
    is_int((long long)event_ring_take(&in, slots, 8), 4, "all available events are returned");
    for (size_t i = 0; i < 4; i++)
        shared_event_unref(slots[i].shared);
    event_ring_publish(&in);
    is_int(take_seq(), 10, "a published event is returned");
    stage_event(11);
    event_ring_fini(&in);
    diag("remaining events are freed; the leak checker verifies it");
}
