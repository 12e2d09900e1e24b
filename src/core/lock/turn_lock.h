/* SPDX-License-Identifier: MIT
 * Locks of conversations among the hosts that share a Redis, or a bus: a turn begins only while
 * this host has the lock of its conversation. Takes, renews and drops the locks through the
 * settings worker, and tells the owner when it has one or lost one. Without Redis, or with lock_s =
 * 0, each lock is this host's at once. Loop thread only.
 *
 * A lock that was not renewed expires; what the host has begun under it must have ended by then, so
 * it is lost here (and at turn_lock_until_ms the shim kills the agent) a tenth of lock_s before.
 * While Redis is away no lock is taken, renewed or lost, unless other hosts share it. */
#ifndef CORE_LOCK_TURN_LOCK_H
#define CORE_LOCK_TURN_LOCK_H

#include "core/bus/bus.h"
#include "core/settings/session_store.h"
#include "core/work/work_hosts.h"

struct turn_locks;

enum turn_lock_state {
    TURN_LOCK_NONE,      /* nobody here wants it */
    TURN_LOCK_ASKED,     /* Redis has not answered yet */
    TURN_LOCK_ELSEWHERE, /* another host has it; it is tried again */
    TURN_LOCK_AWAY,      /* Redis is away; it is tried again */
    TURN_LOCK_GIVEN_UP,  /* Redis was away for lock_wait_s; not wanted any more */
    TURN_LOCK_HELD,
};

struct turn_lock_events {
    /* The state of one that was asked for is another; never from within a call. */
    void (*changed)(void *ctx, const char *conversation, enum turn_lock_state state);
    /* It is held until then (turn_lock_until_ms). */
    void (*renewed)(void *ctx, const char *conversation, int64_t until_ms);
    /* It was held, and is another host's now, or may be. */
    void (*lost)(void *ctx, const char *conversation);
};

/* Borrows all. `host`: its name, for operators; NULL: that of
 * the machine. */
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
/* What is waited for is the bus, and not Redis. */
bool turn_locks_are_on_bus(const struct turn_locks *l);
void turn_locks_set_events(struct turn_locks *l, const struct turn_lock_events *events, void *ctx);
/* Before the bus and the settings worker are freed: nothing is asked, told or tried again any more.
 */
void turn_locks_close(struct turn_locks *l);
/* After the settings worker. NULL is fine. */
void turn_locks_free(struct turn_locks *l);

/* Asks for it, unless it has been asked for; `changed` tells of what is not returned. */
enum turn_lock_state turn_lock_want(struct turn_locks *l, const char *conversation);
enum turn_lock_state turn_lock_state(const struct turn_locks *l, const char *conversation);
/* It is not wanted any more; drops it if it is held. */
void turn_lock_release(struct turn_locks *l, const char *conversation);
/* Of one that is held: for session_store_save. */
int64_t turn_lock_fence(const struct turn_locks *l, const char *conversation);
/* Of one that is held: until when, on the scale of clock_mono_ms; 0: without an end, because no
 * other host shares Redis. */
int64_t turn_lock_until_ms(const struct turn_locks *l, const char *conversation);
/* Another host had it between two times that this one did. */
bool turn_lock_has_moved(const struct turn_locks *l, const char *conversation);

#endif
