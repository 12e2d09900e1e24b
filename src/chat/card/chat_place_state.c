/* SPDX-License-Identifier: MIT
 * Transition table of a place, from the lists of its header. */
#include "chat/card/chat_place_state.h"

static const char *const chat_place_state_names[] = {CHAT_PLACE_STATES(STATE_TABLE_NAME)};
static const char *const chat_place_event_names[] = {CHAT_PLACE_EVENTS(STATE_TABLE_NAME)};

#define CHAT_PLACE_ROW(state, event, next)                                                         \
    {CHAT_PLACE_##state, CHAT_PLACE_ON_##event, CHAT_PLACE_##next},
static const struct state_transition chat_place_transitions[] = {
    CHAT_PLACE_TRANSITIONS(CHAT_PLACE_ROW)};

const struct state_table chat_place_table = STATE_TABLE_OF(
    "place of a card", chat_place_state_names, chat_place_event_names, chat_place_transitions);

enum chat_place_state chat_place_next(enum chat_place_state state, enum chat_place_event event)
{
    return (enum chat_place_state)state_table_move(&chat_place_table, state, event);
}
