/* SPDX-License-Identifier: MIT
 * State machine of a connector process, over all its lives. connector_supervisor_move is the only
 * function that changes the state. Loop thread. */
#ifndef PLUGIN_PROCESS_SPAWN_CONNECTOR_STATE_H
#define PLUGIN_PROCESS_SPAWN_CONNECTOR_STATE_H

#include "base/state_table.h"

/* clang-format off */
#define CONNECTOR_STATES(STATE) \
    STATE(NEW)      /* not launched yet */ \
    STATE(DOWN)     /* no process; the next one starts later, or on request */ \
    STATE(STARTING) /* a process runs; its init has not returned */ \
    STATE(RUNNING) \
    STATE(STOPPING) /* IPC_STOP was sent */ \
    STATE(DYING)    /* killed and not reaped yet; its progress is known */ \
    STATE(ENDED)

#define CONNECTOR_EVENTS(EVENT) \
    EVENT(SPAWN)   /* a process was started */ \
    EVENT(FAIL)    /* a process could not be started */ \
    EVENT(READY)   /* its init has returned */ \
    EVENT(STOP)    /* IPC_STOP is sent */ \
    EVENT(EXIT)    /* it ended, closed its socket, violated the protocol, hung, or is not needed any
                    * more */ \
    EVENT(RESTART) /* reaped; restart follows */ \
    EVENT(REAP)    /* reaped; no restart, e.g. after a failed first start */ \
    EVENT(ABANDON) /* stopped without a process */

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
