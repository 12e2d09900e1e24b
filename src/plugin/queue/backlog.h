/* SPDX-License-Identifier: MIT
 * Bounded event queue of one instance: events of many turns in order, coalesced without loss,
 * delayed to the pace of the plugin, and truncated and dropped by kind above its limits. Pure: no
 * thread, no clock, so that every rule can be tested; event_queue.h puts the lock around it.
 *
 * An instance that keeps up gets every event as it came. Only two things change that:
 *
 * - its pace: narration and thinking that arrive before the pace permits are held and joined;
 * - its limits: above them, waiting events are coalesced, truncated or dropped, mildest measure
 *   first (overflow_policy.c). Events that were handed out never change.
 *
 * A joined event has the members of its newest part, seq included, and the text of all parts.
 * Dropped events leave a gap in seq; in their place the instance gets one notice{warn, dropped}
 * with the counts in x. */
#ifndef PLUGIN_QUEUE_BACKLOG_H
#define PLUGIN_QUEUE_BACKLOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes/buf.h"
#include "event/event.h"

struct backlog_limits {
    size_t events, bytes; /* soft limits: above them, only reserved kinds are added; hard limits: 4
                           * times as much */
    uint32_t pace_ms;     /* hold narration and thinking for joining; 0: disabled */
};

struct backlog_stats {
    uint64_t joined, replaced, shrunk, dropped;
    size_t events, bytes; /* waiting now */
};

/* An event passed to the consumer. */
struct backlog_item {
    void *turn; /* the tag given to backlog_open_turn */
    struct shared_event *shared;
};

/* A waiting event, or several joined events. */
struct pending_event {
    struct pending_event *next, *prev; /* in `ready`, or in `held` of its turn */
    struct turn_backlog *turn_backlog;
    struct shared_event *shared; /* the newest part */
    struct buf text;             /* text of all parts, if there are several */
    uint64_t parts;
    size_t size; /* its share of stats.bytes */
    bool held;
};

struct pending_event_list {
    struct pending_event *first, *last;
};

/* The events of one turn. */
struct turn_backlog {
    struct turn_backlog *next, *prev;                 /* all turns */
    struct turn_backlog *next_holding, *prev_holding; /* turns with events in `held` */
    void *turn;
    struct pending_event *last; /* newest waiting event to which others may be joined; or NULL */
    struct pending_event_list held; /* delivered after the ready events of this turn */
    int64_t hold_until;             /* monotonic time at which the pace permits the next event */
    uint64_t dropped[TC_KINDS];
    uint64_t drop_seq;          /* seq of the newest event dropped since the last notice; 0: none */
    struct pending_event *seen; /* used by the overflow policy */
    bool bare;                  /* above the hard limit: accepts only events that complete a turn */
};

struct backlog {
    struct backlog_limits limits;
    struct pending_event_list ready; /* in delivery order */
    size_t n_ready;
    struct turn_backlog *turn_backlogs, *holding;
    struct pending_event *spare; /* for reuse, linked by next */
    size_t n_spare;
    size_t again_events, again_bytes; /* sizes from which on the overflow policy is applied again */
    struct backlog_stats stats;
};

void backlog_init(struct backlog *b, const struct backlog_limits *limits);
/* Drops all events and turns. */
void backlog_fini(struct backlog *b);

/* Opens a turn, which ends when its done event is popped. */
struct turn_backlog *backlog_open_turn(struct backlog *b, void *turn);
/* Takes over one reference of the shared event. */
void backlog_push(struct backlog *b, struct turn_backlog *turn_backlog, struct shared_event *shared,
                  int64_t now_ms);
/* Removes a turn whose last event has been removed. */
void backlog_close_turn(struct backlog *b, struct turn_backlog *turn_backlog);
/* Whether an event can be delivered without queueing: no event waits, and no dropped events of its
 * turn are unreported. False: the caller must push it. */
static inline bool backlog_try_bypass(struct backlog *b, struct turn_backlog *turn_backlog,
                                      struct shared_event *shared, struct backlog_item *item)
{
    if (b->stats.events > 0 || b->limits.pace_ms > 0 || turn_backlog->bare ||
        turn_backlog->drop_seq)
        return false;
    *item = (struct backlog_item){turn_backlog->turn, shared};
    if (shared_event_get(shared)->kind == TC_DONE)
        backlog_close_turn(b, turn_backlog);
    return true;
}
/* Takes up to max due items. The caller owns the shared events. */
size_t backlog_pop(struct backlog *b, struct backlog_item *items, size_t max, int64_t now_ms);
/* When the next held event becomes due; INT64_MAX: none is held. */
int64_t backlog_next_due_ms(const struct backlog *b);
/* Releases all held events and disables the pace. */
void backlog_stop_pacing(struct backlog *b);
/* The fuller of the two soft limits. */
double backlog_fill_ratio(const struct backlog *b);

/* For overflow_policy.c. */
void backlog_remove(struct backlog *b, struct pending_event *w);
/* Removes w and counts it for the notice about dropped events. */
void backlog_drop(struct backlog *b, struct pending_event *w);
/* Joins `newer`, the next of its turn, to w and removes it. */
void backlog_coalesce(struct backlog *b, struct pending_event *w, struct pending_event *newer);
/* Replaces the shared event of w; takes over the reference. */
void backlog_replace_event(struct backlog *b, struct pending_event *w, struct shared_event *shared);

#endif
