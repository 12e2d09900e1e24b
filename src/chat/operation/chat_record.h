/* SPDX-License-Identifier: MIT
 * One operation for a chat service. A record contains all data that another attempt needs, and is
 * the tag of the request, so that the operation can be changed and sent again after a refusal,
 * after a lost reply and after a restart. Pure. */
#ifndef CHAT_OPERATION_CHAT_RECORD_H
#define CHAT_OPERATION_CHAT_RECORD_H

#include <jansson.h>
#include <turncast/plugin.h>

/* Purpose of an operation: the beginning of its slot. */
#define CHAT_SLOT_ANSWER "answer"          /* a part of the outcome */
#define CHAT_SLOT_SOURCE "answer:source"   /* the outcome as one message of Markdown */
#define CHAT_SLOT_STREAMED "answer:stream" /* the outcome at the end of a native stream */
#define CHAT_SLOT_TAIL "answer:tail"       /* the rest of the outcome, after a stream */
#define CHAT_SLOT_STREAM "stream"          /* the native stream of a running turn */
#define CHAT_SLOT_CLOSE "close"            /* the end of a native stream without an outcome */
#define CHAT_SLOT_LIVE "live"              /* the progress message */
#define CHAT_SLOT_CLEAN "clean"            /* clean-up of the progress message after the outcome */
/* The edit once more, after edits that may be executed late. */
#define CHAT_SLOT_CONFIRM "confirm"
#define CHAT_SLOT_CARD "card"   /* a request card; continues with its number and place */
#define CHAT_SLOT_WHOLE "whole" /* the complete text of a request, before its card */
#define CHAT_SLOT_LOSS "loss"   /* report that an answer could not be delivered */
#define CHAT_SLOT_REPLY "reply" /* the host's answer to a command */
#define CHAT_SLOT_SIGN "sign"   /* typing and reactions */
#define CHAT_SLOT_PRESS "press" /* the answer to the press of a button */
#define CHAT_SLOT_IDENTIFY "identify"
#define CHAT_SLOT_POLL "poll"
#define CHAT_SLOT_FETCH "fetch" /* a file of a person */
#define CHAT_SLOT_MENU "menu"

/* State of the delivery of a durable message; see chat_delivery.h. */
enum chat_delivery_state {
    CHAT_POSTING, /* the message is created */
    CHAT_EDITING, /* the progress message becomes the answer */
    CHAT_FINDING, /* the service is asked whether the message exists */
    CHAT_PROBING, /* a probe tests whether the service works before the message is sent again */
    CHAT_FILING,  /* the text is sent as a file */
    CHAT_ENDING,  /* the native stream, which shows the answer, is ended */
    CHAT_DELIVERED,
    CHAT_DEAD,
};
#define CHAT_DELIVERY_STATES 8

/* The file of FILE and FETCH; each member or NULL. */
struct chat_record_file {
    const char *name, *type;
    const char *ref; /* FETCH */
};

/* Steps that have been taken; each step is taken once. */
struct chat_history {
    unsigned doubts; /* number of lost replies to creating the message */
    unsigned errors; /* number of replies that did not tell whether the message was created */
    unsigned cuts;   /* number of times that the text was split because it was too long */
    bool moved;      /* the chat got another id */
    bool was_empty;  /* the text was replaced because the service rejected it as empty */
    bool marked;     /* the text says that it may be a repeat */
    bool bare;       /* the end of a stream is sent without items */
};

/* Requests that may take effect beside this one. */
struct chat_beside {
    bool edits;  /* edits whose replies were lost may be executed after this request */
    bool append; /* an append is in flight, without which the stream does not show the answer */
};

struct chat_record {
    enum tc_op_kind op;
    enum tc_role role;
    enum chat_delivery_state state;
    struct tc_target target; /* chat NULL: none */
    const char *slot;        /* never NULL */
    const char *message;     /* message that is edited, deleted or gets a reaction; or NULL */
    const char *live;        /* id of the progress message, for parts of the outcome; or NULL */
    const char *text, *entities, *plain; /* each or NULL */
    const char *cursor, *action;         /* each or NULL */
    struct chat_record_file file;
    const char *summary; /* text of the clean-up, or instead of a reaction; or NULL */
    json_t *buttons; /* array of [data, label, style, confirm], or NULL; borrowed; confirm may be
                        missing */
    json_t *fields;  /* array of [id, label, multi, [[label, about], …]], or NULL; borrowed */
    unsigned part, generation, step;
    unsigned omit; /* TC_OMIT_… */
    struct chat_history tried;
    bool last; /* the clean-up follows */
    bool silent, off;
    struct chat_beside beside;
    enum tc_reaction reaction;
    int64_t since_ms; /* unix time of the first attempt with this key */
    int64_t until_ms; /* unix time after which no attempt starts; 0: as the host decides */

    json_t *owner; /* owns the strings of a record that was read; NULL: the strings are borrowed */
};

/* Returns the record as the text of a tag; owned by the caller (free). */
char *chat_record_write(const struct chat_record *r);
/* Reads a tag. False: the tag is not a record. On success, call chat_record_fini. */
bool chat_record_read(struct chat_record *r, const char *tag);
void chat_record_fini(struct chat_record *r);
/* Whether the slot is `slot`, or begins with `slot` and a colon. */
bool chat_record_is_slot(const struct chat_record *r, const char *slot);

#endif
