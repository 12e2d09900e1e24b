/* SPDX-License-Identifier: MIT
 * Numbers the steps of a turn for agents whose streams have no steps: a step is one call of the
 * model with the tools that it uses. One step is open at a time. The caller emits the events; a
 * step that is still open at the end of the turn is ended by the guard. */
#ifndef DIALECT_READER_STEP_COUNTER_H
#define DIALECT_READER_STEP_COUNTER_H

#include "event/event.h"

/* A struct of zeros: no step yet. */
struct steps {
    int64_t count; /* number of started steps */
    bool open;     /* the newest step is open */
    bool asked;    /* set by the owner: the model was called again after its last output */
};

/* The model's next output belongs to another step than the open one. */
bool step_counter_is_due(const struct steps *s);
/* Makes *ev the start of the next step; the previous one has ended. message_id: borrowed, or
 * NULL. */
void step_counter_start(struct steps *s, struct event *ev, const char *message_id);
/* Makes *ev the end of the open step. False: no step is open, and *ev is not set. */
bool step_counter_end(struct steps *s, struct event *ev);

#endif
