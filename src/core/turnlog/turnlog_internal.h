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
    bool sealed;        /* no more events come */
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
};

struct turnlog_entry *turnlog_entry_find(const struct turnlog *log, const char *id);
/* Those who follow it are told soon. */
void turnlog_notify_followers(struct turnlog_entry *e);
/* They follow the other one from now on. */
void turnlog_move_followers(struct turnlog_entry *from, struct turnlog_entry *to);
/* It is forgotten: for those who follow it, it is over. */
void turnlog_detach_followers(struct turnlog_entry *e);

#endif
