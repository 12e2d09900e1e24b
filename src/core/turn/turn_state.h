/* SPDX-License-Identifier: MIT
 * State machine of a turn: the attempt gate, the commit of its outcome, its end. turn.c changes the
 * state through turn_state_next only. Loop thread. */
#ifndef CORE_TURN_TURN_STATE_H
#define CORE_TURN_TURN_STATE_H

#include "base/state_table.h"

/* clang-format off */
#define TURN_STATES(STATE) \
    STATE(RUNNING)    /* no outcome yet; errors are held back, because another attempt may follow */ \
    STATE(RELEASED)   /* no outcome yet; no other attempt follows, nothing is held back */ \
    STATE(COMMITTING) /* its outcome is being recorded; events wait for turn_confirm_outcome */ \
    STATE(DISPATCHED) /* its outcome has been dispatched */ \
    STATE(CLOSING)    /* ended, and its outcome is still being recorded */ \
    STATE(ENDED)

#define TURN_EVENTS(EVENT) \
    EVENT(RETRY)    /* the attempt has ended, and another one follows */ \
    EVENT(RELEASE)  /* no other attempt will follow */ \
    EVENT(COMMIT)   /* the outcome is passed to its recorder (turn_spec.commit) */ \
    EVENT(DISPATCH) /* the outcome is dispatched at once: the turn has no recorder */ \
    EVENT(CONFIRM)  /* the outcome is recorded, and dispatched with the events after it */ \
    EVENT(NEXT)     /* the stream begins another turn */ \
    EVENT(END)      /* the stream has ended */ \
    EVENT(DETACH)   /* the host continues the turn after a restart */

#define TURN_TRANSITIONS(ROW) \
    /*  state       event     next */ \
    ROW(RUNNING,    RETRY,    RUNNING)    \
    ROW(RUNNING,    RELEASE,  RELEASED)   \
    ROW(RUNNING,    COMMIT,   COMMITTING) \
    ROW(RUNNING,    DISPATCH, DISPATCHED) \
    ROW(RUNNING,    DETACH,   ENDED)      \
    ROW(RELEASED,   RELEASE,  RELEASED)   \
    ROW(RELEASED,   COMMIT,   COMMITTING) \
    ROW(RELEASED,   DISPATCH, DISPATCHED) \
    ROW(RELEASED,   DETACH,   ENDED)      \
    ROW(COMMITTING, RELEASE,  COMMITTING) \
    ROW(COMMITTING, CONFIRM,  DISPATCHED) \
    ROW(COMMITTING, END,      CLOSING)    \
    ROW(DISPATCHED, RELEASE,  DISPATCHED) \
    ROW(DISPATCHED, NEXT,     RELEASED)   \
    ROW(DISPATCHED, END,      ENDED)      \
    ROW(CLOSING,    CONFIRM,  ENDED)
/* clang-format on */

#define TURN_STATE_ENUM(name) TURN_##name,
enum turn_state { TURN_STATES(TURN_STATE_ENUM) };
#define TURN_EVENT_ENUM(name) TURN_ON_##name,
enum turn_state_event { TURN_EVENTS(TURN_EVENT_ENUM) };

extern const struct state_table turn_state_table;

/* Asserts that the event is possible in that state. */
enum turn_state turn_state_next(enum turn_state state, enum turn_state_event event);

#endif
