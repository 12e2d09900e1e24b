/* SPDX-License-Identifier: MIT
 * Types of the host's services for connectors: HTTP requests, formatted text, messages of people,
 * decisions, websockets and routes. Included by <turncast/plugin.h>; do not include it directly.
 *
 * All code of an instance runs on one thread, so a plugin needs no lock. No service waits for the
 * network; results are passed to callbacks.
 *
 * A turn ends for a plugin when on_done has returned and each of its requests has had its last
 * on_reply. Requests that belong to no turn (polls, acknowledgements, replies to commands) belong
 * to the lobby of the instance, a turn without events and state that lasts as long as the instance.
 *
 * Memory from tc_alloc and tc_keep lasts until the turn ends (for the lobby: until the instance
 * ends). All other data that a service returns or a callback receives are valid until the callback
 * returns. */
#ifndef TURNCAST_SERVICE_H
#define TURNCAST_SERVICE_H

#ifndef TURNCAST_PLUGIN_H
#error "include <turncast/plugin.h>"
#endif

struct tc_turn;
struct tc_instance;

/* ---- requests ----
 *
 * A request waits in its lane, ordered by priority, until the rate limits permit it. One request
 * per lane is in flight. on_reply is called after each attempt that leaves a decision to the
 * plugin, and at the end.
 *
 * A durable request is on disk before its first attempt and until on_reply has decided that it is
 * complete or failed; it is kept across outages of the service and crashes of the host. Durable
 * requests that on_reply sends replace the request at its position in the lane, in the same
 * transaction: for example, plain text can follow a rejected formatted message, and a crash neither
 * loses nor repeats the step. In the same way, durable requests that on_final and on_error send
 * replace the outcome that the host stored for this instance. */

/* A rate limit. At most 12 per plugin; the table ends with a row whose count is 0. */
struct tc_rate {
    uint32_t count, burst; /* requests per interval, of which at most burst (0: 1) at once */
    int64_t interval_ms;
    int per_lane; /* 1: for each lane separately; 0: for the whole instance */
};

/* Priority of a request, highest first. */
enum tc_priority { TC_P_FINAL, TC_P_REQUEST, TC_P_NOTICE, TC_P_LIVE };

enum {                    /* request flags */
       TC_DURABLE = 1,    /* written to disk before the first attempt */
       TC_IDEMPOTENT = 2, /* sending it twice has the same effect as sending it once: edits,
                             deletions */
       TC_LONG_POLL = 4,  /* a timeout without a response is not an error */
       TC_SAVE = 8,       /* write the body of a successful response to a file: tc_reply.path */
#if TURNCAST_API_MINOR >= 5
       /* Since 1.5. Sent when all texts that were passed to tc_remember before are on disk, so that
        * after a crash the memory shows that the request may have been sent. For requests that are
        * not durable. */
       TC_AFTER_MEMORY = 16,
       /* Since 1.5. Placeholders are also replaced in the body (of parts: in fields), where values
        * are escaped for JSON or for forms. Not for a body with text from an external source. */
       TC_FILL_BODY = 32,
#endif
};

struct tc_header {
    const char *name, *value;
};

#if TURNCAST_API_MINOR >= 5
/* Since 1.5. One part of a multipart/form-data body. The host escapes the names, so that they may
 * come from an external source. */
struct tc_part {
    const char *name;      /* NULL: not sent, but stored with the request for a later step */
    const char *file_name; /* or NULL: the part is a field */
    const char *type;      /* MIME type; or NULL */
    const char *data;
    size_t len; /* 0: up to the NUL */
};
#endif

/* An HTTP request; copied by tc_http. In url and in header values, {option:NAME} is replaced by the
 * value of the option NAME, and {origin:NAME} by the scheme, host and port of that value. The host
 * inserts the value when it sends the request; secrets passed in this way appear in no stored
 * request and in no error. If such a placeholder at the beginning of the URL is followed by a path,
 * exactly one slash separates the value and the path. Only a URL that begins with such a
 * placeholder may use http:, and only to a loopback address. Hosts of 1.5 and later also replace
 * {secret:NAME}, see tc_secret, and {option:LIST.ELEMENT}, the VALUE of an element ELEMENT=VALUE of
 * a list. With hosts of 1.6 and later, {base64:NAME} is the Base64 form of the value, and
 * {base64:A:B} that of both values with a colon between them, as in basic authentication; a header
 * is omitted if it names an option that has no value. */
#if TURNCAST_API_MINOR >= 5
/* Since 1.5. With the URL smtp://HOST[:PORT] or smtps://HOST[:PORT] the request is an e-mail: body
 * is the message (RFC 5322, with any kind of line ends), and only these headers are permitted:
 *   X-SMTP-From      address of the sender; once; "" for none
 *   X-SMTP-To        address of a recipient; 1 to 50 times. If one is refused, nothing is sent
 *   X-SMTP-User, X-SMTP-Password   both or neither; with {option:NAME}
 * smtp: requires STARTTLS, unless the URL begins with a placeholder and names a loopback address.
 * The reply has the status of the server's last reply, and its text as body:
 *   2yz TC_OK; 4yz and 5yz TC_REJECTED, after 4yz the host sends the e-mail again;
 *   no reply to the complete message TC_AMBIGUOUS; an earlier error TC_NOT_SENT.
 * E-mails for one server are sent one after the other. Hosts of 1.6 and later compose the message
 * if the request has parts instead of a body. A part without a type is a header:
 *   Date             Unix time in seconds
 *   From             name of the sender; the address is that of X-SMTP-From
 *   Subject          any text
 *   Message-ID, In-Reply-To, References   any text; the same text gives the same id
 * A part with a type text/... is the body; several such parts are alternative forms of the text,
 * the preferred one last. The host adds the recipients and Auto-Submitted: auto-generated. */
#endif
struct tc_http {
    size_t size;
    const char *method; /* NULL: POST */
    const char *url;
    const struct tc_header *headers;
    size_t header_count;
    const char *content_type; /* NULL: application/json; charset=utf-8 */
    const char *body;         /* NULL: none */
    size_t body_len;          /* 0: up to the NUL */
    const char *lane;         /* queue for order and rate limits; NULL: none, sent at once */
    enum tc_priority priority;
    const char *key; /* TC_P_LIVE: the request replaces a waiting request of the same lane and key;
                        a final of a turn drops all waiting live requests */
    uint32_t rates;  /* bit i: the request counts towards rate limit i of the plugin */
    uint32_t flags;
    int64_t timeout_ms; /* per attempt; 0: 30 s */
    int64_t max_age_ms; /* age after which no attempt starts; 0: one day if durable, one minute if
                           live, otherwise no limit */
    int64_t delay_ms;   /* delay before the first attempt */
    const char *tag;    /* text of the plugin, passed to on_reply; NULL: "" */
#if TURNCAST_API_MINOR >= 5
    /* Since 1.5. Instead of body and content_type: the host sends the parts as multipart/form-data;
     * at most 32. */
    const struct tc_part *parts;
    size_t part_count;
#endif
};

enum tc_outcome {
    TC_OK,        /* succeeded: a complete 2xx response */
    TC_REJECTED,  /* certainly not executed: 3xx, 4xx, or rejected by the host (status 0) */
    TC_NOT_SENT,  /* certainly not executed: no connection */
    TC_AMBIGUOUS, /* may have been executed: response lost, incomplete or a 5xx */
    TC_DROPPED,   /* never sent: replaced by a newer edit or a final, too old, or the host is
                     stopping */
#if TURNCAST_API_MINOR >= 5
    /* Since 1.5. A request with the URL "self:" is due: the plugin performs it and calls
     * tc_complete; then on_reply is called again with the result. */
    TC_YOUR_TURN,
#endif
};

struct tc_reply {
    const char *tag;
    enum tc_outcome outcome;
    int status;       /* 0: no response */
    const char *body; /* NUL-terminated; "" if there is none */
    size_t body_len;
    const char *path;           /* TC_SAVE: path of the file, which the host keeps for one day; or
                                   NULL */
    const char *error;          /* one line without secrets; "" on success */
    uint32_t attempts;          /* number of attempts so far */
    int in_doubt;               /* this or an earlier attempt may have been executed */
    const struct tc_http *http; /* the request */
#if TURNCAST_API_MINOR >= 5
    /* Since 1.5. Headers of the response, names in lower case; at most 64, and 16 KiB in all. */
    const struct tc_header *headers;
    size_t header_count;
    uint64_t number; /* number of the request, for tc_complete; the same for all of its replies */
#endif
};

/* Decision about a request. The host fills in its default; on_reply may change it. */
enum tc_next {
    TC_NEXT_DONE,  /* complete */
    TC_NEXT_AGAIN, /* make another attempt */
    TC_NEXT_FAIL,  /* give up; a durable request becomes a dead letter, unless a durable request
                      of on_reply replaces it */
#if TURNCAST_API_MINOR >= 5
    TC_NEXT_LATER, /* since 1.5, default of TC_YOUR_TURN: tc_complete will be called */
#endif
};
/* Requests that wait during hold_ms: those of the lane; those with the same instance-wide rate
 * limits; all of the instance. */
enum tc_scope { TC_HOLD_LANE, TC_HOLD_RATES, TC_HOLD_INSTANCE };

struct tc_verdict {
    enum tc_next next;   /* default: OK: done; NOT_SENT and status 429: again; AMBIGUOUS: again if
                            idempotent, once more if durable, else fail; REJECTED: fail */
    int64_t hold_ms;     /* AGAIN: delay before another attempt; 0: exponential backoff of the host.
                            DONE, FAIL: delay of the next requests, for plugins built for 1.5 or
                            later; 0: none */
    enum tc_scope scope; /* requests that wait during hold_ms */
    const char *reason;  /* reason of a failure, for the log and the dead letter; or NULL */
};

#if TURNCAST_API_MINOR >= 5
/* Since 1.5. Result of a request with the URL "self:". */
struct tc_completion {
    size_t size;
    enum tc_outcome outcome; /* TC_OK, TC_REJECTED, TC_NOT_SENT or TC_AMBIGUOUS */
    int status;              /* passed on */
    const char *body;        /* passed on; or NULL */
    size_t body_len;         /* 0: up to the NUL; at most 1 MiB */
    const char *error;       /* reason of a failure; or NULL */
    int64_t hold_ms;         /* delay before another attempt, like that of a Retry-After header; 0:
                                none */
};

/* Since 1.5. Reports the result of the attempt of the request with this number (tc_reply.number):
 * on_reply is called with it, as if it were the response of a service, and sets the verdict. Takes
 * effect with the other requests of the callback. An attempt has the outcome TC_AMBIGUOUS if it is
 * not completed within timeout_ms, or if the host or the instance dies during it. The completion of
 * an attempt that has already ended is ignored. -1 if the completion is invalid; logged. */
#define tc_complete(turn, number, completion)                                                      \
    ((turn)->inst->host->complete((turn), (number), (completion)))
#endif

/* ---- text ---- */

enum tc_form {
    TC_PLAIN,    /* text only */
    TC_TELEGRAM, /* text and entities */
    TC_MRKDWN,   /* Slack's own markup */
    TC_MARKDOWN, /* for Slack's markdown block */
#if TURNCAST_API_MINOR >= 5
    /* Since 1.5. */
    TC_COMMONMARK, /* CommonMark as Discord and Teams read it */
    TC_HTML,       /* the elements that Matrix permits; each piece is well-formed */
    TC_TERMINAL,   /* lines of a terminal, `columns` wide; the only control characters are line
                      feeds and those that the flags request */
#endif
};
enum {
    TC_FOLDED = 1,   /* show the text as one collapsed quote, if the form supports it */
    TC_VERBATIM = 2, /* the text is not Markdown */
#if TURNCAST_API_MINOR >= 5
    /* Since 1.5. */
    TC_NO_TABLES = 4,    /* show tables as aligned text in a code block */
    TC_NO_HEADINGS = 8,  /* show headings as bold lines */
    TC_FOLD_QUOTES = 16, /* show quotes collapsed, if the form supports it */
    TC_STYLED = 32,      /* TC_TERMINAL: with SGR sequences; each line ends in the plain style */
    TC_LINKED = 64       /* TC_TERMINAL: links as OSC 8 sequences */
#endif
};

#if TURNCAST_API_MINOR >= 5
/* Since 1.5. Unit of tc_text.units. */
enum tc_unit { TC_UNIT_UTF16, TC_UNIT_CODEPOINTS, TC_UNIT_BYTES };
#endif

struct tc_text {
    size_t size;
    const char *markdown; /* any input is accepted, because a model wrote it */
    size_t len;
    enum tc_form form;
    uint32_t flags;
    size_t units, bytes,
        entities; /* limits of a message: UTF-16 units, UTF-8 bytes, entities; 0: none */
#if TURNCAST_API_MINOR >= 5
    enum tc_unit unit; /* since 1.5; of `units` */
    size_t columns;    /* since 1.5; TC_TERMINAL: width of a line; 0: lines are not wrapped */
#endif
};

struct tc_piece {
    const char *text; /* never empty */
    size_t len;
    const char *entities; /* TC_TELEGRAM: a JSON array; else NULL */
};

/* ---- people ---- */

/* A message of a person. Strings remain owned by the plugin. Ids and names have at most 512 bytes,
 * the text 1 MiB, the quote 64 KiB, the route 4 KiB; at most 32 files. */
struct tc_inbound {
    size_t size;
    const char *id;                /* id of the message at the service; accepted once, also after a
                                      restart */
    const char *also;              /* second id of the same message, or NULL */
    const char *chat;              /* instance, chat and thread identify the conversation */
    const char *thread;            /* or NULL */
    const char *user;              /* stable id of the person, checked against `allow` */
    const char *name;              /* of the person, or NULL */
    const char *text;              /* "" only if there are files */
    const char *quote;             /* text of the message to which this message replies, or NULL */
    const char *route;             /* JSON, passed back as tc_turn.route; or NULL */
    const char *const *files;      /* paths from tc_reply.path */
    const char *const *file_names; /* names given by the person */
    size_t file_count;
#if TURNCAST_API_MINOR >= 5
    /* Since 1.5. Names of instances that receive the turn, in addition to the instances whose scope
     * includes it; at most 100. */
    const char *const *instances;
    size_t instance_count;
    bool direct;      /* only `user` reads the chat, so that a stranger may get a pairing code
                         there */
    const char *kind; /* kind of a message that is not written text: "voice", "sticker",
                         "location"…; then text may be "", because the host replies to a message
                         that it cannot process; or NULL */
#endif
};

enum tc_accepted {
    TC_ACCEPTED, /* on disk; a turn starts */
    TC_QUEUED,   /* on disk; waits for the running turn; `answer` names the number of waiting
                    messages */
    TC_COMMAND,  /* the host has executed a command (stop, status…): show `answer` */
    TC_KNOWN,    /* accepted before, or too late: acknowledge; show `answer` if there is one */
    TC_DENIED,   /* not permitted: acknowledge, show nothing */
    TC_FULL,     /* queue full: acknowledge; show `answer` */
    TC_NOT_KEPT, /* not on disk: do not acknowledge, so that the service delivers it again */
#if TURNCAST_API_MINOR >= 3
    /* Since 1.3; a plugin built for an older version receives TC_QUEUED instead. */
    TC_GIVEN,     /* on disk and given to the agent during the running turn */
    TC_INTERRUPT, /* on disk; the running turn is stopped for it */
#endif
#if TURNCAST_API_MINOR >= 4
    /* Since 1.4; a plugin built for an older version receives TC_DENIED instead. */
    TC_INVALID, /* an argument is missing, too long, not UTF-8, or names an unknown instance; this
                   error of the plugin is logged */
#endif
};

struct tc_receipt {
    const char *turn;   /* id of the turn, or NULL */
    const char *answer; /* text for the person; or NULL, but never NULL from tc_cancel and
                           tc_answer */
};

/* ---- approvals and questions ----
 *
 * A request event that has `choices` can be answered. A connector shows each choice, with the
 * ticket of the request, and passes the choice of a person to tc_answer. A ticket identifies a
 * request and grants nothing: the host checks who may answer and whether the request is still open.
 * The resolved request is then delivered as an event to every connector. */

#if TURNCAST_API_MINOR >= 1
/* Since 1.1. Decision of a person. Strings remain owned by the plugin; at most 512 bytes, text and
 * answers 64 KiB. */
struct tc_decision {
    size_t size;
    const char *ticket;  /* returned by tc_ticket */
    const char *choice;  /* id of one of the choices of the request */
    const char *text;    /* reason of a denial, or answer to a single question; or NULL */
    const char *answers; /* JSON object that maps the id of each question to a text, or (multi) to
                            an array of texts; or NULL */
    const char *user;    /* stable id of the person at the service */
    const char *name;    /* of the person, or NULL */
    const char *chat;    /* chat in which the person decided */
    const char *thread;  /* or NULL */
};
#endif

/* ---- routes and sockets ---- */

/* An HTTP request to a route of this instance. */
struct tc_hit {
    const char *method;
    const char *path;  /* without "/hooks/INSTANCE", not decoded */
    const char *query; /* not decoded; "" if the URL has no query */
    const struct tc_header *headers;
    size_t header_count;
    const char *body; /* raw, NUL-terminated */
    size_t body_len;
#if TURNCAST_API_MINOR >= 5
    uint64_t number; /* since 1.5, for tc_hit_answer */
#endif
#if TURNCAST_API_MINOR >= 6
    /* Since 1.6. Set for a route of tc_route_signed; otherwise NULL. */
    const char *claims; /* claims of the token, as JSON */
    const char *key;    /* key that signed the token, as the service publishes it, as JSON */
#endif
};

#if TURNCAST_API_MINOR >= 6
/* Since 1.6. Service that signs the requests to a route with JSON Web Tokens (RS256). The host
 * fetches the keys that the OpenID configuration of the service names, and keeps them for a day. */
struct tc_issuer {
    size_t size;
    const char *openid;   /* name of the option with the URL of the OpenID configuration */
    const char *issuer;   /* claim iss */
    const char *audience; /* claim aud */
};
#endif

#if TURNCAST_API_MINOR >= 6
/* Since 1.6. Description of a signature that a service makes with a key: the signed text consists
 * of `before`, the time, `between` and the body. */
struct tc_signature {
    size_t size;
    const char *key;              /* name of the option with the key */
    const char *time, *value;     /* names of the headers with the Unix time and the signature */
    const char *before, *between; /* NULL: "" */
    const char *prefix;           /* text before the signature in its header; NULL: "" */
    bool ed25519; /* true: the option is an Ed25519 public key; false: the option is the secret of
                     an HMAC-SHA-256; the signature is in hexadecimal digits */
};
#endif

/* HTTP response to a tc_hit. */
struct tc_answer {
    int status;                      /* 200 to 599; set to 200 before on_hit */
    const char *content_type, *body; /* or NULL */
    size_t body_len;                 /* 0: up to the NUL; at most 1 MiB */
#if TURNCAST_API_MINOR >= 5
    bool later; /* since 1.5: tc_hit_answer sends the response later; without this call, 504 after
                   25 s */
#endif
};

struct tc_socket {
    size_t size;
    const char *url;   /* wss:; ws: to a loopback address only. {option:…} as in tc_http */
    int64_t ping_ms;   /* interval of pings; 0: 10 s */
    int64_t silent_ms; /* the host closes the websocket after this time without any frame, pongs
                          included; 0: 30 s */
#if TURNCAST_API_MINOR >= 5
    /* Since 1.5. Headers of the request that opens the websocket, with placeholders as in tc_http;
     * at most 32. */
    const struct tc_header *headers;
    size_t header_count;
    bool binary; /* binary frames are passed on (TC_SOCKET_BINARY); otherwise a binary frame closes
                    the websocket */
#endif
#if TURNCAST_API_MINOR >= 6
    int close_status; /* since 1.6; status code of the close frame that the host sends, also when
                         the instance ends: 1000 or 3000 to 4999. 0: 1000 */
#endif
};

enum tc_socket_event {
    TC_SOCKET_OPEN,
    TC_SOCKET_TEXT,
    TC_SOCKET_CLOSED,
#if TURNCAST_API_MINOR >= 5
    TC_SOCKET_BINARY, /* since 1.5 */
#endif
};

struct tc_frame {
    int64_t socket; /* returned by tc_socket_open */
    enum tc_socket_event event;
    const char *text; /* TEXT, BINARY: the frame; CLOSED: reason, one line; NUL-terminated */
    size_t len;
};

#if TURNCAST_API_MINOR >= 6
/* ---- a websocket that is kept open ---- */

/* Since 1.6. A status with which the service closes a websocket permanently. */
struct tc_link_fault {
    int status;
    const char *remedy; /* for the log: the reason, and the action that an operator must take */
};

/* Since 1.6. A websocket to a service that the host keeps open: whenever the connection ends, the
 * host opens another one. The connector supplies the address, and reports the meaning of frames
 * with the macros below; on_frame is called for text frames only. All members must stay valid as
 * long as the instance. */
struct tc_link {
    size_t size;
    const char *service; /* name of the service, for the log: "Discord" */
    /* Calls tc_link_open; or sends, with tc_http for the lobby, a request for the address, and
     * calls tc_link_open in on_reply. If neither happens, or after -1, it is called again after the
     * back-off. status: status with which the service closed the last connection, or 0; unopened:
     * number of consecutive connections without a greeting. */
    int (*connect)(struct tc_turn *lobby, int status, unsigned unopened);
    const char *tag;                                 /* tag of that request; NULL: no request is
                                                        sent */
    const char *(*heartbeat)(struct tc_turn *lobby); /* returns the frame of a heartbeat; NULL: no
                                                        heartbeats */
    const struct tc_link_fault *faults; /* ends with a row whose status is 0; or NULL */
    int64_t hello_ms;   /* a connection without a greeting within this time is closed; 0: 20 s.
                           Negative: the service sends no greeting; the connection is ready when it
                           is open */
    int64_t backoff_ms; /* maximum delay before the second attempt; doubled with each attempt; 0: 1
                           s */
    int64_t backoff_max_ms; /* 0: 64 s */
};

/* Since 1.6. Reports of a connector about its link; see the macros below. */
enum tc_link_step {
    TC_LINK_HELLO,
    TC_LINK_READY,
    TC_LINK_ALIVE,
    TC_LINK_RENEW,
    TC_LINK_REPLACE,
    TC_LINK_STOP,
};

/* Since 1.6. Makes the host keep this link open; one per instance. A second call has no effect. -1
 * if the table is invalid; logged. */
#define tc_link_keep(inst, table) ((inst)->host->link_keep((inst), (table)))
/* Since 1.6. Opens the websocket: in connect, or in on_reply for the request that connect sent. -1:
 * not possible now; the host tries again later. */
#define tc_link_open(lobby, socket) ((lobby)->inst->host->link_open((lobby), (socket)))
/* Since 1.6. Sends a text frame; in on_frame, to the connection from which the frame came. */
#define tc_link_send(lobby, text) ((lobby)->inst->host->link_send((lobby), (text)))
/* Since 1.6. Reports that the frame is the greeting of the service; heartbeats begin, one every
 * beat_ms (0: none). -1: no greeting was expected; ignore the frame. */
#define tc_link_hello(lobby, beat_ms)                                                              \
    ((lobby)->inst->host->link_step((lobby), TC_LINK_HELLO, (beat_ms), NULL))
/* Since 1.6. Reports that the connection is in use. how: for the log; or NULL. A connection that is
 * replaced by this one is closed. */
#define tc_link_ready(lobby, how) ((lobby)->inst->host->link_step((lobby), TC_LINK_READY, 0, (how)))
/* Since 1.6. Reports that the frame answers a heartbeat. A connection is closed if its last
 * heartbeat was not answered, or if it is not ready after three heartbeats. */
#define tc_link_alive(lobby) ((lobby)->inst->host->link_step((lobby), TC_LINK_ALIVE, 0, NULL))
/* Since 1.6. Closes the connection, drops frames that still arrive on it, and opens another one
 * after delay_ms. 0: at once, unless the previous connections did not last either; negative: after
 * the back-off. In on_reply for the request of connect: sends that request again then. */
#define tc_link_renew(lobby, delay_ms)                                                             \
    ((lobby)->inst->host->link_step((lobby), TC_LINK_RENEW, (delay_ms), NULL))
/* Since 1.6. Like tc_link_renew, but the connection is used until the other one is ready. */
#define tc_link_replace(lobby, delay_ms)                                                           \
    ((lobby)->inst->host->link_step((lobby), TC_LINK_REPLACE, (delay_ms), NULL))
/* Since 1.6. Closes the connection permanently and logs the reason. */
#define tc_link_stop(lobby, why) ((lobby)->inst->host->link_step((lobby), TC_LINK_STOP, 0, (why)))
#endif

#if TURNCAST_API_MINOR >= 5
/* ---- secrets that are set while the instance runs ---- */

/* Since 1.5. Sets the value that replaces {secret:NAME} in requests and websockets. The host keeps
 * the value in memory until the instance ends, masks it in logs, and inserts it when it sends a
 * request. A request with a secret that is not set waits, but does not delay other requests of its
 * lane. name: letters, digits and _ . : - ; value: 8 bytes to 8 KiB without control characters,
 * NULL: remove it. At most 256. -1 if it is invalid; logged. */
#define tc_secret(inst, name, value) ((inst)->host->secret((inst), (name), (value)))
#endif
#if TURNCAST_API_MINOR >= 6
/* Since 1.6. Like tc_secret, for a secret that belongs to one event, such as the token of a button
 * press: the host removes it when 100 newer secrets of this kind have been set. */
#define tc_secret_of(inst, name, value) ((inst)->host->secret_of((inst), (name), (value)))
#endif

/* ---- connectors that run a program and wait for it ---- */

#if TURNCAST_API_MINOR >= 4
/* Since 1.4. Called in the callback of an event: the processing of the event ends not when the
 * callback returns, but when tc_release is called. Until then the turn continues to exist, and its
 * outcome stays on disk; if the instance crashes, this event and all later ones are delivered
 * again. Returns a number above 0, or -1 if the instance does not run in its own process
 * (isolation); logged. */
#define tc_hold(turn) ((turn)->inst->host->hold(turn))
/* Since 1.4. Ends the processing of the held event with that number. failure: NULL, or the reason
 * why the event could not be delivered: an outcome of a plugin with TC_DELIVERS then becomes a dead
 * letter with this reason. With hosts of 1.5 and later, durable requests that the same callback has
 * sent for the turn before this call replace an outcome, in one transaction. -1 if the number is
 * unknown; logged. */
#define tc_release(turn, number, failure) ((turn)->inst->host->release((turn), (number), (failure)))
/* Since 1.4. Starts watching a descriptor, at most 8 at once: on_ready is called whenever it is
 * readable or its other end is closed. -1 if the instance does not run in its own process
 * (isolation); logged. Call tc_unwatch before you close the descriptor. */
#define tc_watch(inst, fd) ((inst)->host->watch((inst), (fd)))
#define tc_unwatch(inst, fd) ((inst)->host->unwatch((inst), (fd)))
/* Since 1.4. While `on` is true, no event, reply, route request or websocket message is delivered;
 * the queue of the instance fills, as with a callback that blocks, but no time limit applies.
 * on_ready and on_wake are still called. For a plugin that waits until it can release held
 * events. */
#define tc_pause(inst, on) ((inst)->host->pause((inst), (on)))
#endif

#endif
