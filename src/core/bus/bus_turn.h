/* SPDX-License-Identifier: MIT
 * A published turn: the batch being collected, the batch in flight, and the state. Loop thread
 * only. */
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
    struct buf body;        /* message to be stored; the chain holds its origin */
    struct bus_origin from; /* length of that message */
    bool is_pending;        /* there is a message */
    int64_t since_ms;       /* waiting since; monotonic */
    int64_t asked_us;       /* time of the last attempt; monotonic */
    bool is_asked;          /* a reply of the servers is pending */
    struct loop_timer *retry;
};

struct bus_turn {
    TAILQ_ENTRY(bus_turn) next;
    struct bus_publisher *publisher;
    char id[65];
    struct turnlog_follower *follower; /* NULL: not started, or everything is stored */
    struct bus_turn_chain events, state;
    /* The batch being collected. */
    struct buf lines;
    uint64_t after, last; /* published seq: of the last event of the previous batch; of its own last
                           * event */
    uint64_t skipped;     /* events after the batch, up to this one, were dropped from the log;
                           * or 0 */
    struct loop_timer *flush;
    int64_t flushed_ms; /* when the previous batch was complete; monotonic */
    uint64_t batches;   /* number of completed batches */
    int64_t at_us;      /* Unix time in microseconds when its first event was in the turn log */
    struct buf then_us; /* text: how many microseconds later each further event was there */
    bool is_urgent;     /* it contains an urgent event */
    bool is_timed;      /* bus_flush was called */
    bool is_late;       /* it has reached the maximum age */
    /* Events by their seq in the turn log. */
    uint64_t taken, sent, stored;
    uint64_t shift; /* published minus logged seq: events that this host stored before its
                     * restart */
    uint64_t gate;  /* the pending state is published when this event is stored */
    bool is_dirty;  /* the state has changed since it was encoded */
    bool is_over;   /* the turn log has no further events */
    bool is_fenced;
};

TAILQ_HEAD(bus_turn_list, bus_turn);

struct bus_publisher {
    struct bus_link *link;
    struct turnlog *log;
    const struct bus_publisher_runs *runs; /* NULL: turns of this host */
    bus_append_requests *requests;
    void *ctx;
    struct bus_turn_list turns; /* oldest first */
    size_t n;
    struct turnlog_watcher *watcher;
};

struct bus_turn *bus_turn_new(struct bus_publisher *p, const char *id);
void bus_turn_free(struct bus_turn *t);
/* The turn has changed in the log. Follows its events once it has started. */
void bus_turn_note_state(struct bus_turn *t, const struct turnlog_turn *now);
/* Publishes as much as possible. */
void bus_turn_go_on(struct bus_turn *t);
/* Interval between batches during fast output. It grows with the number of batches, of which the
 * servers keep a limited number per turn. */
int64_t bus_turn_compute_gap_ms(uint64_t batches);
/* Whether everything is stored, or the turn is fenced. */
bool bus_turn_is_settled(const struct bus_turn *t);

#endif
