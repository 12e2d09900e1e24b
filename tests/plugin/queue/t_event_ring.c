/* SPDX-License-Identifier: MIT
 * Tests of plugin/queue/event_ring.h; its threads are tested through the queue. */
#include "plugin/queue/event_ring.h"

#include "plugin/events.h"
#include "tap/tap.h"

static struct event_ring in;

static bool put_untold(uint64_t seq)
{
    struct shared_event *const shared = box_of(TC_USAGE, seq);
    return event_ring_stage(&in, (struct event_ring_slot){NULL, shared}, shared_event_size(shared));
}

static bool put(uint64_t seq)
{
    const bool room = put_untold(seq);
    event_ring_publish(&in);
    return room;
}

/* The seq of what comes next, or 0. */
static long long take(void)
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
    is_int(take(), 0, "empty");
    bool order = true;
    for (uint64_t seq = 1; seq <= 100; seq++) {
        put(seq);
        order = order && take() == (long long)seq;
    }
    ok(order, "first in, first out, around the ring");
    is_int((long long)event_ring_bytes(&in), 0, "the bytes are accounted for");
    for (uint64_t seq = 1; seq <= 7; seq++)
        ok(put(seq), "there is room behind %d", (int)seq);
    ok(!put(8), "the last room is told");
    is_int((long long)event_ring_count(&in), 8, "full");
    struct shared_event *const shared = box_of(TC_USAGE, 1);
    is_int((long long)event_ring_bytes(&in), 8 * (long long)shared_event_size(shared),
           "so many bytes");
    shared_event_unref(shared);
    is_int(take(), 1, "what was taken");
    is_int(take(), 2, "in order");
    ok(put(9), "makes room");
    struct event_ring_slot slots[8];
    is_int((long long)event_ring_take(&in, slots, 3), 3, "as many as wanted");
    bool right = true;
    for (uint64_t i = 0; i < 3; i++) {
        right = right && shared_event_get(slots[i].shared)->meta.seq == 3 + i;
        shared_event_unref(slots[i].shared);
    }
    ok(right, "  in order");
    put_untold(10);
    is_int((long long)event_ring_staged_count(&in), 1, "what is put");
    is_int((long long)event_ring_count(&in), 4, "  is not there before it is told");
    is_int((long long)event_ring_take(&in, slots, 8), 4, "as many as there are");
    for (size_t i = 0; i < 4; i++)
        shared_event_unref(slots[i].shared);
    event_ring_publish(&in);
    is_int(take(), 10, "told");
    put_untold(11);
    event_ring_fini(&in);
    diag("what is left is freed: the leak check judges");
}
