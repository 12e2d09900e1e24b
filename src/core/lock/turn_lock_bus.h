/* SPDX-License-Identifier: MIT
 * Locks of conversations on the bus: an entry of a bucket for each conversation, changed by
 * compare-and-set. The entry names the host that has the conversation, the boot of that host, and a
 * number that only grows. When the lock is free, the entry names the last host and the session to
 * go on with.
 *
 * An entry does not expire. Another host acquires it when its holder has restarted, or has been
 * absent for bus.lost_after_s while this host was connected without a break. Loop thread only. */
#ifndef CORE_LOCK_TURN_LOCK_BUS_H
#define CORE_LOCK_TURN_LOCK_BUS_H

#include "core/bus/bus.h"
#include "core/lock/turn_lock_request.h"
#include "core/work/work_hosts.h"
#include "io/journal/journal_async.h"

struct turn_lock_bus;

struct turn_lock_bus_spec {
    struct bus *bus;
    struct work_hosts *hosts;
    struct journal_async *journal;
    int64_t lost_after_ms;
    void (*on_active)(void *ctx); /* connected again: renew the locks held */
    void (*on_hosts_checked)(void *ctx,
                             size_t others); /* number of other hosts seen since the start */
    void *ctx;
};

/* Borrows all. */
struct turn_lock_bus *turn_lock_bus_new(const struct turn_lock_bus_spec *spec);
/* Before the bus. Requests that wait are answered with -1. NULL is fine. */
void turn_lock_bus_free(struct turn_lock_bus *b);

typedef void turn_lock_bus_done(void *ctx, int rc);
/* Performs ACQUIRE or RENEW. Fills `q` and calls `done` from the loop; rc -1: the servers do not
 * answer. Without a connection, a lock that this host had last is granted without a number. */
void turn_lock_bus_acquire(struct turn_lock_bus *b, struct turn_lock_request *q,
                           turn_lock_bus_done *done, void *ctx);
/* Releases the lock; retried until that is stored. */
void turn_lock_bus_release(struct turn_lock_bus *b, const char *conversation,
                           const struct turn_lock_session *session);
/* Stores, without the lock, the session that the next host goes on with; does nothing while a host
 * has the lock. */
void turn_lock_bus_store_session(struct turn_lock_bus *b, const char *conversation,
                                 const struct turn_lock_session *session);

#endif
