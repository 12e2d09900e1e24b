/* SPDX-License-Identifier: MIT
 * Decides after each result how the delivery of a durable message continues: another attempt,
 * without a part that was refused, in smaller parts, as a file, a search for the message, or the
 * end. Guarantees, whatever the service answers: a message is confirmed by the service or becomes a
 * dead letter; copies are at most one more than the replies that were lost, and all but the first
 * are marked; exactly one copy with keys or lookups. Pure; tests/chat/t_chat_model.c explores all
 * interleavings.
 *
 * Assumes that nothing takes effect later than CHAT_LATE_MS after its connection has ended. */
#ifndef CHAT_OPERATION_CHAT_DELIVERY_H
#define CHAT_OPERATION_CHAT_DELIVERY_H

#include <turncast/plugin.h>

#include "chat/operation/chat_record.h"
#include "chat/operation/chat_result.h"

#define CHAT_LATE_MS 10000
/* Maximum number of resends of one message after lost replies, when the service cannot recognise a
 * repeat. */
#define CHAT_DOUBTS_MAX 3

/* Meaning of a result for a delivery. */
/* clang-format off */
#define CHAT_DELIVERY_EVENTS(EVENT) \
    EVENT(CONFIRMED)    /* the service has confirmed the operation */ \
    EVENT(DELAYED)      /* certainly not executed; may be tried again */ \
    EVENT(LOST)         /* no reply: may have been executed */ \
    EVENT(UNCLEAR)      /* a reply that does not say whether the operation was executed */ \
    EVENT(FORMAT)       /* formatting refused */ \
    EVENT(LONG)         /* too long */ \
    EVENT(EMPTY)        /* nothing visible */ \
    EVENT(NO_QUESTION)  /* the answered message is gone */ \
    EVENT(NO_THREAD)    /* the thread is gone */ \
    EVENT(NO_MESSAGE)   /* the edited message is gone */ \
    EVENT(MOVED)        /* the chat has another id */ \
    EVENT(ABSENT)       /* a search has found nothing */ \
    EVENT(UNSUPPORTED)  /* the service does not have this operation */ \
    EVENT(NO_CHAT)      /* nothing can be posted there */ \
    EVENT(LOCKED)       /* credentials refused */ \
    EVENT(REFUSED)      /* any other refusal */

/* All permitted transitions. Of several transitions for one state and event, the history of the
 * message and the abilities of the service select one. */
#define CHAT_DELIVERY_TRANSITIONS(ROW) \
    ROW(POSTING, CONFIRMED,   DELIVERED) \
    ROW(POSTING, DELAYED,     POSTING) \
    ROW(POSTING, LOST,        POSTING)  /* same key, or marked */ \
    ROW(POSTING, LOST,        EDITING)  /* the progress message becomes the answer, marked */ \
    ROW(POSTING, LOST,        FINDING) \
    ROW(POSTING, LOST,        DEAD)     /* no resend left, or the option ambiguous = drop */ \
    ROW(POSTING, UNCLEAR,     POSTING)  /* same key */ \
    ROW(POSTING, UNCLEAR,     FINDING) \
    ROW(POSTING, UNCLEAR,     PROBING)  /* then marked */ \
    ROW(POSTING, UNCLEAR,     DEAD)     /* the option says so */ \
    ROW(POSTING, FORMAT,      POSTING)  ROW(POSTING, FORMAT,      DEAD) \
    ROW(POSTING, LONG,        POSTING)  ROW(POSTING, LONG,        FILING) \
    ROW(POSTING, LONG,        DEAD) \
    ROW(POSTING, EMPTY,       POSTING)  ROW(POSTING, EMPTY,       DEAD) \
    ROW(POSTING, NO_QUESTION, POSTING)  ROW(POSTING, NO_QUESTION, DEAD) \
    ROW(POSTING, NO_THREAD,   POSTING)  ROW(POSTING, NO_THREAD,   DEAD) \
    ROW(POSTING, NO_MESSAGE,  POSTING)  ROW(POSTING, NO_MESSAGE,  DEAD) \
    ROW(POSTING, MOVED,       POSTING)  ROW(POSTING, MOVED,       DEAD) \
    ROW(POSTING, ABSENT,      POSTING)  ROW(POSTING, ABSENT,      DEAD) \
    ROW(POSTING, UNSUPPORTED, POSTING)  ROW(POSTING, UNSUPPORTED, DEAD) \
    ROW(POSTING, NO_CHAT,     DEAD) \
    ROW(POSTING, LOCKED,      POSTING) \
    ROW(POSTING, REFUSED,     POSTING)  ROW(POSTING, REFUSED,     DEAD) \
    ROW(EDITING, CONFIRMED,   DELIVERED) \
    ROW(EDITING, DELAYED,     EDITING) \
    ROW(EDITING, LOST,        EDITING) \
    ROW(EDITING, UNCLEAR,     EDITING) \
    ROW(EDITING, FORMAT,      EDITING)  ROW(EDITING, FORMAT,      POSTING) \
    ROW(EDITING, LONG,        POSTING)  ROW(EDITING, LONG,        FILING) \
    ROW(EDITING, LONG,        DEAD) \
    ROW(EDITING, EMPTY,       EDITING)  ROW(EDITING, EMPTY,       POSTING) \
    ROW(EDITING, NO_QUESTION, POSTING) \
    ROW(EDITING, NO_THREAD,   POSTING) \
    ROW(EDITING, NO_MESSAGE,  POSTING) \
    ROW(EDITING, MOVED,       EDITING)  ROW(EDITING, MOVED,       POSTING) \
    ROW(EDITING, ABSENT,      POSTING) \
    ROW(EDITING, UNSUPPORTED, POSTING) \
    ROW(EDITING, NO_CHAT,     DEAD) \
    ROW(EDITING, LOCKED,      EDITING) \
    ROW(EDITING, REFUSED,     EDITING)  ROW(EDITING, REFUSED,     POSTING) \
    ROW(FINDING, CONFIRMED,   DELIVERED) \
    ROW(FINDING, CONFIRMED,   POSTING)  /* found the end of a stream that does not show the complete
                                           answer */ \
    ROW(FINDING, ABSENT,      POSTING)  ROW(FINDING, ABSENT,      FILING) \
    ROW(FINDING, DELAYED,     FINDING) \
    ROW(FINDING, LOST,        FINDING) \
    ROW(FINDING, UNCLEAR,     FINDING) \
    ROW(FINDING, LOCKED,      FINDING) \
    ROW(FINDING, NO_CHAT,     DEAD) \
    ROW(FINDING, UNSUPPORTED, POSTING)  ROW(FINDING, UNSUPPORTED, FILING) \
    ROW(FINDING, UNSUPPORTED, DEAD) \
    ROW(FINDING, REFUSED,     POSTING)  ROW(FINDING, REFUSED,     FILING) \
    ROW(FINDING, REFUSED,     DEAD) \
    ROW(PROBING, CONFIRMED,   POSTING)  ROW(PROBING, CONFIRMED,   FILING) \
    ROW(PROBING, DELAYED,     PROBING) \
    ROW(PROBING, LOST,        PROBING) \
    ROW(PROBING, UNCLEAR,     PROBING) \
    ROW(PROBING, LOCKED,      PROBING) \
    ROW(PROBING, REFUSED,     POSTING)  ROW(PROBING, REFUSED,     FILING) \
    ROW(FILING,  CONFIRMED,   DELIVERED) \
    ROW(FILING,  DELAYED,     FILING) \
    ROW(FILING,  LOST,        FILING)   ROW(FILING,  LOST,        FINDING) \
    ROW(FILING,  LOST,        DEAD) \
    ROW(FILING,  UNCLEAR,     FILING)   ROW(FILING,  UNCLEAR,     FINDING) \
    ROW(FILING,  UNCLEAR,     PROBING)  ROW(FILING,  UNCLEAR,     DEAD) \
    ROW(FILING,  FORMAT,      FILING)   ROW(FILING,  FORMAT,      DEAD) \
    ROW(FILING,  LONG,        DEAD) \
    ROW(FILING,  EMPTY,       DEAD) \
    ROW(FILING,  NO_QUESTION, FILING)   ROW(FILING,  NO_QUESTION, DEAD) \
    ROW(FILING,  NO_THREAD,   FILING)   ROW(FILING,  NO_THREAD,   DEAD) \
    ROW(FILING,  NO_MESSAGE,  FILING)   ROW(FILING,  NO_MESSAGE,  DEAD) \
    ROW(FILING,  MOVED,       FILING)   ROW(FILING,  MOVED,       DEAD) \
    ROW(FILING,  ABSENT,      DEAD) \
    ROW(FILING,  UNSUPPORTED, DEAD) \
    ROW(FILING,  NO_CHAT,     DEAD) \
    ROW(FILING,  LOCKED,      FILING) \
    ROW(FILING,  REFUSED,     FILING)   ROW(FILING,  REFUSED,     DEAD) \
    ROW(ENDING,  CONFIRMED,   DELIVERED) \
    ROW(ENDING,  CONFIRMED,   POSTING)  /* the stream does not show the complete answer */ \
    ROW(ENDING,  DELAYED,     ENDING) \
    ROW(ENDING,  LOST,        ENDING)   /* a repeat is recognised */ \
    ROW(ENDING,  LOST,        FINDING) \
    ROW(ENDING,  LOST,        POSTING)  /* marked */ \
    ROW(ENDING,  LOST,        DEAD)     /* the option says so */ \
    ROW(ENDING,  UNCLEAR,     ENDING) \
    ROW(ENDING,  UNCLEAR,     FINDING) \
    ROW(ENDING,  UNCLEAR,     PROBING)  /* then marked */ \
    ROW(ENDING,  UNCLEAR,     DEAD) \
    ROW(ENDING,  FORMAT,      POSTING) \
    ROW(ENDING,  LONG,        POSTING) \
    ROW(ENDING,  EMPTY,       POSTING) \
    ROW(ENDING,  NO_QUESTION, POSTING) \
    ROW(ENDING,  NO_THREAD,   POSTING) \
    ROW(ENDING,  NO_MESSAGE,  POSTING) \
    ROW(ENDING,  MOVED,       POSTING) \
    ROW(ENDING,  ABSENT,      POSTING) \
    ROW(ENDING,  UNSUPPORTED, POSTING) \
    ROW(ENDING,  NO_CHAT,     POSTING) \
    ROW(ENDING,  LOCKED,      ENDING) \
    ROW(ENDING,  REFUSED,     POSTING)
/* clang-format on */

#define CHAT_DELIVERY_EVENT_ENUM(name) CHAT_ON_##name,
enum chat_delivery_event { CHAT_DELIVERY_EVENTS(CHAT_DELIVERY_EVENT_ENUM) };

/* Whether a native stream shows the append that was in flight when its end was sent. */
enum chat_delivery_shown {
    CHAT_SHOWN_ALL,
    CHAT_SHOWN_LESS,    /* the append was certainly not executed */
    CHAT_SHOWN_UNKNOWN, /* the append was perhaps not executed completely */
};

/* Steps that the service and the configuration permit. */
struct chat_delivery_policy {
    enum tc_idempotency idempotency;
    int64_t idempotency_ms; /* 0: for ever */
    bool can_edit, can_file;
    bool drops_doubts;              /* option ambiguous = drop */
    bool repeats_end;               /* the end of a stream may be repeated */
    int64_t now_ms;                 /* unix time */
    enum chat_delivery_shown shown; /* set if an append was in flight beside the record */
};

enum chat_delivery_step {
    CHAT_STEP_DONE,  /* delivered */
    CHAT_STEP_AGAIN, /* the same request once more, after hold_ms */
    CHAT_STEP_SEND,  /* the record has changed: it replaces the request */
    CHAT_STEP_CUT,   /* the same, in smaller parts */
    CHAT_STEP_WHOLE, /* the text is sent as ordinary messages, instead of the end of a stream */
    CHAT_STEP_DEAD,  /* dead letter, with reason */
};

struct chat_delivery_decision {
    enum chat_delivery_step step;
    int64_t hold_ms; /* AGAIN; 0: back-off */
    enum tc_scope scope;
    int64_t delay_ms;   /* SEND: before the first attempt */
    const char *reason; /* DEAD; borrowed from the result, or static */
};

/* Decides the next step after a result, and changes the record for it. The state of the record
 * changes along CHAT_DELIVERY_TRANSITIONS, which is asserted. */
struct chat_delivery_decision chat_delivery_next(struct chat_record *r,
                                                 const struct chat_result *result,
                                                 const struct chat_delivery_policy *policy);
/* Prepares a dead letter that a person has sent again. Its first attempt counts as uncertain:
 * earlier lost replies are no longer counted, and the option ambiguous = drop does not end the
 * delivery. */
void chat_delivery_renew(struct chat_record *r, struct chat_delivery_policy *policy,
                         int64_t until_ms);
/* Whether the table contains this transition. */
bool chat_delivery_permits_transition(enum chat_delivery_state from, enum chat_delivery_event event,
                                      enum chat_delivery_state to);

#endif
