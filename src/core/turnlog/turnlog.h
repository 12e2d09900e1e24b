/* SPDX-License-Identifier: MIT
 * In-memory log of waiting, running and recent turns with their events, for readers inside the
 * host (HTTP API, metrics). Bounded by bytes and count; evicts the oldest events of finished
 * turns first. Loop thread only. */
#ifndef CORE_TURNLOG_TURNLOG_H
#define CORE_TURNLOG_TURNLOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/event.h"
#include "io/loop/loop.h"
#include "turn/visibility/visibility.h"

/* When they are reached: a turn forgets its oldest events. Turns that are over and that nobody
 * follows are forgotten, the oldest first, down to half of the bytes; then those that run and have
 * more than their share forget. */
struct turnlog_limits {
    size_t turn_bytes, bytes; /* of events, as shared_event_size counts them */
    size_t turns;             /* that are over */
};

enum turnlog_state {
    TURNLOG_WAITING,
    TURNLOG_RUNNING,
    TURNLOG_FINAL,
    TURNLOG_ERROR,
    TURNLOG_MERGED,    /* into another turn */
    TURNLOG_CANCELLED, /* before it ran, or while it did */
};

/* All but `id` may be NULL. */
struct turnlog_spec {
    const char *id, *agent, *conversation;
    const char *source;             /* where its message came from: an instance, "http"… */
    const char *owner;              /* the API client that it belongs to */
    const char *task;               /* the message */
    const char *instances;          /* that it names (conf_scope_turn); those of a turn that begins
                                       take the place of those of its message */
    int64_t created_ms, started_ms; /* Unix; 0: now */
    const struct visibility *visible; /* the agent's switches */
    const char *retry; /* what a client that sends its request again is recognised by */
    const char *host;  /* on the bus, that runs it; NULL: this one */
};

/* Tokens of a turn as its agent reported them; 0: not known. */
enum turnlog_tokens {
    TURNLOG_INPUT,
    TURNLOG_OUTPUT,
    TURNLOG_CACHE_READ,
    TURNLOG_CACHE_WRITE,
    TURNLOG_REASONING,
};
#define TURNLOG_TOKENS 5

/* A turn as it may be looked at; valid until the loop goes on. */
struct turnlog_turn {
    struct turnlog_spec spec;
    enum turnlog_state state;
    const char *code;                         /* of an error, or NULL */
    const char *into;                         /* merged into that turn, or NULL */
    int64_t created_ms, started_ms, ended_ms; /* Unix; 0: not yet */
    uint64_t last_seq;                        /* of its newest event; 0: none */
    unsigned tools;                           /* calls so far */
    double cost_usd;                          /* negative: not known */
    int64_t tokens[TURNLOG_TOKENS];
    int64_t first_ms;          /* of the first text or thought of the agent, Unix; 0: not yet */
    bool works;                /* it is over, and the agent works on in the background */
    struct visibility visible; /* unset: not known; spec.visible is NULL */
    const char *requests; /* of another host's turn: what it asks people, a JSON array, or NULL */
};

struct turnlog;
struct turnlog_entry;

/* limits: copied; NULL: the default ones. */
struct turnlog *turnlog_new(struct loop *loop, const struct turnlog_limits *limits);
/* Followers have been freed. NULL is fine. */
void turnlog_free(struct turnlog *log);
const char *turnlog_state_name(enum turnlog_state state);
bool turnlog_turn_is_finished(const struct turnlog_turn *t);

/* ---- who makes turns */

void turnlog_add_waiting(struct turnlog *log, const struct turnlog_spec *spec);
/* What is known of it already stays; the rest is copied. The handle ends with turnlog_finish_turn.
 */
struct turnlog_entry *turnlog_start_turn(struct turnlog *log, const struct turnlog_spec *spec);
void turnlog_mark_merged(struct turnlog *log, const char *id, const char *into);
void turnlog_mark_cancelled(struct turnlog *log, const char *id);
/* One event, and how those see it who see what the agent's switches show: hidden from them, or
 * stripped of something (NULL: not). Takes over both references. */
void turnlog_append_event(struct turnlog *log, struct turnlog_entry *e, struct shared_event *shared,
                          bool hidden, struct shared_event *stripped);
/* Sets the key by which a repeated request of a client is recognised. Ignores an unknown id. */
void turnlog_set_retry(struct turnlog *log, const char *id, const char *retry);
/* Whether the agent works on in the background behind that turn. Nothing for an unknown id. */
void turnlog_set_works(struct turnlog *log, const char *id, bool works);
/* No more events: one without an outcome has ended as an error. */
void turnlog_finish_turn(struct turnlog *log, struct turnlog_entry *e);

/* ---- turns of other hosts: what is known of them, and their events while somebody follows them */

struct turnlog_source {
    /* Somebody follows the turn: its events are wanted, from the first one on. */
    void (*wanted)(void *ctx, const struct turnlog_turn *t);
    /* Nobody follows it any more. */
    void (*unwanted)(void *ctx, const char *id);
    void *ctx;
};
/* Sets the source of events of other hosts; NULL: none. Copied. */
void turnlog_set_source(struct turnlog *log, const struct turnlog_source *source);
/* What another host says of its turn (spec.host). Copied, in place of what it said before, unless
 * that had a higher `order`, or the turn is over and this says that it is not. Nothing for a turn
 * of this host. */
void turnlog_put_remote(struct turnlog *log, const struct turnlog_turn *t, uint64_t order);
/* Forgets the `order` of what other hosts have said: the next report of each turn is taken. */
void turnlog_restart_remote_order(struct turnlog *log);
/* The next event of such a turn, as turnlog_append_event. Drops it if the turn is not known. */
void turnlog_append_remote(struct turnlog *log, const char *id, struct shared_event *shared,
                           bool hidden, struct shared_event *stripped);
/* Events up to this one cannot be had; none: all that are kept are dropped, for a new beginning. */
void turnlog_skip_remote(struct turnlog *log, const char *id, uint64_t up_to);
/* All its events are here, as far as they can be had. */
void turnlog_complete_remote(struct turnlog *log, const char *id);
/* Whether all its events are here, or it is a turn of this host. */
bool turnlog_is_complete(const struct turnlog *log, const char *id);

/* ---- who looks */

/* The newest turn with that turnlog_spec.retry, or NULL. */
const struct turnlog_turn *turnlog_find_retry(const struct turnlog *log, const char *retry);
/* NULL: not known (any more). */
const struct turnlog_turn *turnlog_find_turn(const struct turnlog *log, const char *id);
/* The newest first, until `each` returns false. */
void turnlog_each_turn(const struct turnlog *log,
                       bool (*each)(void *ctx, const struct turnlog_turn *t), void *ctx);

/* Events of that kind so far, of all turns of this host. */
uint64_t turnlog_count_events(const struct turnlog *log, enum tc_kind kind);

struct turnlog_watcher;
/* Calls `changed` for every turn that appears, changes its state, asks or is answered, or whose
 * agent begins or ends to work in the background. */
struct turnlog_watcher *turnlog_watch(struct turnlog *log,
                                      void (*changed)(void *ctx, const struct turnlog_turn *t),
                                      void *ctx);
/* Calls `ended` for every turn of this host once, when its state is the last one. */
struct turnlog_watcher *
turnlog_watch_finished(struct turnlog *log, void (*ended)(void *ctx, const struct turnlog_turn *t),
                       void *ctx);
void turnlog_watcher_free(struct turnlog_watcher *w); /* NULL is fine; also from `changed` */

/* ---- who follows one turn: told that there is something, it takes what it can use */

struct turnlog_follower;
enum turnlog_next_result {
    TURNLOG_EVENT,
    TURNLOG_GAP,  /* `from`–`to` are forgotten */
    TURNLOG_WAIT, /* nothing now: `ready` will be called */
    TURNLOG_OVER, /* nothing any more */
};
struct turnlog_item {
    struct shared_event *shared; /* borrowed until the loop goes on */
    uint64_t seq, from, to;
};

/* From the first event behind seq `after` on; `ready` is called from the loop, never from within
 * this call, first when something is there or the turn is over already. A turn that was merged is
 * followed into the one that took it. sees_all: also what the agent's switches hide. ready NULL:
 * only looks at what is kept, and is freed before the loop goes on. NULL: the turn is not known. */
struct turnlog_follower *turnlog_follower_new(struct turnlog *log, const char *id, uint64_t after,
                                              bool sees_all, void (*ready)(void *ctx), void *ctx);
/* The next step. `ready` may be called again although there is nothing new. */
enum turnlog_next_result turnlog_follower_next(struct turnlog_follower *f,
                                               struct turnlog_item *item);
void turnlog_follower_free(struct turnlog_follower *f); /* NULL is fine; also from `ready` */

#endif
