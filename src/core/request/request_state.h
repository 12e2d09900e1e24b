/* SPDX-License-Identifier: MIT
 * State machine of a request of an agent (an approval or a question), from the event that opens it
 * to its decision. request_move is the only function that changes the state. Loop thread. */
#ifndef CORE_REQUEST_REQUEST_STATE_H
#define CORE_REQUEST_REQUEST_STATE_H

#include "base/state_table.h"

/* clang-format off */
#define REQUEST_STATES(STATE) \
    STATE(NEW)      /* the rules are being evaluated */ \
    STATE(OPEN)     /* people are asked */ \
    STATE(DECIDED)  /* by a rule or an earlier answer; emitted after the opening event */ \
    STATE(REFUSED)  /* the dialog has refused it to the agent; emitted like DECIDED */ \
    STATE(RESOLVED)

#define REQUEST_EVENTS(EVENT) \
    EVENT(PRESENT) /* no rule decides: people are asked */ \
    EVENT(DECIDE)  /* a rule or an earlier answer decides */ \
    EVENT(REFUSE)  /* it cannot be presented to people */ \
    EVENT(ANSWER)  /* by a permitted person */ \
    EVENT(EXPIRE)  /* no answer before the deadline */ \
    EVENT(REPORT)  /* the opening event was delivered: its decision follows */ \
    EVENT(SETTLE)  /* the agent reports that it is settled */ \
    EVENT(CANCEL)  /* the agent no longer waits */

#define REQUEST_TRANSITIONS(ROW) \
    /*  state    event    next */ \
    ROW(NEW,     PRESENT, OPEN)     \
    ROW(NEW,     DECIDE,  DECIDED)  \
    ROW(NEW,     REFUSE,  REFUSED)  \
    ROW(OPEN,    ANSWER,  RESOLVED) \
    ROW(OPEN,    EXPIRE,  RESOLVED) \
    ROW(OPEN,    SETTLE,  RESOLVED) \
    ROW(OPEN,    CANCEL,  RESOLVED) \
    ROW(DECIDED, REPORT,  RESOLVED) \
    ROW(DECIDED, SETTLE,  RESOLVED) \
    ROW(DECIDED, CANCEL,  RESOLVED) \
    ROW(REFUSED, REPORT,  RESOLVED) \
    ROW(REFUSED, SETTLE,  RESOLVED) \
    ROW(REFUSED, CANCEL,  RESOLVED)
/* clang-format on */

#define REQUEST_STATE_ENUM(name) REQUEST_##name,
enum request_state { REQUEST_STATES(REQUEST_STATE_ENUM) };
#define REQUEST_EVENT_ENUM(name) REQUEST_ON_##name,
enum request_state_event { REQUEST_EVENTS(REQUEST_EVENT_ENUM) };

extern const struct state_table request_state_table;

/* Asserts that the event is possible in that state. */
enum request_state request_state_next(enum request_state state, enum request_state_event event);

#endif
