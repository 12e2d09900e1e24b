/* SPDX-License-Identifier: MIT
 * Chat service: the host shows turns in a chat, and the connector describes the chat service.
 * Included by <turncast/plugin.h>; do not include it directly. Since API 1.5.
 *
 * The host decides what is shown and when: progress message, request cards, answers in parts,
 * retries, recovery after a restart. The connector supplies one constant table (struct tc_chat) and
 * up to two functions: request() turns an operation into an HTTP request, and read() classifies the
 * reply where the table is not enough. In the other direction, the connector parses input of people
 * and passes it to tc_chat_receive() (messages) and tc_chat_act() (buttons and reactions).
 *
 * request() and read() depend on their arguments and the options only: after a crash they are
 * called again for the same operation, in another process. TC_OP_POLL and TC_OP_TYPING are
 * exceptions. */
#ifndef TURNCAST_CHAT_H
#define TURNCAST_CHAT_H

#ifndef TURNCAST_PLUGIN_H
#error "include <turncast/plugin.h>"
#endif

/* ---- where ---- */

/* Where a message is shown. The host stores it with the turn. */
struct tc_target {
    const char *chat;    /* the service's id of the chat, channel or room */
    const char *thread;  /* or NULL */
    const char *message; /* message that is answered, or NULL */
    const char *user;    /* its author, or NULL */
    const char *more;    /* JSON for the connector (team id, service URL), or NULL */
    bool group;          /* more than one person can read it */
};

/* ---- what is shown ---- */

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
                           failed call or of thinking; else NULL */
};

/* Content of a native stream. Items of a stream cannot be changed or removed later. */
struct tc_stream_item {
    const char *text;                /* Markdown, rendered; NULL: `line` counts */
    const struct tc_tool_line *line; /* a new line, or the new state of one, by its id */
};

enum tc_phase { TC_PHASE_WORKING, TC_PHASE_WAITING, TC_PHASE_STOPPING };

/* State of a running turn. tc_op.text is the same, rendered; use this for services that have
 * elements of their own for progress. */
struct tc_view {
    size_t size;
    enum tc_phase phase;
    const char *headline;             /* Markdown: last line of narration, or "Working…" */
    const struct tc_tool_line *lines; /* the newest */
    size_t line_count, lines_before;  /* lines_before: older ones that are not listed */
    const char *notice;               /* plain text, or NULL */
    const char *thinking;             /* Markdown, or NULL */
    unsigned waiting;                 /* open requests */
    int64_t elapsed_ms, silent_ms;    /* silent_ms: since the last event */
    int64_t tokens;                   /* negative: unknown */
};

enum tc_style { TC_STYLE_PLAIN, TC_STYLE_PRIMARY, TC_STYLE_GOOD, TC_STYLE_BAD };

/* `data` comes back in tc_chat_action.data: at most 60 bytes of A-Z a-z 0-9 : . _ - */
struct tc_button {
    const char *data, *label;
    enum tc_style style;
    bool confirm; /* a permanent permission: ask for a confirmation, if the service can */
};

struct tc_field_option {
    const char *label;
    const char *about; /* or NULL */
};

/* A question that the service collects by a form (TC_INPUT_FIELDS, TC_INPUT_DIALOG). People may
 * also answer by a text of their own. */
struct tc_field {
    const char *id;    /* "" if the request has no questions: only a text is wanted */
    const char *label; /* a few words, or NULL; the card has the whole question */
    const struct tc_field_option *options;
    size_t option_count;
    bool multi; /* several options may be chosen */
};

#if TURNCAST_API_MINOR >= 6
/* Since 1.6. An input of a form, see tc_chat_inputs: beside the options of a field, there is one
 * for words. */
struct tc_form_input {
    const char *id;    /* a letter and a number: returns with what was filled in */
    const char *label; /* never empty */
    const struct tc_field_option *options; /* to choose from; their values are "0", "1"… */
    size_t option_count;                   /* 0: a text is written */
    bool multi;                            /* several options may be chosen */
    bool required;                         /* the field has no other input */
};
#endif

/* The connector maps these to emoji, unless tc_op.emoji does, and ignores those that the service
 * lacks. */
enum tc_reaction {
    TC_REACTION_SEEN,   /* the message is on disk, and its turn begins */
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
    TC_OP_EDIT,     /* replace all of `message`, buttons included */
    TC_OP_DELETE,   /* delete `message` */
    TC_OP_FILE,     /* send `file` with `text` as caption; result.message: id of the message */
    TC_OP_TYPING,   /* show that the bot is typing, or what `view` says; off: stop */
    TC_OP_REACT,    /* put `reaction` on a person's `message` */
    TC_OP_PRIVATE,  /* show `text` to the person who pressed a button (`action`); request() may
                       return -1 for one that is `silent`: that is not logged */
    TC_OP_LOOKUP, /* find the message that was posted with `key`: result.message, or NOT_FOUND. The
                     cursor of the first step is that of the request in doubt */
    TC_OP_POLL,   /* ask for events after `cursor`. read() passes them on and sets
                     result.cursor. The host stores the cursor, repeats for ever and backs off on
                     errors */
    TC_OP_FETCH,  /* download file->ref of a person's message; the last step sets TC_SAVE */
    TC_OP_MENU,   /* publish `menu`, in place of an earlier one: for everybody, or for the user of
                     `target`, see tc_chat.personal_menu */
    TC_OP_DRAFT,  /* show `text` as a draft to the person, who alone reads the chat; it disappears
                     with the next message */
    TC_OP_STREAM_BEGIN,  /* begin a native stream with `items`; result.message: its id */
    TC_OP_STREAM_APPEND, /* append `items` to the stream `message` */
    TC_OP_STREAM_END,    /* the same, and end the stream; role ANSWER: the stream shows the answer
                            and is found by TC_OP_LOOKUP with `key`. See tc_chat.stream_whole */
};
#define TC_OPS 16
#define TC_CAN(op) (1u << (op))

/* Parts of the request that were refused and must be left out now. */
enum { TC_OMIT_FORMAT = 1, TC_OMIT_REPLY = 2, TC_OMIT_THREAD = 4 };

struct tc_chat_file {
    const char *name, *type; /* type: MIME type, or NULL */
    const char *ref;         /* of a person, FETCH: the service's reference; or NULL */
    const char *path;        /* of a person: the file is there already (tc_reply.path); or NULL */
    const char *data;        /* FILE: the content */
    size_t len;
};

/* A command of the host, as a service shows it. People write / or ! in front of the name, which may
 * contain blanks and hyphens: a connector that has to spell it otherwise spells it back in what
 * people send. help: one line, without a period. */
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
                         edit has another one. Changes after a refusal, and not after a lost reply */
    const char *turn; /* id, or "" */
    unsigned part;    /* of an answer, from 0 */
    bool source;      /* `text` is the Markdown of the whole answer, see tc_chat.source_option */
    const char *text; /* rendered for the role, within its limits; may be "" */
    size_t text_len;
    const char *entities; /* TC_TELEGRAM, or NULL */
    const char *plain;    /* the same text without formatting */
    const struct tc_button *buttons;
    size_t button_count;
    bool silent;                     /* PRIVATE: the person need not confirm the text */
    bool off;                        /* TYPING */
    uint32_t omit;                   /* TC_OMIT_… */
    unsigned step;                   /* from 0; of an operation that takes several requests */
    const char *cursor;              /* what read() set for this step, or NULL */
    const struct tc_view *view;      /* LIVE, TYPING; else NULL */
    const struct tc_chat_file *file; /* FILE, FETCH; else NULL */
    enum tc_reaction reaction;
    const char *action;               /* PRIVATE */
    const struct tc_menu_entry *menu; /* MENU; else NULL */
    size_t menu_count;
    const struct tc_field *fields; /* FIELDS: of an open card whose questions a form collects; else
                                      NULL */
    size_t field_count;
    const struct tc_stream_item *items; /* STREAM_…; lines only without TC_OMIT_FORMAT */
    size_t item_count;
#if TURNCAST_API_MINOR >= 6
    /* Since 1.6. MENU: what may follow the name of each entry, such as "[NAME]"; "": nothing */
    const char *const *menu_arguments;
    const char *emoji; /* since 1.6. REACT: `reaction` as an emoji */
    const char *form;  /* since 1.6. `fields` as a text for tc_chat_action.form; or NULL */
#endif
};

/* ---- results ---- */

enum tc_result_kind {
    TC_RESULT_DONE,        /* also: unchanged, already there */
    TC_RESULT_NEXT_STEP,   /* this step is done; `cursor` for the next one */
    TC_RESULT_NOT_FOUND,   /* LOOKUP: the message does not exist */
    TC_RESULT_IN_DOUBT,    /* the operation may have been executed */
    TC_RESULT_RETRY,       /* not executed; retry after exactly hold_ms, or back off if that is 0 */
    TC_RESULT_BAD_FORMAT,  /* formatting refused: retried once without */
    TC_RESULT_TOO_LONG,    /* retried in smaller parts, then as a file */
    TC_RESULT_EMPTY,       /* the service sees nothing visible in the text */
    TC_RESULT_REPLY_GONE,  /* the answered message is gone: retried once without */
    TC_RESULT_THREAD_GONE, /* retried once without the thread */
    TC_RESULT_MESSAGE_GONE, /* `message` is deleted, too old, or not ours */
    TC_RESULT_CHAT_MOVED,   /* the chat's id is `chat` now */
    TC_RESULT_CHAT_GONE,    /* nothing can be posted there: dead letter */
    TC_RESULT_UNSUPPORTED,  /* not available to this app or server: off until the next start */
    TC_RESULT_UNAUTHORIZED, /* credentials refused: requests wait, the host asks again */
    TC_RESULT_REFUSED,      /* any other refusal: retried once as plain text, then dead letter */
    TC_RESULT_STOPPED,      /* STREAM_…: a person has stopped the stream; the turn is cancelled */
#if TURNCAST_API_MINOR >= 6
    TC_RESULT_STREAM_OVER, /* since 1.6. STREAM_…: the stream has ended, and what it shows stays */
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
    int64_t hold_ms;     /* of a POLL that is done, too: until the next one */
    enum tc_scope scope; /* requests that wait for hold_ms */
    const char *reason;  /* the service's words, or NULL; also why the instance waits */
    const char *path;    /* FETCH without TC_SAVE: absolute path of the file; or NULL */
};

/* ---- the table ---- */

/* The first row that matches decides. status 0 matches any; text NULL matches any, else the
 * service's error contains it. */
struct tc_error_rule {
    int status;
    const char *text;
    enum tc_result_kind kind;
};

/* JSON pointers (RFC 6901) into a reply; NULL: the service has no such member. A 2xx reply is in
 * doubt when its body is neither empty nor JSON, when `ok` is set and not true in it and no error
 * is named, or when an operation that creates a message names no id. read() may correct that. */
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

/* How the service makes a repeated POST safe. */
enum tc_idempotency {
    TC_IDEMPOTENCY_NONE,
    TC_IDEMPOTENCY_KEY,    /* tc_op.key is sent; the service ignores repeats for idempotency_ms */
    TC_IDEMPOTENCY_LOOKUP, /* TC_OP_LOOKUP can search for tc_op.key */
};

/* How a person answers a request card. */
enum tc_input {
    TC_INPUT_TEXT,      /* no buttons: numbered choices, answered by a message */
    TC_INPUT_REACTIONS, /* allow and deny by reaction, the rest by a message */
    TC_INPUT_BUTTONS,   /* one press per choice; several choices by editing the card */
    TC_INPUT_FIELDS,    /* buttons, and a form that collects the answers to all questions */
#if TURNCAST_API_MINOR >= 6
    TC_INPUT_DIALOG, /* since 1.6. Buttons; what a press of one cannot say (a text, several options,
                        several questions) is asked by a form that a button opens: tc_chat_form */
#endif
};

/* Native streams: messages that grow while the turn runs. A stream is ended before its limits; what
 * follows goes into another one. */
struct tc_stream {
    struct tc_chat_text text; /* form and limits of one item */
    int64_t pace_ms;          /* between two requests; 0: 1,000 */
    int64_t age_ms;           /* a stream is ended before this age; 0: no limit */
    size_t bytes, items;      /* of all that one stream is given; 0: no limit */
    const char *option;       /* option that turns streams on; NULL: always */
};

#if TURNCAST_API_MINOR >= 6
/* Since 1.6. Members of an element of tc_chat_message.attachments; where a service has several for
 * the same, they are separated by blanks, and the first one that is there counts. NULL: it has
 * none.
 */
struct tc_attachment_map {
    const char *name, *type, *ref, *bytes;
    int64_t bytes_max; /* larger ones are not fetched; 0: no limit */
};
#endif

#if TURNCAST_API_MINOR >= 6
/* Since 1.6. Members of an element of tc_chat_message.mentioned. marks: how the text names
 * somebody, with * for the id: "<@*> <@!*>". */
struct tc_mention_map {
    const char *id, *name, *marks;
};

/* Since 1.6. What tc_feed.take did with an event. */
enum tc_feed_step {
    TC_FEED_DONE,     /* the event is on disk, or brings nothing */
    TC_FEED_WAIT,     /* something has to be looked up first; tc_feed_go follows. Until then the
                         events behind it wait, too */
    TC_FEED_NOT_KEPT, /* the event was not stored, as with TC_NOT_KEPT */
};

/* Since 1.6. Events that the service sends by itself, as over a websocket; see the macros below. */
struct tc_feed {
    size_t size;
    /* Passes on an event; called again after TC_FEED_WAIT. where: NULL of tc_feed_add; of
     * tc_feed_page the chat or thread whose history was read. */
    enum tc_feed_step (*take)(struct tc_turn *lobby, const char *event,
                              const struct tc_target *where);
    /* An event was not stored, or 1,000 wait: the events that wait are forgotten. Have the service
     * send all events behind tc_feed_position again, and call tc_feed_ready then. */
    void (*rewind)(struct tc_turn *lobby);
    /* Sends a request for the oldest messages of a chat, or of a thread of it, that are newer than
     * that id; on_reply calls tc_feed_page with the same key. -1: there is no history. NULL: the
     * service has none. */
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
    int64_t edit_ms, edit_group_ms; /* between edits of a message; 0: 1,200 */
    int64_t edit_age_ms;            /* replace a live message before this age; 0: never */
    unsigned edit_count;            /* after so many edits the interval doubles; 0: never */
    int64_t typing_ms; /* how long one TYPING is visible; 0: 5,000; more than 10,000: the
                          host stops it when the outcome is on its way */
    enum tc_idempotency idempotency;
    int64_t idempotency_ms; /* KEY; 0: for ever */
    enum tc_input input;
    unsigned buttons;            /* of one message; 0: no limit */
    unsigned fields;             /* FIELDS, DIALOG: of one card; with more questions the card is
                                    answered by buttons; 0: no limit */
    uint32_t rates, rates_group; /* bits of tc_plugin.rates for messages and their edits */
    struct tc_reply_map reply;
    bool colon_ids;           /* ids of chats contain colons: in the option approvals.to the text
                                 behind INSTANCE: is the chat, without a thread */
    const char *command;      /* what begins a command here, "/" or "!": names of commands are shown
                                 with it; NULL: none are shown */
    const char *chat_option;  /* option with the chat for turns that began elsewhere, or NULL */
    int64_t poll_ms;          /* longest POLL; 0: 60,000 */
    const char *draft_option; /* option that shows progress by DRAFT where one person reads the
                                 chat; NULL: never */
    /* Option that sends an answer of at most source_bytes as one message of Markdown
     * (tc_op.source). A refusal sends the ordinary messages; after UNSUPPORTED they are sent at
     * once. NULL: never. */
    const char *source_option;
    size_t source_bytes;
    bool personal_menu; /* MENU is not published at the start, but for each person who opens it, see
                           tc_chat_action.menu */
    struct tc_stream stream; /* with STREAM_BEGIN, STREAM_APPEND and STREAM_END */
    /* Fills in method, url, headers and body. Lane, priority, flags, rates and times are set
     * already and may be changed. -1: this operation cannot be expressed. 1, with hosts of 1.6 and
     * later: it is done without a request; for PRIVATE, TYPING and REACT. */
    int (*request)(struct tc_turn *, const struct tc_op *, struct tc_http *);
    /* Corrects `result`, which is filled in from `reply`. May be NULL. */
    int (*read)(struct tc_turn *, const struct tc_op *, const struct tc_reply *,
                struct tc_result *);
    /* Called when IDENTIFY has succeeded, and again after each interruption: start to receive
     * events. Returns 0, or another number if events do not come by POLL. May be NULL. */
    int (*ready)(struct tc_turn *lobby, const struct tc_result *identity);
#if TURNCAST_API_MINOR >= 6
    /* Since 1.6. Each request of a stream carries all of its text: `text` is what the stream shows
     * with this request, and `part` counts the requests of the stream, from 0. Lines that have
     * ended are part of the text; `items` has lines only before the stream has text. A request
     * whose reply is lost is repeated by the next one. An END with an empty text ends a stream
     * that shows none, or whose text is not known any more. */
    bool stream_whole;
    /* Since 1.6. JSON pointer into a reply: the service's words about what `reply.error` names by a
     * code. tc_result.reason is "CODE: WORDS". NULL: the service has none. */
    const char *error_words;
    /* Since 1.6. Characters that names of commands cannot have at this service, such as " -". In
     * tc_op.menu each of them is spelled _, and in messages the host reads the name so, too. NULL:
     * names are spelled as they are. */
    const char *command_lacks;
    struct tc_attachment_map attachments; /* since 1.6 */
    struct tc_mention_map mentions;       /* since 1.6 */
    /* Since 1.6. JSON pointer into a reply: details of what `reply.error` names. Texts of
     * `reply.rules` are searched for in it, too. NULL: the service has none. */
    const char *error_details;
    const struct tc_feed *feed; /* since 1.6; or NULL. It must last as long as the instance */
#endif
};

/* ---- what people do ---- */

enum tc_addressed {
    TC_ADDRESSED_NO,     /* to others: ignored */
    TC_ADDRESSED_THREAD, /* in a thread: the host knows whether the bot takes part in it */
    TC_ADDRESSED_YES,    /* direct chat, mention, reply to the bot, command */
};

#if TURNCAST_API_MINOR >= 6
/* Since 1.6. How a text mentions somebody: the host replaces each `mark` by @name. name NULL: the
 * bot, whose marks are left out. */
struct tc_mention {
    const char *mark, *name;
};
#endif

/* One that has neither text nor files nor a kind is ignored. */
struct tc_chat_message {
    size_t size;
    const char *id, *also;   /* as in tc_inbound */
    struct tc_target target; /* where the answer goes; target.message: this message */
    const char *topic;       /* thread that is a conversation of its own, or NULL */
    const char *user,
        *name;            /* user: NULL with hosts of 1.6 and later: target.user; name: or NULL */
    const char *text;     /* without the mention of the bot, see `mentions` */
    const char *quote;    /* or NULL */
    const char *reply_to; /* id of the message it replies to, or NULL */
    /* Of that message, if the bot wrote it and the service repeats it: its text, and the data of
     * its first button. Each or NULL. */
    const char *reply_text, *reply_data;
    enum tc_addressed addressed;
    /* At most 32. The message is stored; then the host fetches the files that have a reference, for
     * at most a minute. */
    const struct tc_chat_file *files;
    size_t file_count;
    const char *kind;  /* as in tc_inbound: of a message that is not written; or NULL. With a text
                          and  no files it does not count */
    const char *group; /* the same for all parts of an album, or NULL. The parts become one message,
                          which is addressed to the bot if one part is */
    const char
        *chat_was; /* earlier id of target.chat, or NULL; a message without id only says so */
#if TURNCAST_API_MINOR >= 6
    /* Since 1.6. Marks in `text`; at most 64. With them, white space around the text is left out,
     * and so are colons and commas behind a mark of the bot at the beginning. */
    const struct tc_mention *mentions;
    size_t mention_count;
    /* Since 1.6. JSON array of files, instead of `files`; the host reads it by tc_chat.attachments.
     * The agent reads why a file is not available: one that is too large, one behind the tenth, and
     * one for which request() returns -1, because it is not at the service. Or NULL. */
    const char *attachments;
    /* Since 1.6. JSON array of the people whom the text mentions, instead of `mentions`; the host
     * reads it by tc_chat.mentions, and knows the bot by the id of IDENTIFY. Or NULL. */
    const char *mentioned;
#endif
};

struct tc_chat_action {
    size_t size;
    const char *id;            /* of this press, for PRIVATE: the same id and data again are the
                                  same press, and are ignored; or NULL */
    const char *data;          /* of the button; NULL: `reaction` counts */
    enum tc_reaction reaction; /* on target.message */
    struct tc_target target;   /* target.message: the message with the button */
    const char *topic;         /* as in tc_chat_message */
    const char *user, *name;   /* as in tc_chat_message */
    /* JSON object with the answers of a form: maps the id of each field to a text, or to an array
     * of texts; empty fields are missing. For a button of a card with fields; else NULL. */
    const char *answers;
    bool stop; /* no button: the person has stopped the turn in target.chat and target.thread */
    bool menu; /* no button: the person has opened the menu */
#if TURNCAST_API_MINOR >= 6
    /* Since 1.6. Instead of `answers`: a JSON object that has, for the id of each input of
     * tc_chat_inputs, the text or the numbers of the options, as an array or with commas between;
     * other members are ignored. form: tc_op.form of the card, or NULL: the host knows the fields
     * as long as the card is open. */
    const char *filled, *form;
#endif
};

/* For a plugin with a chat table. Passes on a message of a person, and shows the person what became
 * of it. Returns when the message is on disk; TC_NOT_KEPT: do not acknowledge the message, so that
 * the service delivers it again. */
#define tc_chat_receive(lobby, message) ((lobby)->inst->host->chat_receive((lobby), (message)))
/* For a plugin with a chat table. Passes on the press of a button, or a reaction. 0: acknowledge;
 * -1: it was not saved and has to come again. */
#define tc_chat_act(lobby, action) ((lobby)->inst->host->chat_act((lobby), (action)))
#if TURNCAST_API_MINOR >= 6
/* Since 1.6. For TC_INPUT_DIALOG: the form that the pressed button (action.data, in action.target)
 * opens; when it is submitted, pass it on with tc_chat_act, with the same data and its answers.
 * Until the callback ends. NULL: the button opens none, or its card is not open any more: pass the
 * press on with tc_chat_act. */
#define tc_chat_form(lobby, action, count)                                                         \
    ((lobby)->inst->host->chat_form((lobby), (action), (count)))
#endif
#if TURNCAST_API_MINOR >= 6
/* Since 1.6. The inputs for fields; until the callback ends. inputs_max: what a form has room for:
 * then fields with options may have no input for words; options_max: of a field with more, the
 * answer is written; each 0: no limit. */
#define tc_chat_inputs(turn, fields, count, inputs_max, options_max, n)                            \
    ((turn)->inst->host->chat_inputs((turn), (fields), (count), (inputs_max), (options_max), (n)))
#endif
#if TURNCAST_API_MINOR >= 6
/* ---- events that the service sends by itself ---- */

/* Since 1.6. Admits an event, any text, by tc_chat.feed, when all events before it are admitted.
 * position: any text, from which the service can send again what follows this event; it is stored
 * when the event is admitted. Behind events that bring nothing it may be stored half a minute
 * later. Either may be NULL. -1: the event was not stored. */
#define tc_feed_add(lobby, event, position)                                                        \
    ((lobby)->inst->host->feed_add((lobby), (event), (position)))
/* Since 1.6. What an event waited for is known. */
#define tc_feed_go(lobby) ((lobby)->inst->host->feed_go((lobby)))
/* Since 1.6. Returns the position that was stored last, by an earlier process, too; or NULL. Since
 * tc_chat_describe has been called. */
#define tc_feed_position(lobby) ((lobby)->inst->host->feed_position((lobby)))
/* Since 1.6. The service sends events again. gap: those of the time between are missing. The host
 * asks by tc_feed.page for the messages of that time, of the 50 chats and threads that messages to
 * the bot came from last, and asks again after each interruption until all of them are on disk.
 * Ids of messages are compared as numbers. */
#define tc_feed_ready(lobby, gap) ((lobby)->inst->host->feed_ready((lobby), (gap)))
/* Since 1.6. In on_reply: what tc_feed.page has asked for, as a JSON array of events, the oldest
 * first; take gets each as JSON. next: the id behind which another page follows; NULL: none does.
 * If the reply is no success, the host logs that the messages are missing. */
#define tc_feed_page(lobby, key, reply, events, next)                                              \
    ((lobby)->inst->host->feed_page((lobby), (key), (reply), (events), (next)))
#endif
/* For a plugin with the flag TC_CHATS, in init: this instance is a chat connector with this table,
 * which is copied; what it points to lasts as long as the instance. A later call replaces the
 * table. -1 if the table is not valid; logged. */
#define tc_chat_describe(inst, table) ((inst)->host->chat_describe((inst), (table)))

#ifndef __cplusplus
#define TC_CHAT_MESSAGE(...)                                                                       \
    (&(const struct tc_chat_message){.size = sizeof(struct tc_chat_message), __VA_ARGS__})
#define TC_CHAT_ACTION(...)                                                                        \
    (&(const struct tc_chat_action){.size = sizeof(struct tc_chat_action), __VA_ARGS__})
#endif

#endif
