/* SPDX-License-Identifier: MIT
 * State machine of the native streams of a turn, of which one at a time is open. chat_native.c
 * changes the state through chat_native_next only. */
#ifndef CHAT_STREAM_CHAT_NATIVE_STATE_H
#define CHAT_STREAM_CHAT_NATIVE_STATE_H

#include "base/state_table.h"

/* clang-format off */
#define CHAT_NATIVE_STATES(STATE) \
    STATE(OFF)       /* the turn is shown in another way, or a person has stopped the stream */ \
    STATE(NONE)      /* no stream is open; the next one can begin */ \
    STATE(BEGINNING) /* a begin is in flight */ \
    STATE(OPEN)      /* a stream is open, and no request is in flight */ \
    STATE(APPENDING) /* an append is in flight */ \
    STATE(LEAVING)   /* the stream is being ended before its limits; another one follows */ \
    STATE(CLOSED)    /* the outcome is sent: no further items are appended */

#define CHAT_NATIVE_EVENTS(EVENT) \
    EVENT(START)   /* the turn will be shown by streams */ \
    EVENT(BEGIN)   /* a begin is sent */ \
    EVENT(BEGUN)   /* the service has returned its id */ \
    EVENT(APPEND)  /* an append is sent */ \
    EVENT(APPENDED) \
    EVENT(REFUSE)  /* certainly not executed: refused or dropped */ \
    EVENT(LOSE)    /* the reply is lost: may have been executed */ \
    EVENT(GONE)    /* the stream is over, or deleted */ \
    EVENT(LEAVE)   /* its end is sent */ \
    EVENT(LEFT)    /* the end has a result */ \
    EVENT(GIVE_UP) /* the turn continues without a stream */ \
    EVENT(CLOSE)   /* the outcome is about to be sent */

#define CHAT_NATIVE_TRANSITIONS(ROW) \
    ROW(OFF,       START,    NONE) \
    ROW(OFF,       CLOSE,    CLOSED) \
    ROW(NONE,      BEGIN,    BEGINNING) \
    ROW(NONE,      GIVE_UP,  OFF) \
    ROW(NONE,      CLOSE,    CLOSED) \
    ROW(BEGINNING, BEGUN,    OPEN) \
    ROW(BEGINNING, REFUSE,   NONE) \
    ROW(BEGINNING, LOSE,     NONE)    /* the stream may exist, but its id is not known */ \
    ROW(BEGINNING, CLOSE,    CLOSED) \
    ROW(OPEN,      APPEND,   APPENDING) \
    ROW(OPEN,      LEAVE,    LEAVING) \
    ROW(OPEN,      GIVE_UP,  OFF) \
    ROW(OPEN,      CLOSE,    CLOSED) \
    ROW(APPENDING, APPENDED, OPEN) \
    ROW(APPENDING, REFUSE,   OPEN) \
    ROW(APPENDING, LOSE,     OPEN) \
    ROW(APPENDING, GONE,     NONE) \
    ROW(APPENDING, CLOSE,    CLOSED) \
    ROW(LEAVING,   LEFT,     NONE) \
    ROW(LEAVING,   CLOSE,    CLOSED) \
    ROW(CLOSED,    BEGUN,    CLOSED)  /* results of requests that were in flight */ \
    ROW(CLOSED,    APPENDED, CLOSED) \
    ROW(CLOSED,    REFUSE,   CLOSED) \
    ROW(CLOSED,    LOSE,     CLOSED) \
    ROW(CLOSED,    GONE,     CLOSED) \
    ROW(CLOSED,    LEFT,     CLOSED) \
    ROW(CLOSED,    CLOSE,    CLOSED)
/* clang-format on */

#define CHAT_NATIVE_STATE_ENUM(name) CHAT_NATIVE_##name,
enum chat_native_state { CHAT_NATIVE_STATES(CHAT_NATIVE_STATE_ENUM) };
#define CHAT_NATIVE_EVENT_ENUM(name) CHAT_NATIVE_ON_##name,
enum chat_native_event { CHAT_NATIVE_EVENTS(CHAT_NATIVE_EVENT_ENUM) };

extern const struct state_table chat_native_table;

/* Asserts that the event is possible in that state. */
enum chat_native_state chat_native_next(enum chat_native_state state, enum chat_native_event event);

#endif
