/* SPDX-License-Identifier: MIT
 * A host of one connector instance for tests: no network, no disk, and a clock that stands still
 * until fake_host_advance. The instance runs in the production code (plugin/instance); the fake
 * host provides its surroundings: turns, the queue of requests, people, routes and sockets.
 * Requests are not rate-limited. The test answers requests, and defines the results that people
 * get.
 *
 * A program of the connector, whose descriptors it watches (tc_watch), runs in real time: a step
 * ends when the connector has released all events that it holds.
 *
 * Errors of the connector are collected in `faults`. Single-threaded; replaces the clocks of
 * base/sys/clock.h and the log. */
#ifndef CLI_TESTING_FAKE_FAKE_HOST_H
#define CLI_TESTING_FAKE_FAKE_HOST_H

#include <jansson.h>
#include <stdbool.h>
#include <turncast/plugin.h>

#include "base/arena.h"
#include "base/bytes/buf.h"
#include "base/sys/err.h"
#include "plugin/instance/instance.h"
#include "plugin/runtime_secrets.h"
#include "plugin/stored_texts.h"

#define FAKE_OPTIONS_MAX 24
#define FAKE_INSTANCE "test"   /* its name */
#define FAKE_PATIENCE_MS 5000  /* real time limit for a program */
#define FAKE_BACKOFF_MS 1000   /* chosen by the test instead of the host */
#define FAKE_WALL_S 1790000000 /* wall clock time at 0 of the monotonic clock */

struct fake_turn {
    struct fake_turn *next;
    struct instance_turn *live; /* NULL: belongs to the instance context */
    struct arena own;           /* owns the strings of this struct */
    const char *id, *conversation, *route;
    size_t under_way; /* requests */
    bool done;        /* the turn receives no further event */
    uint64_t seq;
    char *memory; /* stored by tc_remember; or NULL */
};

/* FAKE_OFFERED: performed by the connector, until due_ms. */
enum fake_state { FAKE_WAITS, FAKE_ON_WIRE, FAKE_NAMED, FAKE_OFFERED };

/* A request, from tc_http to its last on_reply. */
struct fake_request {
    struct fake_request *next;
    struct fake_turn *turn;
    struct outbound_request *outbound;
    struct tc_http http;              /* owned by `outbound` */
    const struct tc_header *answered; /* headers of the next reply, in `arena`; or NULL */
    size_t answered_count;
    const char *method; /* end of the URL; borrowed from `outbound` or `arena` */
    struct arena arena;
    char *label; /* or NULL */
    uint64_t place, seq, sent;
    int64_t born_ms, due_ms;
    bool is_unasked; /* was in flight at a restart, and on_reply has not been called */
    unsigned attempts, doubts;
    enum fake_state state;
};

/* A result that a script prepared for a tc_submit, tc_cancel or tc_answer. */
struct fake_promise {
    struct fake_promise *next;
    const char *call; /* "submit", "cancel", "resend", "retry" or "answer" */
    json_t *want;
    char *turn, *answer; /* or NULL */
    enum tc_accepted result;
    int line;
};

enum fake_note { FAKE_LOG, FAKE_DEAD, FAKE_WS_OPEN, FAKE_WS_SEND, FAKE_WS_CLOSE, FAKE_SECRET };

/* An action of the connector other than a request, until the script names it. */
struct fake_act {
    struct fake_act *next;
    enum fake_note note;
    int level;  /* FAKE_LOG */
    char *what; /* line, URL, frame; FAKE_DEAD: method and reason; FAKE_SECRET: name and value */
};

struct fake_auto {
    struct fake_auto *next;
    char *method, *body; /* body NULL: not answered */
    int status;
};

enum fake_socket {
    FAKE_SOCKET_ENDED,
    FAKE_SOCKET_OPENING,
    FAKE_SOCKET_OPEN,
    FAKE_SOCKET_CLOSING, /* the connector has closed it; frames in flight still arrive */
};

struct fake_host {
    struct loaded_plugin *loaded;
    struct instance *instance;
    const struct conf_option *options; /* in the arena of `config` */
    bool started;                      /* init has returned 0 */
    struct arena config;
    struct fake_turn *turns, lobby;
    struct fake_request *requests; /* ordered by `seq` */
    struct fake_batch *batches;    /* requests handed over by the current callbacks */
    struct fake_promise *promises;
    struct fake_act *acts;
    struct fake_auto *autos;
    struct buf faults;
    uint64_t next_seq, next_sent;
    uint64_t task;      /* number of the last delivered event */
    int64_t hold_until; /* instance */
    struct fake_lane {
        struct fake_lane *next;
        char *name;
        int64_t until;
    } * held;
    enum fake_socket *sockets; /* status by number from 1 */
    int64_t socket_count;
    int64_t socket_base; /* socket number 1 of the current instance is behind this index */
    struct fake_kept {
        struct runtime_secrets secrets;
        struct stored_texts stored;
        enum language language; /* values of the options */
    } kept;
    struct fake_routes {
        char *paths[8];
        size_t count;
    } routes;
    struct fake_hits {
        uint64_t last_number;
        bool is_answered;        /* the newest response, not named by a script yet */
        struct tc_answer answer; /* owns the strings of `config` */
    } hits;
    struct fake_files {
        char *folder; /* or NULL */
        unsigned count;
    } files;
    bool is_held;         /* events were not released in time */
    const char *stranger; /* person who may not submit, or NULL; in `config` */
    const char *known;    /* "CHAT:THREAD" of an existing conversation, or NULL; in `config` */
    struct fake_error {
        char *text; /* receives the last logged error, or NULL */
        size_t size;
    } last_error;
    bool lenient; /* accepts tc_submit, tc_cancel and tc_answer without a prepared result */
};

/* Sets an option; `file` and line are for errors. */
struct fake_option {
    const char *key, *value;
    int line;
};

/* Sets the clocks to the start time of each test. */
void fake_host_reset_clock(void);
/* Loads the connector and parses its options (`count` options of `file`); calls no code of it. NULL
 * with err. */
struct fake_host *fake_host_new(const char *module, const struct fake_option *options, size_t count,
                                const char *file, struct tc_err *err);
int fake_host_init(struct fake_host *s);
/* Restarts host and instance: durable requests are kept, and those on the wire are in doubt.
 * Returns as init. */
int fake_host_restart(struct fake_host *s);
void fake_host_free(struct fake_host *s);

struct fake_turn *fake_host_open(struct fake_host *s, const char *id, const char *conversation,
                                 const char *route, const char *memory);
struct fake_turn *fake_host_find(struct fake_host *s, const char *id);
void fake_host_event(struct fake_host *s, struct fake_turn *t, const char *kind,
                     const char *payload);
/* The same for an event made by the caller; fills in turn, number and session. */
void fake_host_send(struct fake_host *s, struct fake_turn *t, struct event *ev);
void fake_host_advance(struct fake_host *s, int64_t ms);
/* Ends an attempt. after_ms: delay from the header, or 0. Returns the decision of on_reply; its
 * reason is valid until the next call. */
struct tc_verdict fake_host_reply(struct fake_host *s, struct fake_request *r,
                                  enum tc_outcome outcome, int status, const char *body,
                                  int64_t after_ms);
/* The strings of the result must be in `config`. */
struct tc_answer fake_host_hit(struct fake_host *s, const char *method, const char *path,
                               json_t *headers, const char *body);
void fake_host_frame(struct fake_host *s, int64_t socket, enum tc_socket_event event,
                     const char *text);
/* Whether the request is an e-mail, whose status is that of a mail server. */
bool fake_request_is_mail(const struct fake_request *r);
/* The oldest request on the wire that no script line has named. */
struct fake_request *fake_host_find_unnamed(struct fake_host *s, const char *method);
/* Waits a moment of real time for the descriptors that the connector watches, and calls it, because
 * a program runs in real time. False: there are none, or *left_ms is used up; *left_ms begins as
 * FAKE_PATIENCE_MS. */
bool fake_host_wait(struct fake_host *s, int64_t *left_ms);
/* Removes and frees an action. */
void fake_host_drop_act(struct fake_act **at);
/* Removes and frees a promise. */
void fake_host_drop_promise(struct fake_host *s);

#endif
