/* SPDX-License-Identifier: MIT
 * Transition table of a finite state machine, and its lookup functions. A machine defines its
 * states, events and transitions once, as lists of macros in its header (state, event, next state);
 * the enums, the names and the table are made from them. A transition that is not in the table is a
 * defect of the program, and fails an assertion. Pure; any thread. */
#ifndef BASE_STATE_TABLE_H
#define BASE_STATE_TABLE_H

#include <stddef.h>

struct state_transition {
    unsigned char state, event, next;
};

struct state_table {
    const char *name; /* name of the machine */
    const char *const *states, *const *events;
    const struct state_transition *rows;
    size_t state_count, event_count, row_count;
};

#define STATE_TABLE_NAME(name, ...) #name,
#define STATE_TABLE_COUNT(array) (sizeof(array) / sizeof *(array))
/* Members of a struct state_table from three arrays. */
#define STATE_TABLE_OF(machine, state_names, event_names, transitions)                             \
    {                                                                                              \
        .name = machine, .states = state_names, .events = event_names, .rows = transitions,        \
        .state_count = STATE_TABLE_COUNT(state_names),                                             \
        .event_count = STATE_TABLE_COUNT(event_names),                                             \
        .row_count = STATE_TABLE_COUNT(transitions),                                               \
    }

/* The next state; -1: the event is not possible in this state. */
int state_table_find(const struct state_table *t, unsigned state, unsigned event);
/* The next state. If the event is not possible, aborts with machine, state and event. */
unsigned state_table_move(const struct state_table *t, unsigned state, unsigned event);

#endif
