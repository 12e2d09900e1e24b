/* SPDX-License-Identifier: MIT
 * What the host does for a connector beyond casting: requests to its service, formatted text,
 * messages of people, sockets and routes. Included by <turncast/plugin.h>; do not include it alone.
 *
 * All of a plugin's code runs on its instance's one thread, so a plugin needs no lock. No service
 * below waits for the network: an answer comes as a callback.
 *
 * A turn ends for a plugin when on_done has returned and each of its requests has had its last
 * on_reply. What belongs to no turn (polls, acknowledgements, answers to commands) belongs to the
 * instance's lobby, a turn without events and state that lasts as long as the instance.
 *
 * Memory: tc_alloc and tc_keep give memory of the turn, until it ends (of the lobby: until the
 * instance ends). All else that a service returns or a callback gets is valid until the callback
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
 * A request waits in its lane, at the pace of the plugin's rates, finals first; one per lane is
 * in flight. What is known of it comes to on_reply: once per attempt that the plugin may have
 * something to say to, and at the end.
 *
 * A durable request is on disk before its first attempt and until on_reply said how it ended:
 * across outages, and across the death of the host. What on_reply itself sends durable takes its
 * place in the lane, in the same transaction: so a plain text can follow a refused formatted
 * one, and no crash loses or doubles the step. What on_final and on_error send durable takes, in
 * the same way, the place of the outcome the host noted for this instance. */

/* At most 12 per plugin; ends with a row whose count is 0. */
struct tc_rate {
    uint32_t count, burst; /* so many per interval, at most burst (0: 1) at once */
    int64_t interval_ms;
    int per_lane; /* 1: for each lane by itself; 0: for the whole instance */
};

enum tc_priority { TC_P_FINAL, TC_P_REQUEST, TC_P_NOTICE, TC_P_LIVE };

enum { /* flags of a request */
       TC_DURABLE = 1,
       TC_IDEMPOTENT = 2, /* doing it twice does no harm: edits, deletions */
       TC_LONG_POLL = 4,  /* silence is no fault */
       TC_SAVE = 8,       /* the body of a good answer goes to a file: tc_reply.path */
};

struct tc_header {
    const char *name, *value;
};

/* Copied by tc_http. In url and in header values {option:NAME} stands for the value of the
 * instance's option NAME, {origin:NAME} for its scheme, host and port. It is put in as the request
 * goes out: that is how secrets travel, and they are in no record and in no error. Only a URL that
 * begins so may be http:, and of a loopback address only. */
struct tc_http {
    size_t size;
    const char *method; /* NULL: POST */
    const char *url;
    const struct tc_header *headers;
    size_t header_count;
    const char *content_type; /* NULL: application/json; charset=utf-8 */
    const char *body;         /* NULL: none */
    size_t body_len;          /* 0: up to the NUL */
    const char *lane;         /* whose order and pace it keeps; NULL: none, it goes at once */
    enum tc_priority priority;
    const char *key; /* TC_P_LIVE: a waiting request of the same lane and key is replaced; a final
                        drops all that wait */
    uint32_t rates;  /* bit i: counts on rate i of the plugin */
    uint32_t flags;
    int64_t timeout_ms; /* of one attempt; 0: 30 s */
    int64_t max_age_ms; /* no attempt starts later; 0: a day when durable, a minute when live, else
                           for ever */
    int64_t delay_ms;   /* the first attempt not before */
    const char *tag;    /* the plugin's own words on it, for on_reply; NULL: "" */
};

enum tc_outcome {
    TC_OK,        /* done: a 2xx came, whole */
    TC_REJECTED,  /* surely not done: 3xx, 4xx, or refused by the host (status 0) */
    TC_NOT_SENT,  /* surely not done: no connection */
    TC_AMBIGUOUS, /* may have been done: the answer is lost, broken or a 5xx */
    TC_DROPPED,   /* never done: replaced by a newer edit or a final, too old, or the host stops */
};

struct tc_reply {
    const char *tag;
    enum tc_outcome outcome;
    int status;       /* 0: no answer */
    const char *body; /* NUL-terminated; "" when there is none */
    size_t body_len;
    const char *path;           /* TC_SAVE, or NULL: the file; the host's, it is kept a day */
    const char *error;          /* one line without secrets; "" when the outcome is ok */
    uint32_t attempts;          /* so far */
    int in_doubt;               /* an earlier attempt, or this one, may have been done */
    const struct tc_http *http; /* what was asked */
};

/* What comes next. Filled as the host would decide; on_reply changes what it knows better. */
enum tc_next {
    TC_NEXT_DONE,  /* all is well */
    TC_NEXT_AGAIN, /* another attempt */
    TC_NEXT_FAIL,  /* given up; a durable one becomes a dead letter, unless what on_reply sends
                      durable takes its place */
};
/* Who has to wait: the lane; all requests on the same instance-wide rates; the instance. */
enum tc_scope { TC_HOLD_LANE, TC_HOLD_RATES, TC_HOLD_INSTANCE };

struct tc_verdict {
    enum tc_next next; /* ok: done; not sent: again; ambiguous: again when idempotent, once more
                          when durable, else fail; rejected: fail, but 429: again */
    int64_t hold_ms;   /* with again: exactly so long, and `scope` with it; 0: the host backs off */
    enum tc_scope scope; /* of hold_ms */
    const char *reason;  /* with fail, or NULL: for log and dead letter */
};

/* ---- text ---- */

enum tc_form {
    TC_PLAIN,    /* text only */
    TC_TELEGRAM, /* text and entities */
    TC_MRKDWN,   /* Slack's own markup */
    TC_MARKDOWN, /* for Slack's markdown block */
};
enum {
    TC_FOLDED = 1,   /* the whole text as one folded quote, where the form has it */
    TC_VERBATIM = 2, /* it is no Markdown */
};

struct tc_text {
    size_t size;
    const char *markdown; /* from a model: anything */
    size_t len;
    enum tc_form form;
    uint32_t flags;
    size_t units, bytes,
        entities; /* what one message holds: UTF-16, UTF-8, entities; 0: no limit */
};

struct tc_piece {
    const char *text; /* never empty */
    size_t len;
    const char *entities; /* TC_TELEGRAM: a JSON array; else NULL */
};

/* ---- people ---- */

/* A message to the agent. All strings borrowed. */
struct tc_inbound {
    size_t size;
    const char *id;           /* the service's own: what comes twice is taken once */
    const char *also;         /* another identity of the same message, or NULL */
    const char *chat;         /* conversation = instance, chat and thread */
    const char *thread;       /* or NULL */
    const char *user;         /* the service's stable id of the person: checked against `allow` */
    const char *name;         /* of the person, or NULL */
    const char *text;         /* "" only with files */
    const char *quote;        /* what it answers to, or NULL */
    const char *route;        /* JSON, comes back as tc_turn.route of the turn; or NULL */
    const char *const *files; /* paths from tc_reply.path */
    const char *const *file_names; /* as the person called them */
    size_t file_count;
};

enum tc_accepted {
    TC_ACCEPTED, /* on disk: a turn begins */
    TC_QUEUED,   /* on disk: it waits for the running turn; `answer` says how many do */
    TC_COMMAND,  /* the host has done what was asked (stop, status…): show `answer` */
    TC_KNOWN,    /* had it already: acknowledge, and show `answer` if there is one */
    TC_DENIED,   /* not allowed: acknowledge, say nothing */
    TC_FULL,     /* acknowledge; show `answer` */
    TC_NOT_KEPT, /* not on disk: do not acknowledge, it has to come again */
#if TURNCAST_API_MINOR >= 3
    /* Since 1.3; what is built for less gets TC_QUEUED instead. */
    TC_GIVEN,     /* on disk: it was given to the agent, which works at the running turn */
    TC_INTERRUPT, /* on disk: the running turn is stopped for it */
#endif
};

struct tc_receipt {
    const char *turn;   /* id of the turn, or NULL */
    const char *answer; /* to show to the person, or NULL */
};

/* ---- requests of the agent ----
 *
 * A request event that has `choices` can be answered. A connector shows them, each with the ticket
 * of the request, and hands over what a person chose. Who may, and whether it is still open, is the
 * host's to know: a ticket is a name, not a leave. The event that tells the decision follows, to
 * every connector. */

#if TURNCAST_API_MINOR >= 1
/* Since 1.1. What a person decided. All strings borrowed. */
struct tc_decision {
    size_t size;
    const char *ticket;  /* as tc_ticket gave it */
    const char *choice;  /* the id of one of the request's choices */
    const char *text;    /* why not; or the answer to a single question; or NULL */
    const char *answers; /* JSON object: the id of each question to a text, or (multi) to an array
                            of texts; or NULL */
    const char *user;    /* the service's stable id of the person */
    const char *name;    /* of the person, or NULL */
    const char *chat;    /* where it was decided */
    const char *thread;  /* or NULL */
};
#endif

/* ---- routes and sockets ---- */

/* A request to a route of this instance. */
struct tc_hit {
    const char *method, *path;
    const char *query; /* "" when there is none */
    const struct tc_header *headers;
    size_t header_count;
    const char *body; /* raw, NUL-terminated */
    size_t body_len;
};

struct tc_answer {
    int status;                      /* 200 */
    const char *content_type, *body; /* or NULL */
    size_t body_len;                 /* 0: up to the NUL */
};

struct tc_socket {
    size_t size;
    const char *url;   /* wss:; ws: to a loopback address only. {option:…} as in tc_http */
    int64_t ping_ms;   /* 0: 10 s */
    int64_t silent_ms; /* nothing received for so long, pongs included: it is closed; 0: 30 s */
};

enum tc_socket_event { TC_SOCKET_OPEN, TC_SOCKET_TEXT, TC_SOCKET_CLOSED };

struct tc_frame {
    int64_t socket; /* as tc_socket_open returned it */
    enum tc_socket_event event;
    const char *text; /* of TEXT; of CLOSED why, one line; NUL-terminated */
    size_t len;
};

#endif
