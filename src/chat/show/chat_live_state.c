/* SPDX-License-Identifier: MIT
 * Transition table of a progress message, from the lists of its header. */
#include "chat/show/chat_live_state.h"

static const char *const chat_live_state_names[] = {CHAT_LIVE_STATES(STATE_TABLE_NAME)};
static const char *const chat_live_event_names[] = {CHAT_LIVE_EVENTS(STATE_TABLE_NAME)};

#define CHAT_LIVE_ROW(state, event, next)                                                          \
    {CHAT_LIVE_##state, CHAT_LIVE_ON_##event, CHAT_LIVE_##next},
static const struct state_transition chat_live_transitions[] = {
    CHAT_LIVE_TRANSITIONS(CHAT_LIVE_ROW)};

const struct state_table chat_live_table = STATE_TABLE_OF(
    "progress message", chat_live_state_names, chat_live_event_names, chat_live_transitions);

enum chat_live_state chat_live_next(enum chat_live_state state, enum chat_live_event event)
{
    return (enum chat_live_state)state_table_move(&chat_live_table, state, event);
}
