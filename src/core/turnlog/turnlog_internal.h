/* SPDX-License-Identifier: MIT
 * Internal interface between the files of the turn log. Loop thread only. */
#ifndef CORE_TURNLOG_TURNLOG_INTERNAL_H
#define CORE_TURNLOG_TURNLOG_INTERNAL_H

#include "base/arena.h"
#include "core/turnlog/turnlog.h"

struct turnlog_event {
    uint64_t seq;
    struct shared_event *shared, *stripped; /* stripped: or NULL */
    uint32_t added;                         /* turnlog_now; the bits that fit into the padding */
    bool hidden;
};

struct turnlog_entry {
    struct turnlog_turn turn; /* its strings are in the arena */
    struct arena arena;
    struct turnlog_entry *newer, *older;
    struct turnlog_event *events; /* the oldest first */
    size_t n, first, cap;         /* events[first … n) are stored */
    size_t bytes;
    uint64_t forgotten; /* the highest seq of dropped events */
    bool sealed;        /* no more events will come, or another host's turn has ended */
    bool is_remote;     /* of another host's turn */
    bool is_complete;   /* likewise: no more events will come, and all available ones are here */
    bool is_wanted;     /* likewise: the source knows that it has followers */
    uint64_t order;     /* order of that host's last report */
    struct arena said;  /* that report */
    struct turnlog_follower *followers;
};

struct turnlog_watcher {
    struct turnlog *log; /* NULL: removed during a callback */
    struct turnlog_watcher *next;
    bool wants_ends;
    void (*changed)(void *ctx, const struct turnlog_turn *t);
    void *ctx;
};

struct turnlog {
    struct loop *loop;
    struct turnlog_limits limits;
    struct turnlog_entry *newest, *oldest;
    void *by_id; /* tree of search.h with all turns */
    size_t n, n_sealed;
    size_t bytes, sealed_bytes;   /* bytes of all turns; of sealed ones */
    struct turnlog_entry *greedy; /* the turn that dropped events last, or NULL */
    uint64_t added[TC_KINDS];     /* number of events of each kind */
    struct turnlog_watcher *watchers;
    bool telling;
    struct turnlog_source source;
};

/* Monotonic time in units of 100 us, modulo 5 days. */
#define TURNLOG_UNIT_US 100
uint32_t turnlog_now(void);
struct turnlog_entry *turnlog_entry_find(const struct turnlog *log, const char *id);
/* Finds the turn of that id, or creates it. */
struct turnlog_entry *turnlog_find_or_make(struct turnlog *log, const struct turnlog_spec *spec);
/* Drops all events of the turn. */
void turnlog_clear_events(struct turnlog *log, struct turnlog_entry *e);
/* Seals the turn: no further events. */
void turnlog_seal(struct turnlog *log, struct turnlog_entry *e, enum turnlog_state state);
/* Informs the watchers. */
void turnlog_notify_watchers(struct turnlog *log, const struct turnlog_turn *t, bool is_end);
/* turnlog_remote.c: the turn has got its first follower, or lost its last one. */
void turnlog_remote_want(struct turnlog *log, struct turnlog_entry *e);
void turnlog_remote_unwant(struct turnlog *log, struct turnlog_entry *e);
/* A turn of another host, or one that was left to it, becomes this one's, and begins anew. */
void turnlog_remote_take_over(struct turnlog *log, struct turnlog_entry *e);
/* Schedules the callbacks of the followers. */
void turnlog_notify_followers(struct turnlog_entry *e);
/* Moves all followers to another turn. */
void turnlog_move_followers(struct turnlog_entry *from, struct turnlog_entry *to);
/* Ends the turn for its followers, because it is dropped. */
void turnlog_detach_followers(struct turnlog_entry *e);

#endif
