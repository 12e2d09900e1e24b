/* SPDX-License-Identifier: MIT
 * Tracks the number of the open step. */
#include "dialect/reader/step_counter.h"

bool step_counter_is_due(const struct steps *s)
{
    return !s->open || s->asked;
}

void step_counter_start(struct steps *s, struct event *ev, const char *message_id)
{
    event_init(ev, TC_STEP);
    ev->u.step.state = "start";
    ev->u.step.index = s->count++;
    ev->u.step.message_id = message_id;
    s->open = true;
    s->asked = false;
}

bool step_counter_end(struct steps *s, struct event *ev)
{
    if (!s->open)
        return false;
    event_init(ev, TC_STEP);
    ev->u.step.state = "end";
    ev->u.step.index = s->count - 1;
    s->open = false;
    return true;
}
