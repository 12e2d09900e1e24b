/* SPDX-License-Identifier: MIT
 * Internal interface between the files of the turn log. Loop thread only. */
#ifndef CORE_TURNLOG_TURNLOG_INTERNAL_H
#define CORE_TURNLOG_TURNLOG_INTERNAL_H

#include "base/arena.h"
#include "core/turnlog/turnlog.h"

struct turnlog_event {
    uint64_t seq;
    struct shared_event *shared, *stripped; /* stripped: or NULL */
    bool hidden;
};

struct turnlog_entry {
    struct turnlog_turn turn; /* its strings are the arena's */
    struct arena arena;
    struct turnlog_entry *newer, *older;
    struct turnlog_event *events; /* the oldest first */
    size_t n, first, cap;         /* events[first … n) are kept */
    size_t bytes;
    uint64_t forgotten; /* the highest seq of those that are not kept any more */
    bool sealed;        /* no more events come, or it is another host's and over */
    bool is_remote;     /* of another host */
    bool is_complete;   /* so is it, and no more events come: all are here that can be had */
    bool is_wanted;     /* so is it, and the source has been told that somebody follows it */
    uint64_t order;     /* of what that host said last */
    struct arena said;  /* what it said */
    struct turnlog_follower *followers;
};

struct turnlog_watcher {
    struct turnlog *log; /* NULL: unwatched while it was told */
    struct turnlog_watcher *next;
    bool wants_ends;
    void (*changed)(void *ctx, const struct turnlog_turn *t);
    void *ctx;
};

struct turnlog {
    struct loop *loop;
    struct turnlog_limits limits;
    struct turnlog_entry *newest, *oldest;
    void *by_id; /* a tree of search.h: all of them */
    size_t n, n_sealed;
    size_t bytes, sealed_bytes;   /* of all; of those that are sealed */
    struct turnlog_entry *greedy; /* that forgot last, or NULL */
    uint64_t added[TC_KINDS];     /* events, of each kind */
    struct turnlog_watcher *watchers;
    bool telling;
    struct turnlog_source source;
};

struct turnlog_entry *turnlog_entry_find(const struct turnlog *log, const char *id);
/* The turn of that id, made when there is none. */
struct turnlog_entry *turnlog_find_or_make(struct turnlog *log, const struct turnlog_spec *spec);
/* Drops all events of the turn. */
void turnlog_clear_events(struct turnlog *log, struct turnlog_entry *e);
/* No more comes of it. */
void turnlog_seal(struct turnlog *log, struct turnlog_entry *e, enum turnlog_state state);
/* Tells those who watch. */
void turnlog_tell(struct turnlog *log, const struct turnlog_turn *t, bool is_end);
/* turnlog_remote.c: somebody follows it, or nobody does any more. */
void turnlog_remote_want(struct turnlog *log, struct turnlog_entry *e);
void turnlog_remote_unwant(struct turnlog *log, struct turnlog_entry *e);
/* Schedules the callbacks of the followers. */
void turnlog_notify_followers(struct turnlog_entry *e);
/* Moves all followers to another turn. */
void turnlog_move_followers(struct turnlog_entry *from, struct turnlog_entry *to);
/* Ends the turn for its followers, because it is forgotten. */
void turnlog_detach_followers(struct turnlog_entry *e);

#endif
