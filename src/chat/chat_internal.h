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
    char message[CHAT_ID_MAX]; /* id of the message; "": unknown */
    char old[CHAT_ID_MAX];     /* id of the message that is replaced because of its age; "": none */
    int64_t began_ms, created_ms, edited_ms, beat_ms, typing_ms; /* monotonic; 0: never */
    int64_t made_ms;     /* unix time of the last create; 0: never */
    int64_t doubt_ms;    /* when the reply to an edit was lost last; 0: never */
    enum tc_phase typed; /* phase of the last typing indicator */
    unsigned edits, creates;
    unsigned omit;  /* TC_OMIT_… */
    uint64_t shown; /* hash of the shown text */
    bool dirty;     /* the view has changed since */
    bool began;     /* the turn began in this process */
    bool gone;      /* a person has deleted a progress message: one more is created, and then
                       none */
    bool adapted;   /* the next create omits the refused part, and is sent at once */
    bool uncertain; /* a create was sent, and it is unknown whether the message exists */
    bool doubted; /* the reply to a create was lost: a refusal of its repeat does not prove that the
                     message does not exist */
    bool used;    /* the message has become the answer, or is deleted */
    bool drafted; /* a draft has been shown */
};

/* The native streams of a turn. */
struct chat_native {
    enum chat_native_state state;
    char message[CHAT_ID_MAX]; /* id of the open stream; "": none */
    bool plain;                /* the service refuses lines: only text is sent */
    bool incomplete;           /* it is unknown whether all text has been shown */
    bool missing;              /* the append that was in flight at the end was certainly not
                                  executed */
    bool full;                 /* the service reported that the stream is too long */
    bool stopped;              /* a person has stopped the stream: no more items are sent */
    unsigned strikes;          /* number of consecutive refusals */
    unsigned number;           /* number of streams that were begun */
    unsigned requests;         /* number of the newest */
    int64_t begun_ms, sent_ms, beat_ms; /* monotonic; 0: never */
    struct chat_room given;             /* size of the items that were sent to the open stream */
    struct chat_batch next, flight;     /* items that wait, and items that are in flight */
    struct buf whole; /* confirmed text of the open stream, see chat_native_whole.c */
    unsigned sent;    /* number of requests of the open stream */
    struct chat_lines lines;
    struct chat_said said;
};

struct chat_turn {
    LIST_ENTRY(chat_turn) entry;
    struct chat *chat;
    struct tc_turn *turn;
    struct tc_target target; /* strings in the turn's memory; chat NULL: the turn is not shown */
    struct chat_view view;
    struct chat_live live;
    struct chat_native stream;
    struct tc_target stopper; /* the message that has stopped the turn, until its author gets a
                                 reply; chat NULL: none */
    int64_t stop_due_ms;      /* monotonic: time at which the author of that message gets a reply */
    bool over;                /* the outcome has been sent, or the turn has ended */
    bool told_loss;
    bool told_tokens; /* the text of the clean-up contains the tokens */
};

/* Messages that wait for their files; see chat_files.c. */
struct chat_parcels {
    TAILQ_HEAD(chat_parcel_list, chat_parcel) list;
    unsigned last; /* number */
    json_t *done;  /* ids of messages that have been handed over, the newest last */
};

/* Receiving: identification and polls. */
struct chat_receiving {
    char *self;    /* id of the bot at the service; NULL: not known yet */
    char *cursor;  /* cursor of the next poll; NULL: none */
    bool locked;   /* credentials were refused, and this has been logged */
    bool not_kept; /* a message or an action could not be stored, and will be delivered again */
    unsigned failures;
    unsigned
        asked; /* number of the newest request; different from the numbers of earlier processes */
};

/* Events that the service pushes; see chat_feed.c. */
struct chat_feed {
    json_t *queue;     /* events that are not processed yet, in order: {"text", "where"} */
    char *position;    /* position after the newest event; NULL: none */
    int64_t stored_ms; /* when a position was stored last, monotonic; 0: never */
    bool is_urgent;    /* the position must be stored at once */
    bool is_taking;    /* the plugin's take() is being called */
    bool is_rewound;   /* rewind() was called for the event that is being added */
};

/* Messages of an interruption; see chat_gap.c. */
struct chat_gap {
    json_t *chats; /* {key: {"to": target, "last": id}}, the most recently used chat at the end */
    json_t *asked; /* keys of chats whose page has been requested */
    bool is_open;
    bool is_reading; /* the pages have been requested */
};

/* Refused requests; see chat_refusals.c. */
struct chat_refusals {
    int64_t since_ms, count;
};

struct chat {
    struct tc_instance *inst;
    struct tc_chat table; /* table of the plugin, completed */
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
    json_t *form;              /* form that was opened in this callback; or NULL */
    bool drafts;               /* progress is shown by drafts where that is possible */
    bool streams;              /* progress is shown by native streams where that is possible */
    bool source;               /* answers are sent as Markdown where that is possible */
    bool forged;               /* a press of an unknown button has been logged */
    unsigned unsupported;      /* TC_CAN() of operations that the service does not have */
    unsigned sign_failures;    /* consecutive failures */
    int64_t signs_off_until_ms;
};

/* ---- chat_engine.c ---- */

/* Returns NULL if the turn is unknown. */
/* Copies a target into the memory of the turn. */
struct tc_target chat_copy_target(struct tc_turn *turn, const struct tc_target *t);
struct chat_turn *chat_find_turn(struct chat *c, const char *id);
/* Notes that the chat `from` has the new id `to`. */
void chat_record_move(struct chat *c, const char *from, const char *to);
/* Returns the current id of the chat. */
const char *chat_find_moved(const struct chat *c, const char *chat);

/* ---- chat_feed.c, chat_gap.c ---- */

/* Like chat_feed_add; `where` is the chat from whose history the event was read, as a target, or
 * NULL. */
bool chat_feed_add_of(struct chat *c, const char *event, const json_t *where, const char *position);
void chat_feed_free(struct chat *c);
void chat_gap_begin(struct chat *c);
void chat_gap_free(struct chat *c);
/* Notes that a message to the bot was processed: the history of its chat will be read from this
 * message on. */
void chat_gap_record_message(struct chat *c, const struct tc_chat_message *m);
/* Requests the messages of a gap, if there is one. */
void chat_gap_read(struct chat *c, bool gap);
/* Ignores the pages that have been requested. */
void chat_gap_stop(struct chat *c);
/* Called when no event waits any more: closes the gap, unless requested pages are missing. */
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
    const char *whole; /* complete text of a stream, if the service needs it; or NULL */
    unsigned number;   /* with `whole`: number of the request in the stream, from 0 */
};

/* Makes the operation of a record for read(): without buttons, view and content of the file. */
struct tc_op chat_make_op(struct chat *c, const struct tc_turn *turn, const struct chat_record *r);
bool chat_can(const struct chat *c, enum tc_op_kind op);
/* Turns the record into a request of the plugin and queues it. extra may be NULL. -1: the plugin
 * cannot express it, or the request was refused; logged. */
/* Returns the fields of a record, which borrow the texts of the record; valid until the callback
 * returns. */
const struct tc_field *chat_read_fields(struct chat *c, const json_t *list);
int chat_send(struct chat *c, struct tc_turn *turn, const struct chat_record *r,
              const struct chat_send_extra *extra);
/* Returns the content of the file of a request, for the next attempt; chat_send stores it with each
 * request of a record that names a file. */
struct chat_send_extra chat_content_of(const struct tc_http *http);
/* Renders Markdown as one message of that role into the record; false: the text has no visible
 * character. */
bool chat_render_one(struct chat *c, struct chat_record *r, const char *markdown, uint32_t flags);
int64_t chat_unix_ms(void);

/* ---- chat_live.c ---- */

void chat_live_begin(struct chat_turn *t);
/* Notes that an event has changed the view; visible: the progress message must show it. */
void chat_live_update(struct chat_turn *t, bool visible);
void chat_live_wake(struct chat_turn *t);
/* Notes that a message has stopped the turn. Its author gets a reply if the turn does not end at
 * once; otherwise the outcome says so. */
void chat_live_record_stop(struct chat_turn *t, const struct tc_target *message);
/* Sends an operation with the view of the turn as it is now. */
void chat_live_send_view(struct chat_turn *t, const struct chat_record *r,
                         struct chat_send_extra extra);
/* Called before the outcome: no typing indicator and no edit are sent afterwards. */
void chat_live_close(struct chat_turn *t);
/* Returns the id of the progress message, also of an earlier process; NULL: there is none, or its
 * id is not known. */
const char *chat_live_message_id(const struct chat_turn *t);
/* Whether the service can still return the id of a progress message whose create got no reply. */
bool chat_live_can_search(const struct chat_turn *t);
/* Returns the time during which an edit whose reply was lost, in this or an earlier process, may
 * still be executed; 0: there is no such edit. */
int64_t chat_live_late_ms(const struct chat_turn *t);
/* Notes that the progress message has become the answer, or is deleted. */
void chat_live_mark_used(struct chat_turn *t);
void chat_live_handle_result(struct chat_turn *t, struct chat_record *r,
                             const struct chat_result *result, struct tc_verdict *v);
void chat_live_handle_drop(struct chat_turn *t, const struct chat_record *r);

/* ---- chat_native.c ---- */

/* Called at the start of the turn: ends a stream that an earlier process has left open. */
void chat_native_start(struct chat_turn *t, int64_t now_ms);
/* Whether the turn is currently shown by streams. */
bool chat_native_is_active(const struct chat_turn *t);
/* Returns the time of the next chat_native_wake; INT64_MAX: none is needed. */
int64_t chat_native_due_ms(const struct chat_turn *t);
/* Sends items that wait, if they are due. */
void chat_native_wake(struct chat_turn *t, int64_t now_ms);
/* Adds Markdown, or a line (may be NULL), to the items that wait. */
void chat_native_add_text(struct chat_turn *t, const char *markdown, size_t len);
void chat_native_add_line(struct chat_turn *t, const struct chat_line *line);
/* Returns the rest of the answer, which is not in the stream yet. NULL: the stream does not show
 * the beginning of the answer, or some of its text may be missing. */
const char *chat_native_unsent_answer(const struct chat_turn *t, const char *answer);
/* Ends the stream durably with the answer, whose rest (Markdown, may be "") is its last text.
 * False: the stream has no room for the rest, or is not open; nothing is sent. */
bool chat_native_end_with(struct chat_turn *t, struct chat_record *r, const char *rest);
/* Called when the outcome is sent in another way: ends the stream, if one is open. */
void chat_native_close(struct chat_turn *t);
/* Ends a stream that was to be ended with the answer, and may be open. */
void chat_native_end_empty(struct chat_turn *t, const struct tc_target *target,
                           const char *message);
/* Whether the stream shows the append that was in flight when its end was sent. */
enum chat_delivery_shown chat_native_shown_part(const struct chat_turn *t);
void chat_native_fini(struct chat_turn *t);

/* For chat_native_result.c */
void chat_native_move(struct chat_turn *t, enum chat_native_event event);
/* Bytes of one item up to which texts are joined. */
size_t chat_native_item_bytes(const struct chat_turn *t);
/* Adds the running lines; number: only those that this stream contains; 0: all. */
void chat_native_add_running_lines(struct chat_turn *t, struct chat_batch *b, unsigned number);
/* Ends a stream that shows no outcome; slot: CHAT_SLOT_CLOSE. The request is durable, and the
 * stream is removed from the memory of the turn in the same transaction. */
void chat_native_send_close(struct chat_turn *t, const char *message, const struct chat_batch *b,
                            const char *slot);
/* Ends the open stream durably. Running lines are shown as ended. */
void chat_native_close_independently(struct chat_turn *t);
/* Continues the turn without a stream. */
void chat_native_abandon(struct chat_turn *t);

/* ---- chat_native_whole.c ---- */

/* Whether each request of a stream contains the complete text. */
bool chat_native_is_whole(const struct chat_turn *t);
/* Returns the complete text of the stream `message`, including the text in flight and the batch;
 * NULL: requests contain only new text. Valid until the callback returns. */
const char *chat_native_whole_text(const struct chat_turn *t, const char *message,
                                   const struct chat_batch *b);
/* Notes that the text in flight has been confirmed. */
void chat_native_whole_record_confirmed(struct chat_turn *t);
/* Adds a line to the text of the stream. False: add the line as an item instead. */
bool chat_native_whole_add_line(struct chat_turn *t, const struct chat_line *line);
/* Returns the part of the answer that is not confirmed, if streams that have ended keep showing the
 * other part; waiting text is dropped. NULL: no part of the answer is shown. */
const char *chat_native_whole_unshown_answer(struct chat_turn *t, const char *answer);

/* ---- chat_native_result.c ---- */

void chat_native_handle_result(struct chat_turn *t, struct chat_record *r,
                               const struct chat_result *result, struct tc_verdict *v);
void chat_native_handle_drop(struct chat_turn *t, const struct chat_record *r);

/* ---- chat_native_show.c ---- */

/* Adds the content of an event to the stream. */
void chat_native_handle_event(struct chat_turn *t, const struct event *ev, int64_t now_ms);
/* Updates the times of running lines, and adds a line for a silence. */
void chat_native_update_running(struct chat_turn *t, int64_t now_ms);
/* Called at each event: ends the lines for thinking and silence. */
void chat_native_end_silence(struct chat_turn *t, int64_t now_ms);

/* ---- chat_memory.c ---- */

/* Stores the state of the turn for the next process: progress message and open cards. */
void chat_memory_write(struct chat_turn *t);
void chat_memory_read(struct chat_turn *t);

/* ---- chat_outcome.c ---- */

/* Queues the outcome as messages in order, each with all data that another attempt needs. */
int chat_outcome_send(struct chat_turn *t, const char *markdown, size_t len, uint32_t flags);
/* Like chat_outcome_send, for an error: plain text, with a button (NULL: none) as in a record at
 * its end. */
int chat_outcome_send_error(struct chat_turn *t, const char *text, size_t len, json_t *button);
/* Handles the result of a part of the outcome, or of another message that is delivered in the same
 * way. */
void chat_outcome_handle_result(struct chat_turn *t, struct chat_record *r,
                                const struct chat_result *result, const struct tc_reply *reply,
                                struct tc_verdict *v);
void chat_outcome_handle_drop(struct chat_turn *t, const struct chat_record *r,
                              const struct tc_reply *reply);
/* Handles the result of the clean-up or of a confirming edit. */
void chat_outcome_handle_clean_result(struct chat_turn *t, struct chat_record *r,
                                      const struct chat_result *result, struct tc_verdict *v);

/* ---- chat_cards.c ---- */

/* Reads the places where an earlier process has shown cards. */
void chat_cards_begin(struct chat *c);
/* Returns the number of open requests of the turn, in all places. */
unsigned chat_cards_waiting(const struct chat_cards *cards, const char *turn);
int chat_cards_handle_request(struct chat_turn *t, const struct tc_request *ev);
/* Updates each open place after a change of the card. */
void chat_cards_update(struct chat *c, struct chat_card *card);
/* Closes the open cards of the turn when the turn has ended. */
void chat_cards_end_turn(struct chat_turn *t);
void chat_cards_remove_of_turn(struct chat_cards *cards, const char *turn);
/* Notes that the message of a card was delivered; message NULL: its id is not known. */
void chat_cards_handle_delivery(struct chat_turn *t, const struct chat_record *r,
                                const char *message);
void chat_cards_handle_edit(struct chat_turn *t, struct chat_record *r,
                            const struct chat_result *result, struct tc_verdict *v);
void chat_cards_handle_drop(struct chat_turn *t, const struct chat_record *r);
/* Whether the request of the card is already decided, so that its message need not be sent
 * again. */
bool chat_cards_is_decided(struct chat_turn *t, const struct chat_record *r);
/* Writes the open cards of a turn as JSON, and reads them; the JSON is owned by the caller. */
json_t *chat_cards_write(const struct chat_cards *cards, const char *turn);
void chat_cards_read(struct chat_cards *cards, const char *turn, const json_t *list);

/* ---- chat_card_answer.c ---- */

/* Whether the message is an answer to a card, and therefore not a message to the agent; *how:
 * result of the answer. */
bool chat_cards_handle_reply(struct chat *c, const struct tc_chat_message *m,
                             enum tc_accepted *how);
/* Returns the answers in tc_chat_action.filled; NULL: they do not belong to a form. Valid until the
 * callback returns. */
const char *chat_cards_read_filled(struct chat *c, const struct tc_chat_action *action);
/* Handles a press or a reaction. False: it does not belong to a card of this instance, and the
 * results are not set. *text: a text for the person, or NULL; *alert: the person must confirm the
 * text. */
bool chat_cards_handle_action(struct chat *c, const struct tc_chat_action *action,
                              enum tc_accepted *how, const char **text, bool *alert);

/* ---- chat_whole.c ---- */

/* Sends a request whose text does not fit into its card to each place of the card, as messages or
 * as a file. False: the text fits, or it cannot be sent in either way. */
bool chat_whole_send(struct chat_turn *t, const struct chat_card *card, const struct tc_request *ev,
                     int64_t until_ms);

/* ---- chat_receive.c ---- */

void chat_receive_begin(struct chat *c);
void chat_receive_identify(struct chat *c);
/* Whether the reply belongs to a request of an earlier process, which another request has
 * replaced. */
bool chat_receive_is_stale(const struct chat *c, const struct chat_record *r);
void chat_receive_handle_identity(struct chat *c, const struct chat_result *result);
void chat_receive_handle_poll(struct chat *c, const struct chat_result *result);
/* Handles a request that was dropped because it could not be sent: sends another one, also instead
 * of a poll. */
void chat_receive_handle_drop(struct chat *c, const struct chat_record *r, const char *reason);
/* Handles rejected credentials: logs them once, and tests them again later. */
void chat_receive_lock(struct chat *c, const char *reason);

/* ---- chat_menu.c ---- */

/* Publishes the menu, unless the service already has it. */
void chat_menu_publish(struct chat *c);
/* Handles the opening of the menu; ignored if the person may not submit, or opened it a moment
 * ago. */
void chat_menu_open(struct chat *c, const struct tc_chat_action *action);
/* Fills in the menu, with names in the spelling of the service; valid until the callback
 * returns. */
void chat_menu_fill(struct chat *c, struct tc_op *op);
/* Returns the text of a person with the host's spelling of a command; valid until the callback
 * returns. */
const char *chat_menu_read(struct chat *c, const char *text);
void chat_menu_handle_result(struct chat *c, const struct chat_record *record,
                             const struct chat_result *result, struct tc_verdict *v);

/* ---- chat_files.c ---- */

/* Continues with messages that an earlier process stored. */
void chat_files_begin(struct chat *c);
void chat_files_free(struct chat *c);
void chat_files_wake(struct chat *c);
/* Whether the message has files, or must wait for an earlier message with files. */
bool chat_files_wait(const struct chat *c, const struct tc_chat_message *m);
/* Stores the message and fetches its files. An album that is not addressed to the bot waits for a
 * part that is. */
enum tc_accepted chat_files_accept(struct chat *c, const struct tc_chat_message *m, bool addressed);
void chat_files_handle_result(struct chat *c, const struct chat_record *r,
                              const struct chat_result *result, const struct tc_reply *reply,
                              struct tc_verdict *v);
void chat_files_handle_drop(struct chat *c, const struct chat_record *r);

/* ---- chat_attachments.c ---- */

/* Reads the attachments of a message: the files that the host fetches, at most
 * CHAT_ATTACHMENTS_MAX; the text of the message gets a note about each other file. Returns the
 * number of files. */
#define CHAT_ATTACHMENTS_MAX 10
size_t chat_attachments_read(struct chat *c, struct tc_chat_message *m, struct tc_chat_file *files);

/* ---- chat_mentions.c ---- */

/* Returns the marks of the people in tc_chat_message.mentioned; valid until the callback
 * returns. */
const struct tc_mention *chat_mentions_read(struct chat *c, const char *list, size_t *count);
/* Returns the text with marks replaced by names; valid until the callback returns. */
const char *chat_mentions_replace(struct chat *c, const char *text,
                                  const struct tc_mention *mentions, size_t count);

/* ---- chat_refusals.c ---- */

/* Counts a reply with which the service has refused the request. True: the limit of refusals is
 * reached, and all requests including this one wait, as the verdict says. */
bool chat_refusals_count(struct chat *c, const struct tc_reply *reply, struct tc_verdict *v);

/* ---- chat_inbound.c ---- */

/* Passes the message with its downloaded files to the host, and shows the result to the person. */
enum tc_accepted chat_submit(struct chat *c, const struct tc_chat_message *m,
                             const char *const *paths, const char *const *names, size_t count);

/* The data of a button for a turn: one of these prefixes, which names the action, and the id of the
 * turn. */
#define CHAT_PRESS_STOP "s:"
#define CHAT_PRESS_RESEND "d:"
#define CHAT_PRESS_RETRY "r:"
/* Makes the list of buttons for a message with a single button; owned by the caller. NULL: the
 * service has no buttons, or the id is too long. */
json_t *chat_turn_button(const struct chat_turn *t, const char *press, enum text_id label);
/* Replies to the message in `target`. */
void chat_reply(struct chat *c, struct tc_turn *turn, const struct tc_target *target,
                const char *text);
/* instead: text for the person if the service refuses the reaction; or NULL. */
void chat_react(struct chat *c, struct tc_turn *turn, const struct tc_target *target,
                enum tc_reaction reaction, const char *instead);

#endif
