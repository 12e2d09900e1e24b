/* SPDX-License-Identifier: MIT
 * Transition table of a request of an agent, made from the lists of its header. */
#include "core/request/request_state.h"

static const char *const request_state_names[] = {REQUEST_STATES(STATE_TABLE_NAME)};
static const char *const request_event_names[] = {REQUEST_EVENTS(STATE_TABLE_NAME)};

#define REQUEST_ROW(state, event, next) {REQUEST_##state, REQUEST_ON_##event, REQUEST_##next},
static const struct state_transition request_transitions[] = {REQUEST_TRANSITIONS(REQUEST_ROW)};

const struct state_table request_state_table =
    STATE_TABLE_OF("request", request_state_names, request_event_names, request_transitions);

enum request_state request_state_next(enum request_state state, enum request_state_event event)
{
    return (enum request_state)state_table_move(&request_state_table, state, event);
}
