/* SPDX-License-Identifier: MIT
 * Chat service: the host shows turns in a chat, and the connector describes the chat service.
 * Included by <turncast/plugin.h>; do not include it directly. Since API 1.5.
 *
 * The host decides what is shown and when: progress message, request cards, answers in parts,
 * retries, recovery after a restart. The connector supplies one constant table (struct tc_chat) and
 * up to two functions: request() turns an operation into an HTTP request, and read() classifies a
 * reply that the table cannot describe. In the other direction, the connector parses messages and
 * actions of people and passes them to tc_chat_receive() (messages) and tc_chat_act() (buttons and
 * reactions).
 *
 * The results of request() and read() must depend only on their arguments and the options: after a
 * crash they are called again for the same operation, in another process. TC_OP_POLL and
 * TC_OP_TYPING are exceptions. */
#ifndef TURNCAST_CHAT_H
#define TURNCAST_CHAT_H

#ifndef TURNCAST_PLUGIN_H
#error "include <turncast/plugin.h>"
#endif

/* ---- place of a message ---- */

/* Where a message is shown. The host stores it with the turn. */
struct tc_target {
    const char *chat;    /* the service's id of the chat, channel or room */
    const char *thread;  /* or NULL */
    const char *message; /* message to which this one replies, or NULL */
    const char *user;    /* author of `message`, or NULL */
    const char *more;    /* JSON for the connector (team id, service URL), or NULL */
    bool group;          /* more than one person can read the chat */
};

/* ---- content of a message ---- */

enum tc_role {
    TC_ROLE_LIVE,   /* progress of a running turn: edited, silent */
    TC_ROLE_ANSWER, /* one part of the outcome; the first part notifies */
    TC_ROLE_CARD,   /* a request of the agent; notifies */
    TC_ROLE_REPLY,  /* result of a command, refusal, notice of the host; silent */
};
#define TC_ROLES 4

enum tc_line_state { TC_LINE_RUNNING, TC_LINE_OK, TC_LINE_FAILED };

/* One tool call, as one line of plain text. */
struct tc_tool_line {
    const char *id, *name, *summary;
    enum tc_line_state state;
    int64_t took_ms;    /* elapsed so far while the call runs */
    const char *detail; /* in a native stream: the next part, as plain text, of the output of a
                           failed call or of thinking; otherwise NULL */
};

/* Content of a native stream. Items of a stream cannot be changed or removed later. */
struct tc_stream_item {
    const char *text;                /* rendered Markdown; NULL: use `line` */
    const struct tc_tool_line *line; /* a new line, or the new state of the line with this id */
};

enum tc_phase { TC_PHASE_WORKING, TC_PHASE_WAITING, TC_PHASE_STOPPING };

/* State of a running turn, for services that have their own elements for progress. tc_op.text
 * contains the same state as text. */
struct tc_view {
    size_t size;
    enum tc_phase phase;
    const char *headline;             /* Markdown: last line of narration, or "Working…" */
    const struct tc_tool_line *lines; /* the newest lines */
    size_t line_count, lines_before;  /* lines_before: number of older lines that are not in
                                         `lines` */
    const char *notice;               /* plain text, or NULL */
    const char *thinking;             /* Markdown, or NULL */
    unsigned waiting;                 /* open requests */
    int64_t elapsed_ms, silent_ms;    /* silent_ms: since the last event */
    int64_t tokens;                   /* negative: unknown */
};

enum tc_style { TC_STYLE_PLAIN, TC_STYLE_PRIMARY, TC_STYLE_GOOD, TC_STYLE_BAD };

/* A button. The service returns `data` in tc_chat_action.data: at most 60 bytes of A-Z a-z 0-9 : .
 * _ - */
struct tc_button {
    const char *data, *label;
    enum tc_style style;
    bool confirm; /* gives a permanent permission: ask for a confirmation, if the service can */
};

struct tc_field_option {
    const char *label;
    const char *about; /* or NULL */
};

/* A question that a form of the service asks (TC_INPUT_FIELDS, TC_INPUT_DIALOG). People may also
 * answer in their own words. */
struct tc_field {
    const char *id;    /* "" if the request has no questions and needs only a text */
    const char *label; /* a few words, or NULL; the card contains the complete question */
    const struct tc_field_option *options;
    size_t option_count;
    bool multi; /* several options may be chosen */
};

#if TURNCAST_API_MINOR >= 6
/* Since 1.6. An input of a form, see tc_chat_inputs. A field with options can have a second input,
 * for a text. */
struct tc_form_input {
    const char *id;    /* a letter and a number; key of the value in tc_chat_action.filled */
    const char *label; /* never empty */
    const struct tc_field_option *options; /* choices; their values are "0", "1"… */
    size_t option_count;                   /* 0: the input is a text */
    bool multi;                            /* several options may be chosen */
    bool required;                         /* the field has no other input */
};
#endif

/* Reactions. The connector shows each as an emoji (with hosts of 1.6 and later: tc_op.emoji), and
 * ignores those that the service does not support. */
enum tc_reaction {
    TC_REACTION_SEEN,   /* the message is on disk, and its turn starts */
    TC_REACTION_QUEUED, /* the message waits for the running turn */
    TC_REACTION_TAKEN,  /* an answer or a command has been carried out */
    TC_REACTION_ALLOW,
    TC_REACTION_DENY,
    TC_REACTION_GIVEN,     /* the message was given to the agent during the running turn */
    TC_REACTION_INTERRUPT, /* the running turn is stopped for the message */
};

/* ---- operations ---- */

enum tc_op_kind {
    TC_OP_IDENTIFY, /* check the credentials; result.message: own user id, result.name */
    TC_OP_POST,     /* create a message; result.message: its id */
    TC_OP_EDIT,     /* replace the complete content of `message`, including buttons */
    TC_OP_DELETE,   /* delete `message` */
    TC_OP_FILE,     /* send `file` with `text` as caption; result.message: id of the message */
    TC_OP_TYPING,   /* show that the bot is typing, or the phase in `view`; off: stop */
    TC_OP_REACT,    /* put `reaction` on a person's `message` */
    TC_OP_PRIVATE,  /* show `text` only to the person who pressed a button (`action`); if it is
                       `silent`, request() may return -1, which is then not logged */
    TC_OP_LOOKUP, /* find the message that was posted with `key`: result.message, or NOT_FOUND. In
                     the first step, `cursor` is the cursor of the request in doubt */
    TC_OP_POLL,   /* wait for events after `cursor`. read() passes them on and sets result.cursor.
                     The host stores the cursor, repeats the operation, and backs off on errors */
    TC_OP_FETCH,  /* download file->ref of a person's message; the last step sets TC_SAVE */
    TC_OP_MENU,   /* publish `menu`, which replaces the previous one: for everybody, or for the user
                     of `target`, see tc_chat.personal_menu */
    TC_OP_DRAFT,  /* show `text` as a draft in a chat with one person; it disappears with the next
                     message */
    TC_OP_STREAM_BEGIN,  /* begin a native stream with `items`; result.message: its id */
    TC_OP_STREAM_APPEND, /* append `items` to the stream `message` */
    TC_OP_STREAM_END,    /* append `items` and end the stream; role ANSWER: the stream shows the
                            answer, and TC_OP_LOOKUP finds it by `key`. See tc_chat.stream_whole */
};
#define TC_OPS 16
#define TC_CAN(op) (1u << (op))

/* Parts of the request that the service refused and that must be omitted now. */
enum { TC_OMIT_FORMAT = 1, TC_OMIT_REPLY = 2, TC_OMIT_THREAD = 4 };

struct tc_chat_file {
    const char *name, *type; /* type: MIME type, or NULL */
    const char *ref;         /* file of a person, FETCH: reference of the service; or NULL */
    const char *path;        /* file of a person that has already been downloaded (tc_reply.path);
                                or NULL */
    const char *data;        /* FILE: the content */
    size_t len;
};

/* A command of the host, for the menu of a service. People write / or ! in front of the name, which
 * may contain blanks and hyphens. A connector that must spell a name in another way has to restore
 * it in messages of people. help: one line, without a period. */
struct tc_menu_entry {
    const char *name, *help;
};

struct tc_op {
    size_t size;
    enum tc_op_kind kind;
    enum tc_role role;
    const struct tc_target *target; /* NULL: IDENTIFY, POLL, MENU for everybody */
    const char *message;
    const char *key;  /* 24 characters of a-z2-7. The same for every attempt of one operation; each
                         edit has a new key. Changes after a refusal, but not after a lost reply */
    const char *turn; /* id, or "" */
    unsigned part;    /* of an answer, from 0 */
    bool source;      /* `text` is the Markdown of the complete answer, see tc_chat.source_option */
    const char *text; /* rendered for the role, within its limits; may be "" */
    size_t text_len;
    const char *entities; /* TC_TELEGRAM, or NULL */
    const char *plain;    /* the same text without formatting */
    const struct tc_button *buttons;
    size_t button_count;
    bool silent;                     /* PRIVATE: show the text without asking for a confirmation */
    bool off;                        /* TYPING */
    uint32_t omit;                   /* TC_OMIT_… */
    unsigned step;                   /* number of the step, from 0, of an operation that needs
                                        several requests */
    const char *cursor;              /* cursor that read() set for this step, or NULL */
    const struct tc_view *view;      /* LIVE, TYPING; else NULL */
    const struct tc_chat_file *file; /* FILE, FETCH; else NULL */
    enum tc_reaction reaction;
    const char *action;               /* PRIVATE */
    const struct tc_menu_entry *menu; /* MENU; else NULL */
    size_t menu_count;
    const struct tc_field *fields; /* TC_INPUT_FIELDS: the fields of an open card whose questions a
                                      form asks; otherwise NULL */
    size_t field_count;
    const struct tc_stream_item *items; /* STREAM_…; with TC_OMIT_FORMAT, no lines */
    size_t item_count;
#if TURNCAST_API_MINOR >= 6
    /* Since 1.6. MENU: arguments that may follow the name of each entry, such as "[NAME]"; "":
     * none */
    const char *const *menu_arguments;
    const char *emoji; /* since 1.6. REACT: `reaction` as an emoji */
    const char *form;  /* since 1.6. `fields` as text, to be passed back in tc_chat_action.form; or
                          NULL */
#endif
};

/* ---- results ---- */

enum tc_result_kind {
    TC_RESULT_DONE,        /* executed; also if there was nothing to change */
    TC_RESULT_NEXT_STEP,   /* this step is done; `cursor` is passed to the next step */
    TC_RESULT_NOT_FOUND,   /* LOOKUP: the message does not exist */
    TC_RESULT_IN_DOUBT,    /* the operation may have been executed */
    TC_RESULT_RETRY,       /* not executed; retry after exactly hold_ms, or back off if that is 0 */
    TC_RESULT_BAD_FORMAT,  /* formatting refused: retried once without formatting */
    TC_RESULT_TOO_LONG,    /* retried in smaller parts, then as a file */
    TC_RESULT_EMPTY,       /* the service rejects the text because it has no visible character */
    TC_RESULT_REPLY_GONE,  /* the message to which this one replies no longer exists: retried once
                              without the reply */
    TC_RESULT_THREAD_GONE, /* retried once without the thread */
    TC_RESULT_MESSAGE_GONE, /* `message` is deleted, too old, or not of this bot */
    TC_RESULT_CHAT_MOVED,   /* the chat has the new id `chat` */
    TC_RESULT_CHAT_GONE,    /* nothing can be posted there: dead letter */
    TC_RESULT_UNSUPPORTED,  /* not available to this app or server: not used until the next start */
    TC_RESULT_UNAUTHORIZED, /* credentials refused: all requests wait, and the host tests the
                               credentials again */
    TC_RESULT_REFUSED,      /* any other refusal: retried once as plain text, then dead letter */
    TC_RESULT_STOPPED,      /* STREAM_…: a person has stopped the stream; the turn is cancelled */
#if TURNCAST_API_MINOR >= 6
    TC_RESULT_STREAM_OVER, /* since 1.6. STREAM_…: the service has ended the stream and keeps its
                              content */
#endif
};
#if TURNCAST_API_MINOR >= 6
#define TC_RESULTS 18
#else
#define TC_RESULTS 17
#endif

struct tc_result {
    size_t size;
    enum tc_result_kind kind;
    const char *message, *name, *chat, *cursor; /* each or NULL */
    int64_t hold_ms;     /* RETRY: delay; DONE: delay of the next operation, also of the next
                            POLL */
    enum tc_scope scope; /* requests that wait for hold_ms */
    const char *reason;  /* error text of the service, or NULL; also the reason why the instance
                            waits */
    const char *path;    /* FETCH without TC_SAVE: absolute path of the file; or NULL */
};

/* ---- the table ---- */

/* A rule that classifies an error; the first rule that matches decides. status 0 matches any
 * status; text NULL matches any text, otherwise the error text of the service must contain
 * `text`. */
struct tc_error_rule {
    int status;
    const char *text;
    enum tc_result_kind kind;
};

/* JSON pointers (RFC 6901) into a reply; NULL: the service has no such member. The result of a 2xx
 * reply is IN_DOUBT if the body is neither empty nor JSON, if `ok` is set and not true in the body
 * and no error is named, or if an operation that creates a message returns no id. read() may
 * correct this. */
struct tc_reply_map {
    const char *ok, *error, *message, *name, *chat, *retry_s, *retry_ms;
    const struct tc_error_rule *rules; /* ends with {0, NULL, TC_RESULT_DONE}; or NULL */
};

/* Form and limits of one message; 0: no limit. */
struct tc_chat_text {
    enum tc_form form;
    uint32_t flags; /* of tc_text */
    size_t units, bytes, entities;
};

/* Way in which the service makes a repeated POST safe. */
enum tc_idempotency {
    TC_IDEMPOTENCY_NONE,
    TC_IDEMPOTENCY_KEY,    /* tc_op.key is sent; the service ignores repeats for idempotency_ms */
    TC_IDEMPOTENCY_LOOKUP, /* TC_OP_LOOKUP can search for tc_op.key */
};

/* Way in which a person answers a request card. */
enum tc_input {
    TC_INPUT_TEXT,      /* no buttons: numbered choices, answered by a message */
    TC_INPUT_REACTIONS, /* allow and deny by reaction, other answers by a message */
    TC_INPUT_BUTTONS,   /* one press per choice; several options are selected by pressing buttons,
                           which edits the card */
    TC_INPUT_FIELDS,    /* buttons, and a form that collects the answers to all questions */
#if TURNCAST_API_MINOR >= 6
    TC_INPUT_DIALOG, /* since 1.6. Buttons; a button opens a form (tc_chat_form) for answers that
                        one press cannot give: a text, several options, or several questions */
#endif
};

/* Native streams: messages that grow while the turn runs. The host ends a stream before a limit is
 * reached, and continues in another stream. */
struct tc_stream {
    struct tc_chat_text text; /* form and limits of one item */
    int64_t pace_ms;          /* minimum interval between two requests; 0: 1,000 */
    int64_t age_ms;           /* a stream is ended before this age; 0: no limit */
    size_t bytes, items;      /* limits of the complete content of one stream; 0: no limit */
    const char *option;       /* option that enables streams; NULL: always enabled */
};

#if TURNCAST_API_MINOR >= 6
/* Since 1.6. Names of the members of an element of tc_chat_message.attachments. If the service uses
 * several names, separate them by blanks; the first member that exists is read. NULL: no such
 * member. */
struct tc_attachment_map {
    const char *name, *type, *ref, *bytes;
    int64_t bytes_max; /* larger files are not fetched; 0: no limit */
};
#endif

#if TURNCAST_API_MINOR >= 6
/* Since 1.6. Names of the members of an element of tc_chat_message.mentioned. marks: the forms of a
 * mention in a text, with * for the id: "<@*> <@!*>". */
struct tc_mention_map {
    const char *id, *name, *marks;
};

/* Since 1.6. Result of tc_feed.take for an event. */
enum tc_feed_step {
    TC_FEED_DONE,     /* the event is on disk, or is not relevant */
    TC_FEED_WAIT,     /* a look-up is needed first, after which the connector calls tc_feed_go.
                         Until then, later events wait, too */
    TC_FEED_NOT_KEPT, /* the event was not stored, as with TC_NOT_KEPT */
};

/* Since 1.6. Events that the service pushes, for example over a websocket; see the macros below. */
struct tc_feed {
    size_t size;
    /* Passes on an event; called again after TC_FEED_WAIT. where: NULL for an event of tc_feed_add;
     * for an event of tc_feed_page, the chat or thread whose history was read. */
    enum tc_feed_step (*take)(struct tc_turn *lobby, const char *event,
                              const struct tc_target *where);
    /* Called when an event could not be stored, or when 1,000 events wait; waiting events are
     * dropped. Makes the service send all events after tc_feed_position again, and then calls
     * tc_feed_ready. */
    void (*rewind)(struct tc_turn *lobby);
    /* Sends a request for the oldest messages of a chat or thread that are newer than the id
     * `after`; on_reply calls tc_feed_page with the same key. -1: this chat has no history. NULL:
     * the service has no history. */
    int (*page)(struct tc_turn *lobby, const struct tc_target *where, const char *after,
                const char *key);
};
#endif

struct tc_chat {
    size_t size;
    uint32_t can;      /* TC_CAN(…) | …; IDENTIFY and POST are required */
    enum tc_unit unit; /* of tc_chat_text.units */
    struct tc_chat_text text[TC_ROLES];
    size_t file_bytes;              /* FILE: longest content; 0: no limit */
    int64_t edit_ms, edit_group_ms; /* minimum interval between edits of a message; 0: 1,200 */
    int64_t edit_age_ms;            /* age at which a live message is replaced by a new one; 0:
                                       never */
    unsigned edit_count;            /* number of edits after which the interval doubles; 0: never */
    int64_t typing_ms; /* time for which one TYPING is visible; 0: 5,000; more than 10,000: the host
                          stops it when it sends the outcome */
    enum tc_idempotency idempotency;
    int64_t idempotency_ms; /* KEY: time for which the service recognises a repeat; 0: no limit */
    enum tc_input input;
    unsigned buttons;            /* of one message; 0: no limit */
    unsigned fields;             /* FIELDS, DIALOG: maximum number of fields of one card; a card
                                    with more questions is answered by buttons; 0: no limit */
    uint32_t rates, rates_group; /* bits of tc_plugin.rates for messages and their edits */
    struct tc_reply_map reply;
    bool colon_ids;           /* ids of chats contain colons: in the key `to` of an approval rule,
                                 all text after INSTANCE: is the chat, without a thread */
    const char *command;      /* character at the beginning of a command, "/" or "!", for texts that
                                 name commands; NULL: texts name no commands */
    const char *chat_option;  /* option that contains the chat for turns that were started
                                 elsewhere, or NULL */
    int64_t poll_ms;          /* maximum duration of a POLL; 0: 60,000 */
    const char *draft_option; /* option that enables progress by DRAFT in a chat with one person;
                                 NULL: never */
    /* Option that enables sending an answer of at most source_bytes as one message of Markdown
     * (tc_op.source). If the service refuses it, the ordinary messages are sent; after UNSUPPORTED
     * they are sent from the beginning. NULL: never. */
    const char *source_option;
    size_t source_bytes;
    bool personal_menu; /* MENU is published not at the start, but for each person who opens the
                           menu, see tc_chat_action.menu */
    struct tc_stream stream; /* with STREAM_BEGIN, STREAM_APPEND and STREAM_END */
    /* Fills in method, url, headers and body. Lane, priority, flags, rates and times are already
     * set and may be changed. -1: this operation cannot be expressed. 1 (with hosts of 1.6 and
     * later; for PRIVATE, TYPING and REACT): the operation is done without a request. */
    int (*request)(struct tc_turn *, const struct tc_op *, struct tc_http *);
    /* Corrects `result`, which is filled in from `reply`. May be NULL. */
    int (*read)(struct tc_turn *, const struct tc_op *, const struct tc_reply *,
                struct tc_result *);
    /* Called when IDENTIFY has succeeded, and again after each interruption, so that the connector
     * starts to receive events. Returns 0, or another number if events do not arrive by POLL. May
     * be NULL. */
    int (*ready)(struct tc_turn *lobby, const struct tc_result *identity);
#if TURNCAST_API_MINOR >= 6
    /* Since 1.6. Each request of a stream contains the complete text: `text` is the text that the
     * stream shows after this request, and `part` is the number of the request, from 0. Lines that
     * have ended are part of the text; `items` contains lines only as long as the text is empty. A
     * request whose reply is lost need not be repeated, because the next one contains its text. An
     * END with an empty text ends a stream that shows no text, or whose text is no longer known. */
    bool stream_whole;
    /* Since 1.6. JSON pointer to a description of the error code that `reply.error` names.
     * tc_result.reason is then "CODE: DESCRIPTION". NULL: the service has none. */
    const char *error_words;
    /* Since 1.6. Characters that the service does not permit in names of commands, such as " -". In
     * tc_op.menu, _ replaces each of them, and the host accepts this spelling in messages. NULL:
     * names are not changed. */
    const char *command_lacks;
    struct tc_attachment_map attachments; /* since 1.6 */
    struct tc_mention_map mentions;       /* since 1.6 */
    /* Since 1.6. JSON pointer to details of the error that `reply.error` names. The texts of
     * `reply.rules` are searched for in these details, too. NULL: the service has none. */
    const char *error_details;
    const struct tc_feed *feed; /* since 1.6; or NULL. Must stay valid as long as the instance */
#endif
};

/* ---- messages and actions of people ---- */

enum tc_addressed {
    TC_ADDRESSED_NO,     /* addressed to others: ignored */
    TC_ADDRESSED_THREAD, /* in a thread: the host knows whether the bot takes part */
    TC_ADDRESSED_YES,    /* direct chat, mention, reply to the bot, command */
};

#if TURNCAST_API_MINOR >= 6
/* Since 1.6. A mention in a text: the host replaces each `mark` by @name. name NULL: the mention
 * names the bot, and is removed. */
struct tc_mention {
    const char *mark, *name;
};
#endif

/* A message of a person. A message with neither text nor files nor a kind is ignored. */
struct tc_chat_message {
    size_t size;
    const char *id, *also;   /* as in tc_inbound */
    struct tc_target target; /* where the answer goes; target.message: this message */
    const char *topic;       /* thread that is a separate conversation, or NULL */
    const char *user,
        *name;            /* user: with hosts of 1.6 and later may be NULL, which means target.user;
                             name: or NULL */
    const char *text;     /* without the mention of the bot, see `mentions` */
    const char *quote;    /* or NULL */
    const char *reply_to; /* id of the message to which this message replies, or NULL */
    /* Text and data of the first button of that message, if the bot wrote it and the service
     * includes it. Each or NULL. */
    const char *reply_text, *reply_data;
    enum tc_addressed addressed;
    /* At most 32. The host stores the message, and then fetches the files that have a reference,
     * for at most a minute. */
    const struct tc_chat_file *files;
    size_t file_count;
    const char *kind;  /* as in tc_inbound: kind of a message that is not written text; or NULL.
                          Ignored if the message has a text and no files */
    const char *group; /* the same for all parts of an album, or NULL. The parts become one message,
                          which is addressed to the bot if one of its parts is */
    const char
        *chat_was; /* earlier id of target.chat, or NULL; a message without id only reports this
                      change */
#if TURNCAST_API_MINOR >= 6
    /* Since 1.6. Mentions in `text`; at most 64. If there are any, white space around the text is
     * removed, and so are colons and commas after a mention of the bot at the beginning. */
    const struct tc_mention *mentions;
    size_t mention_count;
    /* Since 1.6. JSON array of files, instead of `files`; the host reads it with
     * tc_chat.attachments. The agent gets the reason why a file is not available: it is too large,
     * it is beyond the tenth, or request() returned -1 because it is not at the service. Or
     * NULL. */
    const char *attachments;
    /* Since 1.6. JSON array of the people whom the text mentions, instead of `mentions`; the host
     * reads it with tc_chat.mentions, and recognises the bot by the id that IDENTIFY returned. Or
     * NULL. */
    const char *mentioned;
#endif
};

struct tc_chat_action {
    size_t size;
    const char *id;            /* id of the press, for PRIVATE; a second action with the same id and
                                  data is ignored; or NULL */
    const char *data;          /* data of the button; NULL: use `reaction` */
    enum tc_reaction reaction; /* on target.message */
    struct tc_target target;   /* target.message: the message with the button */
    const char *topic;         /* as in tc_chat_message */
    const char *user, *name;   /* as in tc_chat_message */
    /* JSON object with the answers of a form: maps the id of each field to a text, or to an array
     * of texts; empty fields are omitted. For a button of a card with fields; otherwise NULL. */
    const char *answers;
    bool stop; /* no button: the person has stopped the turn in target.chat and target.thread */
    bool menu; /* no button: the person has opened the menu */
#if TURNCAST_API_MINOR >= 6
    /* Since 1.6. Instead of `answers`: a JSON object that maps the id of each input of
     * tc_chat_inputs to its text, or to the numbers of the selected options, as an array or
     * separated by commas; other members are ignored. form: tc_op.form of the card; or NULL,
     * because the host knows the fields as long as the card is open. */
    const char *filled, *form;
#endif
};

/* For a plugin with a chat table. Passes on a message of a person; the host shows the result to the
 * person. Returns when the message is on disk. After TC_NOT_KEPT, do not acknowledge the message,
 * so that the service delivers it again. */
#define tc_chat_receive(lobby, message) ((lobby)->inst->host->chat_receive((lobby), (message)))
/* For a plugin with a chat table. Passes on the press of a button, or a reaction. 0: acknowledge
 * it; -1: it was not stored, and the service must deliver it again. */
#define tc_chat_act(lobby, action) ((lobby)->inst->host->chat_act((lobby), (action)))
#if TURNCAST_API_MINOR >= 6
/* Since 1.6. For TC_INPUT_DIALOG: returns the fields of the form that the pressed button
 * (action.data, in action.target) opens, valid until the callback returns. When the form is
 * submitted, pass it on with tc_chat_act, with the same data and its answers. NULL: the button
 * opens no form, or its card is no longer open; pass the press on with tc_chat_act. */
#define tc_chat_form(lobby, action, count)                                                         \
    ((lobby)->inst->host->chat_form((lobby), (action), (count)))
#endif
#if TURNCAST_API_MINOR >= 6
/* Since 1.6. Returns the inputs of a form for these fields, valid until the callback returns.
 * inputs_max: maximum number of inputs of a form; if there would be more, fields with choices have
 * no text input. options_max: maximum number of choices of an input; a field with more options has
 * only a text input. 0: no limit. */
#define tc_chat_inputs(turn, fields, count, inputs_max, options_max, n)                            \
    ((turn)->inst->host->chat_inputs((turn), (fields), (count), (inputs_max), (options_max), (n)))
#endif
#if TURNCAST_API_MINOR >= 6
/* ---- events that the service pushes ---- */

/* Since 1.6. Adds an event, which is any text; tc_chat.feed processes it after all events before
 * it. position: any text from which the service can send the later events again; stored when the
 * event has been processed, or up to half a minute later if the event is not relevant. Either may
 * be NULL. -1: the event was not stored. */
#define tc_feed_add(lobby, event, position)                                                        \
    ((lobby)->inst->host->feed_add((lobby), (event), (position)))
/* Since 1.6. Reports that the look-up for which an event waits has ended. */
#define tc_feed_go(lobby) ((lobby)->inst->host->feed_go((lobby)))
/* Since 1.6. Returns the position that was stored last, also by an earlier process; or NULL.
 * Available after tc_chat_describe, if the plugin calls it. */
#define tc_feed_position(lobby) ((lobby)->inst->host->feed_position((lobby)))
/* Since 1.6. Reports that the service sends events again. gap: events of the interruption are
 * missing. The host then requests, with tc_feed.page, the missing messages of the 50 chats and
 * threads from which the bot received messages most recently, and requests them again after each
 * interruption until all of them are on disk. Ids of messages are compared as numbers. */
#define tc_feed_ready(lobby, gap) ((lobby)->inst->host->feed_ready((lobby), (gap)))
/* Since 1.6. In on_reply: passes on the result of tc_feed.page as a JSON array of events, the
 * oldest first; take gets each event as JSON. next: the id after which another page follows; NULL:
 * none. If the reply is not a success, the host logs that messages are missing. */
#define tc_feed_page(lobby, key, reply, events, next)                                              \
    ((lobby)->inst->host->feed_page((lobby), (key), (reply), (events), (next)))
#endif
/* For a plugin with the flag TC_CHATS, in init: makes this instance a chat connector with this
 * table. The table is copied; data to which it points must stay valid as long as the instance. A
 * later call replaces the table. -1: the table is not valid, which is logged. */
#define tc_chat_describe(inst, table) ((inst)->host->chat_describe((inst), (table)))

#ifndef __cplusplus
#define TC_CHAT_MESSAGE(...)                                                                       \
    (&(const struct tc_chat_message){.size = sizeof(struct tc_chat_message), __VA_ARGS__})
#define TC_CHAT_ACTION(...)                                                                        \
    (&(const struct tc_chat_action){.size = sizeof(struct tc_chat_action), __VA_ARGS__})
#endif

#endif
