/* SPDX-License-Identifier: MIT
 * Transition table of a turn, from the lists of its header. */
#include "core/turn/turn_state.h"

static const char *const turn_state_names[] = {TURN_STATES(STATE_TABLE_NAME)};
static const char *const turn_event_names[] = {TURN_EVENTS(STATE_TABLE_NAME)};

#define TURN_ROW(state, event, next) {TURN_##state, TURN_ON_##event, TURN_##next},
static const struct state_transition turn_transitions[] = {TURN_TRANSITIONS(TURN_ROW)};

const struct state_table turn_state_table =
    STATE_TABLE_OF("turn", turn_state_names, turn_event_names, turn_transitions);

enum turn_state turn_state_next(enum turn_state state, enum turn_state_event event)
{
    return (enum turn_state)state_table_move(&turn_state_table, state, event);
}
