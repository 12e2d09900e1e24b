/* SPDX-License-Identifier: MIT
 * State machine of an outbound request in the outbox. outbox_entry_move is the only function that
 * changes the state. Loop thread. */
#ifndef PLUGIN_OUTBOX_OUTBOX_STATE_H
#define PLUGIN_OUTBOX_OUTBOX_STATE_H

#include "base/state_table.h"

/* clang-format off */
#define OUTBOX_STATES(STATE) \
    STATE(NEW)       /* its batch has been committed */ \
    STATE(PARKED)    /* waits for a secret (tc_secret), outside of its queue */ \
    STATE(QUEUED)    /* waits in the request queue of its conversation */ \
    STATE(RECORDING) /* due; the attempt is being written to the journal */ \
    STATE(SENDING)   /* an attempt is in progress */ \
    STATE(ASKED)     /* the plugin interprets the response */ \
    STATE(DECIDED)   /* the plugin's verdict is being committed */ \
    STATE(DROPPED)   /* no further attempt; the plugin is informed */ \
    STATE(GIVEN_UP)  /* the plugin's answer to that is being committed */ \
    STATE(ENDED)

#define OUTBOX_EVENTS(EVENT) \
    EVENT(PARK)   /* one of its secrets is not set */ \
    EVENT(SUBMIT) /* queued */ \
    EVENT(RECORD) /* due, and it has a row in the journal */ \
    EVENT(SEND)   /* an attempt starts */ \
    EVENT(ASK)    /* an attempt has ended, or cannot start */ \
    EVENT(DECIDE) /* the batch with the verdict has arrived */ \
    EVENT(AGAIN)  /* the verdict is committed: another attempt */ \
    EVENT(DROP)   /* too many, expired, replaced, or cancelled by another part of the host */ \
    EVENT(END)    /* the verdict is committed: no other attempt */ \
    EVENT(CLOSE)  /* the outbox is freed, or its turn is unknown */

#define OUTBOX_TRANSITIONS(ROW) \
    /*  state      event   next */ \
    ROW(NEW,       PARK,   PARKED)    \
    ROW(NEW,       SUBMIT, QUEUED)    \
    ROW(NEW,       DROP,   DROPPED)   \
    ROW(NEW,       CLOSE,  ENDED)     \
    ROW(PARKED,    SUBMIT, QUEUED)    \
    ROW(PARKED,    DROP,   DROPPED)   \
    ROW(PARKED,    CLOSE,  ENDED)     \
    ROW(QUEUED,    PARK,   PARKED)    \
    ROW(QUEUED,    RECORD, RECORDING) \
    ROW(QUEUED,    SEND,   SENDING)   \
    ROW(QUEUED,    ASK,    ASKED)     \
    ROW(QUEUED,    DROP,   DROPPED)   \
    ROW(QUEUED,    CLOSE,  ENDED)     \
    ROW(RECORDING, SEND,   SENDING)   \
    ROW(RECORDING, ASK,    ASKED)     \
    ROW(RECORDING, DROP,   DROPPED)   \
    ROW(RECORDING, CLOSE,  ENDED)     \
    ROW(SENDING,   ASK,    ASKED)     \
    ROW(SENDING,   CLOSE,  ENDED)     \
    ROW(ASKED,     DECIDE, DECIDED)   \
    ROW(ASKED,     CLOSE,  ENDED)     \
    ROW(DECIDED,   AGAIN,  QUEUED)    \
    ROW(DECIDED,   END,    ENDED)     \
    ROW(DECIDED,   CLOSE,  ENDED)     \
    ROW(DROPPED,   DECIDE, GIVEN_UP)  \
    ROW(DROPPED,   CLOSE,  ENDED)     \
    ROW(GIVEN_UP,  END,    ENDED)     \
    ROW(GIVEN_UP,  CLOSE,  ENDED)
/* clang-format on */

#define OUTBOX_STATE_ENUM(name) OUTBOX_##name,
enum outbox_state { OUTBOX_STATES(OUTBOX_STATE_ENUM) };
#define OUTBOX_EVENT_ENUM(name) OUTBOX_ON_##name,
enum outbox_state_event { OUTBOX_EVENTS(OUTBOX_EVENT_ENUM) };

extern const struct state_table outbox_state_table;

/* Asserts that the event is possible in that state. */
enum outbox_state outbox_state_next(enum outbox_state state, enum outbox_state_event event);

#endif
