/* SPDX-License-Identifier: MIT
 * Tests of the state tables of a progress message, of native streams and of a place of a card: each
 * state with each event. */
#include "base/table_check.h"
#include "chat/card/chat_place_state.h"
#include "chat/show/chat_live_state.h"
#include "chat/stream/chat_native_state.h"
#include "tap/tap.h"

static unsigned move_live(unsigned state, unsigned event)
{
    return chat_live_next((enum chat_live_state)state, (enum chat_live_event)event);
}

static unsigned move_native(unsigned state, unsigned event)
{
    return chat_native_next((enum chat_native_state)state, (enum chat_native_event)event);
}

static unsigned move_place(unsigned state, unsigned event)
{
    return chat_place_next((enum chat_place_state)state, (enum chat_place_event)event);
}

int main(void)
{
    plan_lazy();
    table_check(&chat_live_table, move_live, CHAT_LIVE_HIDDEN, 0);
    table_check(&chat_native_table, move_native, CHAT_NATIVE_OFF, 0);
    table_check(&chat_place_table, move_place, CHAT_PLACE_POSTING, 0);
    return 0;
}
