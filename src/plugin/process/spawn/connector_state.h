/* SPDX-License-Identifier: MIT
 * State machine of a connector process, over all its lives. connector_supervisor_move is the only
 * function that changes the state. Loop thread. */
#ifndef PLUGIN_PROCESS_SPAWN_CONNECTOR_STATE_H
#define PLUGIN_PROCESS_SPAWN_CONNECTOR_STATE_H

#include "base/state_table.h"

/* clang-format off */
#define CONNECTOR_STATES(STATE) \
    STATE(NEW)      /* not launched yet */ \
    STATE(DOWN)     /* there is no process; the next one starts later, or when it is asked for */ \
    STATE(STARTING) /* there is a process; its init has not returned */ \
    STATE(RUNNING) \
    STATE(STOPPING) /* it has been sent IPC_STOP */ \
    STATE(DYING)    /* it was killed and is not reaped yet; all that it has done is known */ \
    STATE(ENDED)

#define CONNECTOR_EVENTS(EVENT) \
    EVENT(SPAWN)   /* a process was started */ \
    EVENT(FAIL)    /* none could be started */ \
    EVENT(READY)   /* its init has returned */ \
    EVENT(STOP)    /* it is sent IPC_STOP */ \
    EVENT(EXIT)    /* it ended, closed its socket, broke the protocol, hung, or is not wanted */ \
    EVENT(RESTART) /* reaped; another one follows */ \
    EVENT(REAP)    /* reaped; none follows, as when the first one failed */ \
    EVENT(ABANDON) /* stopped while there is no process */

#define CONNECTOR_TRANSITIONS(ROW) \
    /*  state     event    next */ \
    ROW(NEW,      SPAWN,   STARTING) \
    ROW(NEW,      FAIL,    ENDED)    \
    ROW(NEW,      ABANDON, ENDED)    \
    ROW(DOWN,     SPAWN,   STARTING) \
    ROW(DOWN,     FAIL,    DOWN)     \
    ROW(DOWN,     ABANDON, ENDED)    \
    ROW(STARTING, READY,   RUNNING)  \
    ROW(STARTING, EXIT,    DYING)    \
    ROW(RUNNING,  STOP,    STOPPING) \
    ROW(RUNNING,  EXIT,    DYING)    \
    ROW(STOPPING, EXIT,    DYING)    \
    ROW(DYING,    RESTART, DOWN)     \
    ROW(DYING,    REAP,    ENDED)
/* clang-format on */

#define CONNECTOR_STATE_ENUM(name) CONNECTOR_##name,
enum connector_state { CONNECTOR_STATES(CONNECTOR_STATE_ENUM) };
#define CONNECTOR_EVENT_ENUM(name) CONNECTOR_ON_##name,
enum connector_state_event { CONNECTOR_EVENTS(CONNECTOR_EVENT_ENUM) };

extern const struct state_table connector_state_table;

/* Asserts that the event is possible in that state. */
enum connector_state connector_state_next(enum connector_state state,
                                          enum connector_state_event event);

#endif
