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

/* Limits. When they are reached, a turn drops its oldest events. Ended turns without followers are
 * dropped, the oldest first, down to half of the bytes; then running turns above their share drop
 * events. */
struct turnlog_limits {
    size_t turn_bytes, bytes; /* bytes of events, by shared_event_size */
    size_t turns;             /* number of ended turns */
};

enum turnlog_state {
    TURNLOG_WAITING,
    TURNLOG_RUNNING,
    TURNLOG_FINAL,
    TURNLOG_ERROR,
    TURNLOG_MERGED,    /* merged into another turn */
    TURNLOG_CANCELLED, /* before or during the run */
};

/* All except `id` may be NULL. */
struct turnlog_spec {
    const char *id, *agent, *conversation;
    const char *source;               /* source of its message: an instance, "http"… */
    const char *owner;                /* the API client that owns it */
    const char *task;                 /* text of the message */
    const char *instances;            /* named instances (conf_scope_turn); those of a starting turn
                                       * replace those of its message */
    const char *led;                  /* instances that receive it, of those that only one of
                                       * several hosts runs: names, separated by newlines */
    int64_t created_ms, started_ms;   /* Unix time; 0: now */
    const struct visibility *visible; /* the agent's visibility */
    const char *retry; /* fingerprint of a client's request, to recognise repetitions */
    const char *host;  /* on a bus: the host that runs it; NULL: this one */
};

/* Tokens of a turn as reported by its agent; 0: unknown. */
enum turnlog_tokens {
    TURNLOG_INPUT,
    TURNLOG_OUTPUT,
    TURNLOG_CACHE_READ,
    TURNLOG_CACHE_WRITE,
    TURNLOG_REASONING,
};
#define TURNLOG_TOKENS 5

/* Read-only view of a turn; valid until control returns to the loop. */
struct turnlog_turn {
    struct turnlog_spec spec;
    enum turnlog_state state;
    const char *code;        /* code of an error, or NULL */
    const char *into;        /* turn into which it was merged, or NULL */
    const char *late_result; /* result of a runner after its turn had ended as host_lost; or NULL */
    int64_t created_ms, started_ms, ended_ms; /* Unix time; 0: not yet */
    uint64_t last_seq;                        /* seq of its newest event; 0: none */
    unsigned tools;                           /* tool calls so far */
    double cost_usd;                          /* negative: unknown */
    int64_t tokens[TURNLOG_TOKENS];
    int64_t first_ms;          /* Unix time of the agent's first text or thought; 0: not yet */
    bool works;                /* ended, but the agent works in the background */
    struct visibility visible; /* unset: unknown; spec.visible is NULL */
    const char *requests; /* of another host's turn: its open requests, a JSON array, or NULL */
};

struct turnlog;
struct turnlog_entry;

/* limits: copied; NULL: defaults. */
struct turnlog *turnlog_new(struct loop *loop, const struct turnlog_limits *limits);
/* Followers must have been freed. NULL is allowed. */
void turnlog_free(struct turnlog *log);
const char *turnlog_state_name(enum turnlog_state state);
/* The state of that name. False: there is none. */
bool turnlog_find_state(struct str name, enum turnlog_state *state);
bool turnlog_turn_is_finished(const struct turnlog_turn *t);

/* ---- for producers */

void turnlog_add_waiting(struct turnlog *log, const struct turnlog_spec *spec);
/* Keeps the known values of an existing turn; copies the rest. The handle is valid until
 * turnlog_finish_turn. */
struct turnlog_entry *turnlog_start_turn(struct turnlog *log, const struct turnlog_spec *spec);
void turnlog_mark_merged(struct turnlog *log, const char *id, const char *into);
void turnlog_mark_cancelled(struct turnlog *log, const char *id);
/* Adds an event, and its visible form: hidden, or stripped (NULL: unchanged). Takes over both
 * references. */
void turnlog_append_event(struct turnlog *log, struct turnlog_entry *e, struct shared_event *shared,
                          bool hidden, struct shared_event *stripped);
/* Sets the key by which a repeated request of a client is recognised. Ignores an unknown id. */
void turnlog_set_retry(struct turnlog *log, const char *id, const char *retry);
/* Sets whether the agent works in the background after that turn. No effect for an unknown id. */
void turnlog_set_works(struct turnlog *log, const char *id, bool works);
/* Sets the result of a runner after its turn had ended as host_lost. No effect for an unknown id.
 */
void turnlog_set_late_result(struct turnlog *log, const char *id, const char *text);
/* No more events: a turn without an outcome has ended with an error. */
void turnlog_finish_turn(struct turnlog *log, struct turnlog_entry *e);

/* ---- turns of other hosts: their state, and their events while they have followers here */

struct turnlog_source {
    /* The turn has a follower: its events are needed, from the first one on. */
    void (*wanted)(void *ctx, const struct turnlog_turn *t);
    /* The turn has lost its last follower. */
    void (*unwanted)(void *ctx, const char *id);
    void *ctx;
};
/* Sets the source of events of other hosts; NULL: none. Copied. */
void turnlog_set_source(struct turnlog *log, const struct turnlog_source *source);
/* Sets the state of another host's turn (spec.host). Copied; replaces the earlier state, unless
 * that had a higher `order`, or the turn has ended and this state says it has not. No effect for a
 * turn of this host. */
void turnlog_put_remote(struct turnlog *log, const struct turnlog_turn *t, uint64_t order);
/* Resets the `order` of all reported states: the next report of each turn is accepted. */
void turnlog_restart_remote_order(struct turnlog *log);
/* Adds the next event of such a turn, as turnlog_append_event. Drops it if the turn is unknown. */
void turnlog_append_remote(struct turnlog *log, const char *id, struct shared_event *shared,
                           bool hidden, struct shared_event *stripped);
/* Events up to this one are lost; 0: drops all stored events, for a new beginning. */
void turnlog_skip_remote(struct turnlog *log, const char *id, uint64_t up_to);
/* All its events are here, as far as they are available. */
void turnlog_complete_remote(struct turnlog *log, const char *id);
/* Whether all its events are here, or it is a turn of this host. */
bool turnlog_is_complete(const struct turnlog *log, const char *id);

/* ---- for readers */

/* The newest turn with that turnlog_spec.retry, or NULL. */
const struct turnlog_turn *turnlog_find_retry(const struct turnlog *log, const char *retry);
/* NULL: unknown, or dropped. */
const struct turnlog_turn *turnlog_find_turn(const struct turnlog *log, const char *id);
/* Calls `each` for the newest first, until it returns false. */
void turnlog_each_turn(const struct turnlog *log,
                       bool (*each)(void *ctx, const struct turnlog_turn *t), void *ctx);

/* Number of events of that kind so far, of all turns of this host. */
uint64_t turnlog_count_events(const struct turnlog *log, enum tc_kind kind);

struct turnlog_watcher;
/* Calls `changed` for every turn that appears, changes its state, opens or resolves a request, or
 * whose agent starts or ends background work. */
struct turnlog_watcher *turnlog_watch(struct turnlog *log,
                                      void (*changed)(void *ctx, const struct turnlog_turn *t),
                                      void *ctx);
/* Calls `ended` once for every turn of this host, when it has reached its final state. */
struct turnlog_watcher *
turnlog_watch_finished(struct turnlog *log, void (*ended)(void *ctx, const struct turnlog_turn *t),
                       void *ctx);
void turnlog_watcher_free(struct turnlog_watcher *w); /* NULL is allowed; may be called from
                                                       * `changed` */

/* ---- for followers of one turn: a follower is notified, and takes as much as it can process */

struct turnlog_follower;
enum turnlog_next_result {
    TURNLOG_EVENT,
    TURNLOG_GAP,  /* events `from`–`to` were dropped */
    TURNLOG_WAIT, /* no event now: `ready` will be called */
    TURNLOG_OVER, /* no further events */
};
struct turnlog_item {
    struct shared_event *shared; /* borrowed until control returns to the loop */
    uint64_t seq, from, to;
    int64_t age_us; /* how long the event has been in the log, modulo 5 days */
};

/* Follows from the first event after seq `after`; `ready` is called from the loop, never from
 * within this call, first when an event is available or the turn has already ended. A merged turn
 * is followed into the turn that absorbed it. sees_all: includes events that visibility hides.
 * ready NULL: only reads stored events; free it before control returns to the loop. NULL: unknown
 * turn. */
struct turnlog_follower *turnlog_follower_new(struct turnlog *log, const char *id, uint64_t after,
                                              bool sees_all, void (*ready)(void *ctx), void *ctx);
/* The next step. `ready` may be called although there is no new event. */
enum turnlog_next_result turnlog_follower_next(struct turnlog_follower *f,
                                               struct turnlog_item *item);
void turnlog_follower_free(struct turnlog_follower *f); /* NULL is allowed; may be called from
                                                         * `ready` */

#endif
