/* SPDX-License-Identifier: MIT
 * Internal structures of the chat engine. */
#ifndef CHAT_CHAT_INTERNAL_H
#define CHAT_CHAT_INTERNAL_H

#include <sys/queue.h>

#include "base/arena.h"
#include "chat/card/chat_card.h"
#include "chat/chat_engine.h"
#include "chat/show/chat_live_state.h"
#include "chat/operation/chat_delivery.h"
#include "chat/operation/chat_record.h"
#include "chat/operation/chat_result.h"
#include "chat/show/chat_text.h"
#include "chat/show/chat_view.h"
#include "chat/stream/chat_batch.h"
#include "chat/stream/chat_said.h"
#include "chat/stream/chat_native_state.h"
#include "text/sentence/texts.h"

#define CHAT_ID_MAX 256 /* bytes of a message id, with the NUL */

/* The progress message of a turn. */
struct chat_live {
    enum chat_live_state state;
    char message[CHAT_ID_MAX]; /* its id; "" unknown */
    char old[CHAT_ID_MAX];     /* of one that is being replaced because of its age; "" none */
    int64_t began_ms, created_ms, edited_ms, beat_ms, typing_ms; /* monotonic; 0: never */
    int64_t made_ms;     /* unix time of the last create; 0: never */
    int64_t doubt_ms;    /* when the reply to an edit was lost last; 0: never */
    enum tc_phase typed; /* what the last typing sign said */
    unsigned edits, creates;
    unsigned omit;  /* TC_OMIT_… */
    uint64_t shown; /* hash of its text */
    bool dirty;     /* the view has changed since */
    bool began;     /* in this process */
    bool gone;      /* a person has deleted one: there is one more, and then none */
    bool adapted;   /* the next create leaves out what was refused, and does not wait */
    bool uncertain; /* a create went out, and nobody knows yet whether the message exists */
    bool doubted; /* the reply to a create was lost: a refusal of its repeat does not mean that the
                     message does not exist */
    bool used;    /* the message has become the answer, or is deleted */
    bool drafted; /* a draft has been shown */
};

/* The native streams of a turn. */
struct chat_native {
    enum chat_native_state state;
    char message[CHAT_ID_MAX]; /* id of the open one; "" none */
    bool plain;                /* the service refuses lines: only text */
    bool incomplete;           /* it is not certain that all text has been shown */
    bool missing;              /* the append under way at the end was certainly not executed */
    bool full;                 /* the service has found it too long */
    bool stopped;              /* by a person: nothing more is shown */
    unsigned strikes;          /* refusals without a success between */
    unsigned number;           /* of streams that were begun */
    unsigned requests;         /* number of the newest */
    int64_t begun_ms, sent_ms, beat_ms; /* monotonic; 0: never */
    struct chat_room given;             /* to the open one */
    struct chat_batch next, flight;     /* items that wait, and items that are under way */
    struct buf whole; /* confirmed text of the open one, see chat_native_whole.c */
    unsigned sent;    /* requests of the open one */
    struct chat_lines lines;
    struct chat_said said;
};

struct chat_turn {
    LIST_ENTRY(chat_turn) entry;
    struct chat *chat;
    struct tc_turn *turn;
    struct tc_target target; /* strings of the turn's memory; chat NULL: shown nowhere */
    struct chat_view view;
    struct chat_live live;
    struct chat_native stream;
    struct tc_target stopper; /* the message that has stopped the turn, until its author is told;
                                 chat NULL: none */
    int64_t stop_due_ms;      /* monotonic: when the author of that message is told */
    bool over;                /* the outcome is on its way, or the turn has ended */
    bool told_loss;
    bool told_tokens; /* the text of the clean-up has them */
};

/* Messages that wait for their files; see chat_files.c. */
struct chat_parcels {
    TAILQ_HEAD(chat_parcel_list, chat_parcel) list;
    unsigned last; /* number */
    json_t *done;  /* ids of messages that have been handed over, the newest last */
};

/* Receiving: identification and polls. */
struct chat_receiving {
    char *self;    /* own id at the service; NULL: not known yet */
    char *cursor;  /* of the next poll; NULL: none */
    bool locked;   /* credentials were refused, and this has been logged */
    bool not_kept; /* a message or an action could not be stored, and will be delivered again */
    unsigned failures;
    unsigned
        asked; /* number of the newest request; what an earlier process has asked is different */
};

/* Events that the service sends by itself; see chat_feed.c. */
struct chat_feed {
    json_t *queue;     /* events that are not admitted yet, in order: {"text", "where"} */
    char *position;    /* behind the newest event; NULL: none */
    int64_t stored_ms; /* when a position was stored last, monotonic; 0: never */
    bool is_urgent;    /* the position is to be stored at once */
    bool is_taking;    /* the plugin is being given an event */
    bool is_rewound;   /* by the event that is being added */
};

/* Messages that came while nothing was heard; see chat_gap.c. */
struct chat_gap {
    json_t *chats; /* {key: {"to": target, "last": id}}, the one that was used last at the end */
    json_t *asked; /* keys of chats of which a page is on its way */
    bool is_open;
    bool is_reading; /* the pages were asked for */
};

/* Refused requests; see chat_refusals.c. */
struct chat_refusals {
    int64_t since_ms, count;
};

struct chat {
    struct tc_instance *inst;
    struct tc_chat table; /* the plugin's, completed */
    struct chat_options options;
    struct chat_hooks hooks;
    struct arena scratch; /* until the callback ends */
    LIST_HEAD(, chat_turn) turns;
    struct chat_cards cards;
    struct chat_receiving receiving;
    struct chat_parcels parcels;
    struct chat_feed feed;
    struct chat_gap gap;
    struct chat_refusals refusals;
    struct chat_recent taken;  /* actions and messages that have been carried out */
    struct chat_recent menued; /* people whose menu was published */
    json_t *moved;             /* chats that got other ids: {from: to} */
    json_t *form;              /* that was opened in this callback; or NULL */
    bool drafts;               /* progress is shown by drafts where that is possible */
    bool streams;              /* progress is shown by native streams where that is possible */
    bool source;               /* answers are sent as Markdown where that is possible */
    bool forged;               /* a press of a button that is none of ours has been logged */
    unsigned unsupported;      /* TC_CAN() of operations that the service does not have */
    unsigned sign_failures;    /* in a row */
    int64_t signs_off_until_ms;
};

/* ---- chat_engine.c ---- */

/* NULL: there is no such turn. */
/* Copies a target into the memory of the turn. */
struct tc_target chat_keep_target(struct tc_turn *turn, const struct tc_target *t);
struct chat_turn *chat_find_turn(struct chat *c, const char *id);
/* The chat `from` has the id `to` now. */
void chat_note_move(struct chat *c, const char *from, const char *to);
/* The id that the chat has now. */
const char *chat_where_now(const struct chat *c, const char *chat);

/* ---- chat_feed.c, chat_gap.c ---- */

/* chat_feed_add with the chat whose history has brought the event, as a target; or NULL. */
bool chat_feed_add_of(struct chat *c, const char *event, const json_t *where, const char *position);
void chat_feed_free(struct chat *c);
void chat_gap_begin(struct chat *c);
void chat_gap_free(struct chat *c);
/* A message to the bot was taken: the history of its chat is read from there. */
void chat_gap_note(struct chat *c, const struct tc_chat_message *m);
/* Asks for the messages of a gap, if there is one. */
void chat_gap_read(struct chat *c, bool gap);
/* The pages on their way are not taken. */
void chat_gap_stop(struct chat *c);
/* No event waits any more: the gap is closed, unless pages are on their way. */
void chat_gap_end(struct chat *c);

/* ---- chat_send.c ---- */

/* Parts of an operation that are not in its record. */
struct chat_send_extra {
    const struct tc_view *view;
    const char *data; /* content of a file */
    size_t len;
    int64_t delay_ms, timeout_ms, max_age_ms;
    const struct tc_stream_item *items;
    size_t item_count;
    const char *whole; /* all text of a stream, where the service wants it; or NULL */
    unsigned number;   /* with it: of the request in the stream, from 0 */
};

/* The operation of a record, as read() gets it: without buttons, view and content of the file. */
struct tc_op chat_make_op(struct chat *c, const struct tc_turn *turn, const struct chat_record *r);
bool chat_can(const struct chat *c, enum tc_op_kind op);
/* Turns the record into a request of the plugin and queues it. extra may be NULL. -1: the plugin
 * cannot express it, or the request was refused; logged. */
/* Fields of a record, of which they borrow the texts; until the callback ends. */
const struct tc_field *chat_read_fields(struct chat *c, const json_t *list);
int chat_send(struct chat *c, struct tc_turn *turn, const struct chat_record *r,
              const struct chat_send_extra *extra);
/* The content of the file of a request, for the next attempt; chat_send keeps it with each request
 * of a record that names a file. */
struct chat_send_extra chat_content_of(const struct tc_http *http);
/* Renders Markdown as one message of that role into the record; false: nothing is visible. */
bool chat_render_one(struct chat *c, struct chat_record *r, const char *markdown, uint32_t flags);
int64_t chat_unix_ms(void);

/* ---- chat_live.c ---- */

void chat_live_begin(struct chat_turn *t);
/* An event was taken in; visible: a progress message has to show it. */
void chat_live_touch(struct chat_turn *t, bool visible);
void chat_live_wake(struct chat_turn *t);
/* A message has stopped the turn. Its author is told so if the turn does not end at once: the
 * outcome says it, too. */
void chat_live_note_stop(struct chat_turn *t, const struct tc_target *message);
/* Sends an operation with the view of the turn as it is now. */
void chat_live_send_view(struct chat_turn *t, const struct chat_record *r,
                         struct chat_send_extra extra);
/* The outcome comes: no typing and no edit from here on. */
void chat_live_close(struct chat_turn *t);
/* Id of the progress message, also of an earlier process; NULL: none, or not known. */
const char *chat_live_message(const struct chat_turn *t);
/* Whether the service can still name a progress message whose create got no reply. */
bool chat_live_can_learn(const struct chat_turn *t);
/* For how long an edit whose reply was lost, to this process or an earlier one, may still reach the
 * message; 0: there is none. */
int64_t chat_live_late_ms(const struct chat_turn *t);
/* The progress message has become the answer, or is deleted. */
void chat_live_use(struct chat_turn *t);
void chat_live_take_result(struct chat_turn *t, struct chat_record *r,
                           const struct chat_result *result, struct tc_verdict *v);
void chat_live_take_drop(struct chat_turn *t, const struct chat_record *r);

/* ---- chat_native.c ---- */

/* The turn begins: a stream that an earlier process has left is ended. */
void chat_native_start(struct chat_turn *t, int64_t now_ms);
/* The turn is shown by streams now. */
bool chat_native_is_on(const struct chat_turn *t);
/* When chat_native_wake has something to do; INT64_MAX: never. */
int64_t chat_native_due(const struct chat_turn *t);
/* Sends items that wait, if they are due. */
void chat_native_wake(struct chat_turn *t, int64_t now_ms);
/* Adds Markdown, or a line (may be NULL), to the items that wait. */
void chat_native_add_text(struct chat_turn *t, const char *markdown, size_t len);
void chat_native_add_line(struct chat_turn *t, const struct chat_line *line);
/* The rest of the answer, which is not in the stream yet. NULL: the stream does not show the
 * beginning of the answer, or some of its text may be missing. */
const char *chat_native_rest(const struct chat_turn *t, const char *answer);
/* Ends the stream durably with the answer, whose rest (Markdown, may be "") is its last text.
 * False: the stream has no room for the rest, or is not open; nothing is sent. */
bool chat_native_end_with(struct chat_turn *t, struct chat_record *r, const char *rest);
/* The outcome is on its way: ends the stream without it, if one is open. */
void chat_native_close(struct chat_turn *t);
/* Ends a stream that was to be ended with the answer, and may be open. */
void chat_native_end_empty(struct chat_turn *t, const struct tc_target *target,
                           const char *message);
/* Whether the stream shows the append that was under way when its end was sent. */
enum chat_delivery_shown chat_native_shown(const struct chat_turn *t);
void chat_native_fini(struct chat_turn *t);

/* For chat_native_result.c */
void chat_native_move(struct chat_turn *t, enum chat_native_event event);
/* Bytes of one item up to which texts are joined. */
size_t chat_native_item_bytes(const struct chat_turn *t);
/* Adds the lines that run; number: only those that this stream has; 0: all. */
void chat_native_add_running(struct chat_turn *t, struct chat_batch *b, unsigned number);
/* Ends a stream that shows no outcome; slot: CHAT_SLOT_CLOSE. The request is durable: the memory of
 * the turn forgets the stream in the same transaction. */
void chat_native_send_close(struct chat_turn *t, const char *message, const struct chat_batch *b,
                            const char *slot);
/* Ends the open stream durably. Lines that run are shown as ended. */
void chat_native_close_beside(struct chat_turn *t);
/* The turn goes on without a stream. */
void chat_native_give_up(struct chat_turn *t);

/* ---- chat_native_whole.c ---- */

/* Each request of a stream carries all of its text. */
bool chat_native_is_whole(const struct chat_turn *t);
/* All text of the stream `message` with what is under way and the batch; NULL: only what is new is
 * sent. Until the callback ends. */
const char *chat_native_whole_text(const struct chat_turn *t, const char *message,
                                   const struct chat_batch *b);
/* What is under way has been confirmed. */
void chat_native_whole_note(struct chat_turn *t);
/* Adds a line where lines are part of the text. False: it is to be added as an item. */
bool chat_native_whole_add_line(struct chat_turn *t, const struct chat_line *line);
/* What of the answer has not been confirmed, when streams that have ended go on showing the rest of
 * it; what waits is forgotten. NULL: none of it is shown. */
const char *chat_native_whole_take_rest(struct chat_turn *t, const char *answer);

/* ---- chat_native_result.c ---- */

void chat_native_take_result(struct chat_turn *t, struct chat_record *r,
                             const struct chat_result *result, struct tc_verdict *v);
void chat_native_take_drop(struct chat_turn *t, const struct chat_record *r);

/* ---- chat_native_show.c ---- */

/* What the event adds to the stream. */
void chat_native_take_event(struct chat_turn *t, const struct event *ev, int64_t now_ms);
/* Running lines once more, with new times, and a line for a silence. */
void chat_native_beat(struct chat_turn *t, int64_t now_ms);
/* Something has happened: the turn no longer thinks, and is not silent. */
void chat_native_settle(struct chat_turn *t, int64_t now_ms);

/* ---- chat_memory.c ---- */

/* Stores what the next process has to know of the turn: progress message and open cards. */
void chat_memory_write(struct chat_turn *t);
void chat_memory_read(struct chat_turn *t);

/* ---- chat_outcome.c ---- */

/* Queues the outcome: messages in order, each with everything that another attempt needs. */
int chat_outcome_send(struct chat_turn *t, const char *markdown, size_t len, uint32_t flags);
/* The same of an error: plain text, with a button (NULL: none) as in a record at its end. */
int chat_outcome_send_error(struct chat_turn *t, const char *text, size_t len, json_t *button);
/* A result of a part of the outcome, or of another message that is delivered in the same way. */
void chat_outcome_take_result(struct chat_turn *t, struct chat_record *r,
                              const struct chat_result *result, const struct tc_reply *reply,
                              struct tc_verdict *v);
void chat_outcome_take_drop(struct chat_turn *t, const struct chat_record *r,
                            const struct tc_reply *reply);
/* A result of the clean-up or of a confirming edit. */
void chat_outcome_take_clean_result(struct chat_turn *t, struct chat_record *r,
                                    const struct chat_result *result, struct tc_verdict *v);

/* ---- chat_cards.c ---- */

/* Reads where an earlier process has shown cards. */
void chat_cards_begin(struct chat *c);
/* Open requests of the turn that wait for a decision, wherever they are shown. */
unsigned chat_cards_waiting(const struct chat_cards *cards, const char *turn);
int chat_cards_take_request(struct chat_turn *t, const struct tc_request *ev);
/* The card has changed: each open place shows the newest state. */
void chat_cards_show(struct chat *c, struct chat_card *card);
/* Closes the open cards of the turn, because it has ended. */
void chat_cards_end_turn(struct chat_turn *t);
void chat_cards_forget(struct chat_cards *cards, const char *turn);
/* The message of a card is there; message NULL: nobody knows its id. */
void chat_cards_take_delivery(struct chat_turn *t, const struct chat_record *r,
                              const char *message);
void chat_cards_take_edit(struct chat_turn *t, struct chat_record *r,
                          const struct chat_result *result, struct tc_verdict *v);
void chat_cards_take_drop(struct chat_turn *t, const struct chat_record *r);
/* The request of the card is decided: its message need not be sent again. */
bool chat_cards_is_late(struct chat_turn *t, const struct chat_record *r);
/* The open cards of a turn as JSON, and back; the JSON is owned by the caller. */
json_t *chat_cards_write(const struct chat_cards *cards, const char *turn);
void chat_cards_read(struct chat_cards *cards, const char *turn, const json_t *list);

/* ---- chat_card_answer.c ---- */

/* Whether the message is an answer to a card, and so none to the agent; *how: what became of it. */
bool chat_cards_take_reply(struct chat *c, const struct tc_chat_message *m, enum tc_accepted *how);
/* The answers in tc_chat_action.filled; NULL: it is of no form. Until the callback ends. */
const char *chat_cards_read_filled(struct chat *c, const struct tc_chat_action *action);
/* A press or a reaction. False: it is about no card of this instance, and the rest is not set.
 * *text: a text for the person, or NULL; *alert: the person has to confirm the text. */
bool chat_cards_take_action(struct chat *c, const struct tc_chat_action *action,
                            enum tc_accepted *how, const char **text, bool *alert);

/* ---- chat_whole.c ---- */

/* Sends a request whose text does not fit into its card to each place of the card, as messages or
 * as a file. False: it fits, or it can be sent in neither way. */
bool chat_whole_send(struct chat_turn *t, const struct chat_card *card, const struct tc_request *ev,
                     int64_t until_ms);

/* ---- chat_receive.c ---- */

void chat_receive_begin(struct chat *c);
void chat_receive_identify(struct chat *c);
/* A reply to a request of an earlier process: another one is on its way instead. */
bool chat_receive_is_stale(const struct chat *c, const struct chat_record *r);
void chat_receive_take_identity(struct chat *c, const struct chat_result *result);
void chat_receive_take_poll(struct chat *c, const struct chat_result *result);
/* A request that could not be sent for a while: another one follows, also instead of a poll. */
void chat_receive_take_drop(struct chat *c, const struct chat_record *r, const char *reason);
/* Credentials were refused: logged once; the service is asked again later. */
void chat_receive_lock(struct chat *c, const char *reason);

/* ---- chat_menu.c ---- */

/* Unless the service has it already. */
void chat_menu_publish(struct chat *c);
/* A person has opened the menu; ignored if the person may not submit, or came a moment ago. */
void chat_menu_open(struct chat *c, const struct tc_chat_action *action);
/* Fills in the menu, its names as the service spells them; until the callback ends. */
void chat_menu_fill(struct chat *c, struct tc_op *op);
/* The text of a person with the name of a command as the host spells it; until the callback ends.
 */
const char *chat_menu_read(struct chat *c, const char *text);
void chat_menu_take_result(struct chat *c, const struct chat_record *record,
                           const struct chat_result *result, struct tc_verdict *v);

/* ---- chat_files.c ---- */

/* Continues with messages that an earlier process stored. */
void chat_files_begin(struct chat *c);
void chat_files_free(struct chat *c);
void chat_files_wake(struct chat *c);
/* Whether the message has files, or is behind one that has. */
bool chat_files_wait(const struct chat *c, const struct tc_chat_message *m);
/* Stores it and fetches its files. An album that is not addressed waits for a part that is. */
enum tc_accepted chat_files_take(struct chat *c, const struct tc_chat_message *m, bool addressed);
void chat_files_take_result(struct chat *c, const struct chat_record *r,
                            const struct chat_result *result, const struct tc_reply *reply,
                            struct tc_verdict *v);
void chat_files_take_drop(struct chat *c, const struct chat_record *r);

/* ---- chat_attachments.c ---- */

/* The files of a message that the host fetches, at most CHAT_ATTACHMENTS_MAX, from its attachments;
 * its text gets a note about each other one. Their number is returned. */
#define CHAT_ATTACHMENTS_MAX 10
size_t chat_attachments_read(struct chat *c, struct tc_chat_message *m, struct tc_chat_file *files);

/* ---- chat_mentions.c ---- */

/* The marks of the people in tc_chat_message.mentioned; until the callback ends. */
const struct tc_mention *chat_mentions_read(struct chat *c, const char *list, size_t *count);
/* The text without the marks of people in it; until the callback ends. */
const char *chat_mentions_replace(struct chat *c, const char *text,
                                  const struct tc_mention *mentions, size_t count);

/* ---- chat_refusals.c ---- */

/* Counts the reply, if the service has refused the request. True: so many were refused that all
 * requests wait, this one too; the verdict says so. */
bool chat_refusals_note(struct chat *c, const struct tc_reply *reply, struct tc_verdict *v);

/* ---- chat_inbound.c ---- */

/* Passes the message to the host, with files that are there, and shows what became of it. */
enum tc_accepted chat_submit(struct chat *c, const struct tc_chat_message *m,
                             const char *const *paths, const char *const *names, size_t count);

/* The data of a button about a turn begins with what a press does; the id of the turn follows. */
#define CHAT_PRESS_STOP "s:"
#define CHAT_PRESS_RESEND "d:"
#define CHAT_PRESS_RETRY "r:"
/* The buttons of a message that has only this one; owned by the caller. NULL: the service has no
 * buttons, or the id is too long. */
json_t *chat_turn_button(const struct chat_turn *t, const char *press, enum text_id label);
/* Shows text to the author of the message that `target` answers. */
void chat_reply(struct chat *c, struct tc_turn *turn, const struct tc_target *target,
                const char *text);
/* instead: what the person reads where the service refuses the reaction; or NULL. */
void chat_react(struct chat *c, struct tc_turn *turn, const struct tc_target *target,
                enum tc_reaction reaction, const char *instead);

#endif
