/* SPDX-License-Identifier: MIT
 * One turn that is published: the batch that gathers, the one on its way, and the state. Loop
 * thread only. */
#ifndef CORE_BUS_BUS_TURN_H
#define CORE_BUS_BUS_TURN_H

#include <sys/queue.h>

#include "core/bus/bus_chain.h"
#include "core/bus/bus_publisher.h"

/* One of the two chains of a turn. */
struct bus_turn_chain {
    struct bus_turn *turn;
    enum bus_stream stream;
    struct bus_chain chain;
    struct buf body;        /* of the message that is to be stored; its origin is the chain's */
    struct bus_origin from; /* of that message */
    bool is_pending;        /* there is one */
    int64_t since_ms;       /* for so long; monotonic */
    int64_t asked_us;       /* when it was sent last; monotonic */
    bool is_asked;          /* an answer of the servers is awaited */
    struct loop_timer *retry;
};

struct bus_turn {
    TAILQ_ENTRY(bus_turn) next;
    struct bus_publisher *publisher;
    char id[65];
    struct turnlog_follower *follower; /* NULL: none has begun, or all is stored */
    struct bus_turn_chain events, state;
    /* The batch that gathers. */
    struct buf lines;
    uint64_t after, last; /* seq as published: of the batch before, of its own last event */
    uint64_t skipped;     /* behind it, events up to this one are not in the log any more; or 0 */
    struct loop_timer *flush;
    int64_t flushed_ms; /* when the batch before was complete; monotonic */
    uint64_t batches;   /* that were complete */
    bool is_urgent;     /* it has an event that is not kept waiting */
    bool is_timed;      /* flush is set */
    bool is_late;       /* it has waited for as long as a batch may */
    /* Events by the seq that they have in the turn log. */
    uint64_t taken, sent, stored;
    uint64_t shift; /* published minus logged: what an earlier life of this host has stored */
    uint64_t gate;  /* the pending state is published when this event is stored */
    bool is_dirty;  /* the state has changed since it was written */
    bool is_over;   /* no more events come */
    bool is_fenced;
};

TAILQ_HEAD(bus_turn_list, bus_turn);

struct bus_publisher {
    struct bus_link *link;
    struct turnlog *log;
    const struct bus_publisher_runs *runs; /* NULL: the turns are the host's own */
    bus_append_requests *requests;
    void *ctx;
    struct bus_turn_list turns; /* the oldest first */
    size_t n;
    struct turnlog_watcher *watcher;
};

struct bus_turn *bus_turn_new(struct bus_publisher *p, const char *id);
void bus_turn_free(struct bus_turn *t);
/* The turn has changed in the log. From its start on, its events are followed. */
void bus_turn_note_state(struct bus_turn *t, const struct turnlog_turn *now);
/* Publishes what can be. */
void bus_turn_go_on(struct bus_turn *t);
/* The time from one batch to the next when events come fast. It grows with the batches of the turn,
 * of which the servers keep a limited number. */
int64_t bus_turn_compute_gap_ms(uint64_t batches);
/* All there is to publish of it is stored, or it is fenced. */
bool bus_turn_is_settled(const struct bus_turn *t);

#endif
