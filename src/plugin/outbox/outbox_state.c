/* SPDX-License-Identifier: MIT
 * Transition table of an outbound request, from the lists of its header. */
#include "plugin/outbox/outbox_state.h"

static const char *const outbox_state_names[] = {OUTBOX_STATES(STATE_TABLE_NAME)};
static const char *const outbox_event_names[] = {OUTBOX_EVENTS(STATE_TABLE_NAME)};

#define OUTBOX_ROW(state, event, next) {OUTBOX_##state, OUTBOX_ON_##event, OUTBOX_##next},
static const struct state_transition outbox_transitions[] = {OUTBOX_TRANSITIONS(OUTBOX_ROW)};

const struct state_table outbox_state_table =
    STATE_TABLE_OF("outbound request", outbox_state_names, outbox_event_names, outbox_transitions);

enum outbox_state outbox_state_next(enum outbox_state state, enum outbox_state_event event)
{
    return (enum outbox_state)state_table_move(&outbox_state_table, state, event);
}
