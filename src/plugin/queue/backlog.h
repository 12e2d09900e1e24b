/* SPDX-License-Identifier: MIT
 * What waits for one instance: events of many turns in order, joined where nothing is lost,
 * held back to the pace of the plugin, shrunk and dropped by kind when it is too much. Pure: no
 * thread, no clock, so that every rule can be tested; event_queue.h puts the lock around it.
 *
 * An instance that keeps up gets every event as it came. Only two things change that:
 *  - its pace: narration and thinking that came too early wait in their lane and are joined;
 *  - its limits: when they are reached, what waits is squeezed, mildest measure first
 * (overflow_policy.c). What was handed out never changes. A joined event carries what its newest
 * part said, seq too, and the text of all parts. Events that were dropped leave a gap in seq; in
 * their place the instance gets one notice{warn, dropped} with the counts in x. */
#ifndef PLUGIN_QUEUE_BACKLOG_H
#define PLUGIN_QUEUE_BACKLOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes/buf.h"
#include "event/event.h"

struct backlog_limits {
    size_t events, bytes; /* soft: above them only reserved kinds enter; 4 times as much: hard */
    uint32_t pace_ms;     /* hold narration and thinking back to join; 0: do not */
};

struct backlog_stats {
    uint64_t pushed, joined, replaced, shrunk, dropped;
    size_t events, bytes; /* waiting now */
};

/* What the consumer gets. */
struct backlog_item {
    void *turn; /* the tag given to backlog_open */
    struct event_box *box;
};

/* One event that waits, or several joined into one. */
struct waiting {
    struct waiting *next, *prev; /* in `ready`, or in `held` of its lane */
    struct lane *lane;
    struct event_box *box; /* the newest part */
    struct buf text;       /* of all parts, when there is more than one */
    uint64_t parts;
    size_t size; /* what it counts for in stats.bytes */
    bool held;
};

struct waiting_list {
    struct waiting *first, *last;
};

/* The events of one turn. */
struct lane {
    struct lane *next, *prev;                 /* all lanes */
    struct lane *next_holding, *prev_holding; /* those with something in `held` */
    void *turn;
    struct waiting *last;     /* newest that waits and may be joined with; or NULL */
    struct waiting_list held; /* comes after all of this lane that is ready */
    int64_t hold_until;       /* monotonic ms: the pace opens again */
    uint64_t dropped[TC_KINDS];
    uint64_t drop_seq;    /* of the newest event dropped since the last notice; 0: none */
    struct waiting *seen; /* scratch of a walk */
    bool bare;            /* beyond the hard limit: only what makes a turn whole enters */
};

struct backlog {
    struct backlog_limits limits;
    struct waiting_list ready; /* in delivery order */
    size_t n_ready;
    struct lane *lanes, *holding;
    struct waiting *spare; /* for reuse, linked by next */
    size_t n_spare;
    size_t again_events, again_bytes; /* a squeeze is worth it from here on */
    struct backlog_stats stats;
};

void backlog_init(struct backlog *b, const struct backlog_limits *limits);
/* Drops what is left, lanes too. */
void backlog_fini(struct backlog *b);

/* The lane ends when its done event is popped. */
struct lane *backlog_open(struct backlog *b, void *turn);
/* Takes over one reference of the box. */
void backlog_push(struct backlog *b, struct lane *lane, struct event_box *box, int64_t now_ms);
/* Its last event has been taken. */
void backlog_close(struct backlog *b, struct lane *lane);
/* Hands an event through that need not wait: nothing else does, and its lane has nothing to tell.
 * False: push it. */
static inline bool backlog_pass(struct backlog *b, struct lane *lane, struct event_box *box,
                                struct backlog_item *item)
{
    if (b->stats.events > 0 || b->limits.pace_ms > 0 || lane->bare || lane->drop_seq)
        return false;
    b->stats.pushed++;
    *item = (struct backlog_item){lane->turn, box};
    if (event_box_get(box)->kind == TC_DONE)
        backlog_close(b, lane);
    return true;
}
/* Takes up to max items that are due. The caller owns the boxes. */
size_t backlog_pop(struct backlog *b, struct backlog_item *items, size_t max, int64_t now_ms);
/* When something held back becomes due; INT64_MAX: nothing is held. */
int64_t backlog_due(const struct backlog *b);
/* Nothing more is held back. */
void backlog_release(struct backlog *b);
/* The fuller of the two soft limits. */
double backlog_fill(const struct backlog *b);

/* For overflow_policy.c. */
void backlog_remove(struct backlog *b, struct waiting *w);
/* Removes it, counted for the notice. */
void backlog_drop(struct backlog *b, struct waiting *w);
/* Joins `newer`, the next of its lane, to w and removes it. */
void backlog_join(struct backlog *b, struct waiting *w, struct waiting *newer);
/* Gives it another box; takes over the reference. */
void backlog_replace_box(struct backlog *b, struct waiting *w, struct event_box *box);

#endif
