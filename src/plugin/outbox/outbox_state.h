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
    STATE(RECORDING) /* its turn has come; the attempt is being written to the journal */ \
    STATE(SENDING)   /* an attempt is under way */ \
    STATE(ASKED)     /* the plugin is asked what the answer means */ \
    STATE(DECIDED)   /* the plugin's verdict is being committed */ \
    STATE(DROPPED)   /* there will be no attempt any more; the plugin is told why */ \
    STATE(GIVEN_UP)  /* what the plugin makes of that is being committed */ \
    STATE(ENDED)

#define OUTBOX_EVENTS(EVENT) \
    EVENT(PARK)   /* a secret of it is not set */ \
    EVENT(SUBMIT) /* into its queue */ \
    EVENT(RECORD) /* its turn has come, and it has a row in the journal */ \
    EVENT(SEND)   /* an attempt begins */ \
    EVENT(ASK)    /* an attempt has an answer, or cannot begin */ \
    EVENT(DECIDE) /* the batch with the verdict has come */ \
    EVENT(AGAIN)  /* the verdict is committed: another attempt */ \
    EVENT(DROP)   /* too many, too old, replaced, or given up by somebody else */ \
    EVENT(END)    /* the verdict is committed: no other attempt */ \
    EVENT(CLOSE)  /* the outbox ends, or its turn is not known any more */

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
