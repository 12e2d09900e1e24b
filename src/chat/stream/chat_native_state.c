/* SPDX-License-Identifier: MIT
 * Transition table of native streams, from the lists of its header. */
#include "chat/stream/chat_native_state.h"

static const char *const chat_native_state_names[] = {CHAT_NATIVE_STATES(STATE_TABLE_NAME)};
static const char *const chat_native_event_names[] = {CHAT_NATIVE_EVENTS(STATE_TABLE_NAME)};

#define CHAT_NATIVE_ROW(state, event, next)                                                        \
    {CHAT_NATIVE_##state, CHAT_NATIVE_ON_##event, CHAT_NATIVE_##next},
static const struct state_transition chat_native_transitions[] = {
    CHAT_NATIVE_TRANSITIONS(CHAT_NATIVE_ROW)};

const struct state_table chat_native_table = STATE_TABLE_OF(
    "native stream", chat_native_state_names, chat_native_event_names, chat_native_transitions);

enum chat_native_state chat_native_next(enum chat_native_state state, enum chat_native_event event)
{
    return (enum chat_native_state)state_table_move(&chat_native_table, state, event);
}
