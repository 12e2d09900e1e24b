/* SPDX-License-Identifier: MIT
 * State machine of one place where a request card is shown. chat_cards.c changes the state through
 * chat_place_next only. */
#ifndef CHAT_CARD_CHAT_PLACE_STATE_H
#define CHAT_CARD_CHAT_PLACE_STATE_H

#include "base/state_table.h"

/* clang-format off */
#define CHAT_PLACE_STATES(STATE) \
    STATE(POSTING)  /* the request for the message has been sent */ \
    STATE(OPEN)     /* the message exists, and its id is known */ \
    STATE(UPDATING) /* an edit with the choices of a person so far is in flight */ \
    STATE(CLOSING)  /* an edit with the decision, which removes the buttons, is in flight */ \
    STATE(CLOSED)   /* no further operation */

#define CHAT_PLACE_EVENTS(EVENT) \
    EVENT(DELIVER) /* the service has returned the id of the message */ \
    EVENT(FAIL)    /* the message was not created */ \
    EVENT(UPDATE)  /* an edit is sent */ \
    EVENT(UPDATED) /* an edit has ended, executed or not */ \
    EVENT(CLOSE)   /* decided, expired, or the turn has ended */

#define CHAT_PLACE_TRANSITIONS(ROW) \
    ROW(POSTING,  DELIVER, OPEN) \
    ROW(POSTING,  FAIL,    CLOSED) \
    ROW(POSTING,  CLOSE,   POSTING)  /* closed when the message exists */ \
    ROW(OPEN,     UPDATE,  UPDATING) \
    ROW(OPEN,     CLOSE,   CLOSING) \
    ROW(UPDATING, UPDATED, OPEN) \
    ROW(UPDATING, CLOSE,   CLOSING) \
    ROW(CLOSING,  UPDATED, CLOSED) \
    ROW(CLOSING,  CLOSE,   CLOSING) \
    ROW(CLOSED,   UPDATED, CLOSED) \
    ROW(CLOSED,   FAIL,    CLOSED) \
    ROW(CLOSED,   CLOSE,   CLOSED)
/* clang-format on */

#define CHAT_PLACE_STATE_ENUM(name) CHAT_PLACE_##name,
enum chat_place_state { CHAT_PLACE_STATES(CHAT_PLACE_STATE_ENUM) };
#define CHAT_PLACE_EVENT_ENUM(name) CHAT_PLACE_ON_##name,
enum chat_place_event { CHAT_PLACE_EVENTS(CHAT_PLACE_EVENT_ENUM) };

extern const struct state_table chat_place_table;

/* Asserts that the event is possible in that state. */
enum chat_place_state chat_place_next(enum chat_place_state state, enum chat_place_event event);

#endif
