/* SPDX-License-Identifier: MIT
 * Owns instances that end while the host continues to run. */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/invariant.h"
#include "base/sys/clock.h"
#include "core/dispatch/dispatch_internal.h"

/* connector_instance_free does not block for an instance that has ended. */
static bool dispatch_instance_has_ended(struct connector_instance *r)
{
    const enum channel_state state = connector_instance_state(r, NULL);
    return state == CHANNEL_NEW || state == CHANNEL_ENDED || state == CHANNEL_FAILED;
}

void dispatch_end_instance(struct dispatch *d, struct connector_instance *r)
{
    ASSERT(r);
    if (dispatch_instance_has_ended(r)) {
        connector_instance_free(r, 0);
        return;
    }
    struct ending_instance *const l = xmalloc(sizeof *l);
    *l = (struct ending_instance){.next = d->ending, .instance = r, .deadline_ms = clock_mono_ms()};
    if (!connector_instance_is_silent(r))
        l->deadline_ms += DISPATCH_END_MS;
    d->ending = l;
    connector_instance_stop(r);
}

bool dispatch_reap_ended(struct dispatch *d)
{
    for (struct ending_instance **at = &d->ending, *l; (l = *at);) {
        if (!dispatch_instance_has_ended(l->instance) &&
            !(clock_mono_ms() >= l->deadline_ms && connector_instance_kill(l->instance))) {
            at = &l->next;
            continue;
        }
        *at = l->next;
        connector_instance_free(l->instance, 0);
        free(l);
    }
    return !d->ending;
}

unsigned dispatch_await_ended(struct dispatch *d, int64_t deadline_ms)
{
    unsigned abandoned = 0;
    for (struct ending_instance *l; (l = d->ending);) {
        d->ending = l->next;
        abandoned += !connector_instance_free(l->instance, deadline_ms);
        free(l);
    }
    return abandoned;
}
