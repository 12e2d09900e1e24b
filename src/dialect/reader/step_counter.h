/* SPDX-License-Identifier: MIT
 * Numbers the steps of a turn for agents whose streams do not: a step is one call of the model with
 * the tools that it uses. One step is open at a time. The caller emits the events; a step that is
 * still open at the end of the turn is ended by the guard. */
#ifndef DIALECT_READER_STEP_COUNTER_H
#define DIALECT_READER_STEP_COUNTER_H

#include "event/event.h"

/* All zero: no step yet. */
struct steps {
    int64_t count; /* steps that were started */
    bool open;     /* the newest one has not ended */
    bool asked;    /* the owner sets it: the model was asked again behind what it said last */
};

/* What the model says next is of another step than the one that is open. */
bool step_counter_is_due(const struct steps *s);
/* Makes *ev the start of the next step; the one before has ended. message_id: borrowed, or NULL. */
void step_counter_start(struct steps *s, struct event *ev, const char *message_id);
/* Makes *ev the end of the open step. False: no step is open, and *ev is not set. */
bool step_counter_end(struct steps *s, struct event *ev);

#endif
