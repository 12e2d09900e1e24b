/* SPDX-License-Identifier: MIT
 * Transition table of a connector process, from the lists of its header. */
#include "plugin/process/spawn/connector_state.h"

static const char *const connector_state_names[] = {CONNECTOR_STATES(STATE_TABLE_NAME)};
static const char *const connector_event_names[] = {CONNECTOR_EVENTS(STATE_TABLE_NAME)};

#define CONNECTOR_ROW(state, event, next)                                                          \
    {CONNECTOR_##state, CONNECTOR_ON_##event, CONNECTOR_##next},
static const struct state_transition connector_transitions[] = {
    CONNECTOR_TRANSITIONS(CONNECTOR_ROW)};

const struct state_table connector_state_table = STATE_TABLE_OF(
    "connector process", connector_state_names, connector_event_names, connector_transitions);

enum connector_state connector_state_next(enum connector_state state,
                                          enum connector_state_event event)
{
    return (enum connector_state)state_table_move(&connector_state_table, state, event);
}
