/* SPDX-License-Identifier: MIT
 * State machine of a progress message. chat_live.c changes the state through chat_live_next only.
 */
#ifndef CHAT_SHOW_CHAT_LIVE_STATE_H
#define CHAT_SHOW_CHAT_LIVE_STATE_H

#include "base/state_table.h"

/* clang-format off */
#define CHAT_LIVE_STATES(STATE) \
    STATE(HIDDEN)    /* no message */ \
    STATE(CREATING)  /* being created; the memory says so, so that a restart knows */ \
    STATE(SEARCHING) /* the reply to the create was lost; the service is asked for the message */ \
    STATE(SHOWN)     /* the message exists, and its id is known */ \
    STATE(EDITING)   /* an edit is in flight */ \
    STATE(UNKNOWN)   /* the message may exist, but its id is not known: no further operation */ \
    STATE(CLOSED)    /* the outcome is sent: no further operation */

#define CHAT_LIVE_EVENTS(EVENT) \
    EVENT(CREATE)  /* a create is sent, also to replace a message that is too old to be edited */ \
    EVENT(CREATED) /* the service has returned the id */ \
    EVENT(REPEAT)  /* the create is sent again with the same key */ \
    EVENT(SEARCH)  /* a search is sent */ \
    EVENT(LOSE)    /* it can no longer be found out whether the message exists */ \
    EVENT(REFUSE)  /* the message does not exist: refused, dropped, not found */ \
    EVENT(EDIT)    /* an edit is sent */ \
    EVENT(EDITED)  /* the edit has ended, executed or not */ \
    EVENT(GONE)    /* a person has deleted the message, or it can no longer be edited */ \
    EVENT(CLOSE)   /* the outcome is about to be sent */

#define CHAT_LIVE_TRANSITIONS(ROW) \
    ROW(HIDDEN,    CREATE,  CREATING) \
    ROW(HIDDEN,    CREATED, SHOWN)     /* known from the memory of an earlier process */ \
    ROW(HIDDEN,    REPEAT,  CREATING) \
    ROW(HIDDEN,    SEARCH,  SEARCHING) \
    ROW(HIDDEN,    LOSE,    UNKNOWN) \
    ROW(HIDDEN,    CLOSE,   CLOSED) \
    ROW(CREATING,  CREATED, SHOWN) \
    ROW(CREATING,  REPEAT,  CREATING) \
    ROW(CREATING,  SEARCH,  SEARCHING) \
    ROW(CREATING,  LOSE,    UNKNOWN) \
    ROW(CREATING,  REFUSE,  HIDDEN) \
    ROW(CREATING,  CLOSE,   CLOSED) \
    ROW(SEARCHING, CREATED, SHOWN) \
    ROW(SEARCHING, SEARCH,  SEARCHING) \
    ROW(SEARCHING, LOSE,    UNKNOWN) \
    ROW(SEARCHING, REFUSE,  HIDDEN) \
    ROW(SEARCHING, CLOSE,   CLOSED) \
    ROW(SHOWN,     CREATE,  CREATING) \
    ROW(SHOWN,     EDIT,    EDITING) \
    ROW(SHOWN,     CLOSE,   CLOSED) \
    ROW(EDITING,   EDITED,  SHOWN) \
    ROW(EDITING,   GONE,    HIDDEN) \
    ROW(EDITING,   CLOSE,   CLOSED) \
    ROW(UNKNOWN,   CLOSE,   CLOSED) \
    ROW(CLOSED,    CREATED, CLOSED)    /* results of requests that were in flight */ \
    ROW(CLOSED,    LOSE,    CLOSED) \
    ROW(CLOSED,    REFUSE,  CLOSED) \
    ROW(CLOSED,    EDITED,  CLOSED) \
    ROW(CLOSED,    GONE,    CLOSED) \
    ROW(CLOSED,    CLOSE,   CLOSED)
/* clang-format on */

#define CHAT_LIVE_STATE_ENUM(name) CHAT_LIVE_##name,
enum chat_live_state { CHAT_LIVE_STATES(CHAT_LIVE_STATE_ENUM) };
#define CHAT_LIVE_EVENT_ENUM(name) CHAT_LIVE_ON_##name,
enum chat_live_event { CHAT_LIVE_EVENTS(CHAT_LIVE_EVENT_ENUM) };

extern const struct state_table chat_live_table;

/* Asserts that the event is possible in that state. */
enum chat_live_state chat_live_next(enum chat_live_state state, enum chat_live_event event);

#endif
