/* SPDX-License-Identifier: MIT
 * Locks of conversations among the hosts that share a Redis, or a bus: a turn begins only while
 * this host has the lock of its conversation. Acquires, renews and releases the locks through the
 * settings worker or the bus, and reports to the owner when a lock is acquired or lost. Without
 * Redis, or with lock_s = 0, each lock is granted at once. Loop thread only.
 *
 * A lock in Redis expires if it is not renewed. The turn must have ended by then, so this host
 * counts the lock as lost a tenth of lock_s earlier (turn_lock_until_ms; the shim then kills the
 * agent). While Redis does not answer and no other host shares it, locks are granted and kept
 * without it. */
#ifndef CORE_LOCK_TURN_LOCK_H
#define CORE_LOCK_TURN_LOCK_H

#include "core/bus/bus.h"
#include "core/settings/session_store.h"
#include "core/work/work_hosts.h"

struct turn_locks;

enum turn_lock_state {
    TURN_LOCK_NONE,        /* not wanted on this host */
    TURN_LOCK_REQUESTED,   /* no answer yet */
    TURN_LOCK_ELSEWHERE,   /* another host has it; retried */
    TURN_LOCK_UNREACHABLE, /* Redis or the bus does not answer; retried */
    TURN_LOCK_GIVEN_UP,    /* no answer for lock_wait_s; not wanted any more */
    TURN_LOCK_HELD,
};

struct turn_lock_events {
    /* The state of a wanted lock has changed; never called from within turn_lock_want. */
    void (*changed)(void *ctx, const char *conversation, enum turn_lock_state state);
    /* The lock is held until then (turn_lock_until_ms). */
    void (*renewed)(void *ctx, const char *conversation, int64_t until_ms);
    /* The lock was held, and another host has it now, or may have it. */
    void (*lost)(void *ctx, const char *conversation);
};

/* Borrows all. `host`: name of this host for operators; NULL: that of the machine. */
struct turn_locks *turn_locks_new(struct loop *loop, struct journal_async *journal,
                                  struct settings_worker *settings, struct session_store *sessions,
                                  const char *host);
/* Locks are on the bus, if they are not in Redis. Such a lock does not expire (turn_lock_bus.h): a
 * turn that runs when the bus goes away is finished, and lost if another host has taken its
 * conversation when the bus is back. While the bus is away, conversations that this host had last
 * go on; others wait until it is back, unless no other host is known (turn_locks_set_conf). Before
 * the first lock is wanted. */
void turn_locks_set_bus(struct turn_locks *l, struct bus *bus, struct work_hosts *hosts,
                        int64_t lost_after_ms);
/* Another configuration. A host on the bus knows of others if it has met one, or if the
 * configuration names one that may run an agent. */
void turn_locks_set_conf(struct turn_locks *l, const struct conf *conf);
/* Locks are on the bus, not in Redis. */
bool turn_locks_are_on_bus(const struct turn_locks *l);
void turn_locks_set_events(struct turn_locks *l, const struct turn_lock_events *events, void *ctx);
/* Before the bus and the settings worker are freed: no request, event or retry follows. */
void turn_locks_close(struct turn_locks *l);
/* After the settings worker. NULL is fine. */
void turn_locks_free(struct turn_locks *l);

/* Requests the lock, unless that is done already; `changed` reports later states. */
enum turn_lock_state turn_lock_want(struct turn_locks *l, const char *conversation);
enum turn_lock_state turn_lock_state(const struct turn_locks *l, const char *conversation);
/* The lock is not wanted any more: releases it if it is held. */
void turn_lock_release(struct turn_locks *l, const char *conversation);
/* Fencing number of a held lock, for session_store_save. */
int64_t turn_lock_fence(const struct turn_locks *l, const char *conversation);
/* Expiry of a held lock, on the scale of clock_mono_ms; 0: none, because no other host shares
 * Redis. */
int64_t turn_lock_until_ms(const struct turn_locks *l, const char *conversation);
/* Another host has had the lock since this host had it before. */
bool turn_lock_has_moved(const struct turn_locks *l, const char *conversation);

#endif
