/* SPDX-License-Identifier: MIT
 * Locks of conversations in Redis: the commands that take, renew and drop them, each a script, so
 * that it changes all of its keys or none. On the settings worker's thread.
 *
 * PREFIX:turncast_lock:CONVERSATION is the lock: a string, random for each life of a host, with a
 * time to live. PREFIX:turncast_fence:CONVERSATION outlasts it: a hash with the number of the last
 * lock, which only grows, and the host that took it (session_redis_fence_key).
 * PREFIX:turncast_hosts is a sorted set of the hosts that use these keys, with the time of their
 * last call. */
#ifndef CORE_LOCK_TURN_LOCK_REDIS_H
#define CORE_LOCK_TURN_LOCK_REDIS_H

#include "conf/conf.h"
#include "core/lock/turn_lock_request.h"
#include "io/redis/redis.h"

#define TURN_LOCK_CALL_MAX 32               /* requests of a call */
#define TURN_LOCK_HOST_MS INT64_C(86400000) /* for which a host counts as one that shares Redis */

struct turn_lock_redis {
    const struct conf_store *store;
    const char *host;  /* this one: the same in each of its lives, and of no other */
    const char *token; /* of this life */
};

/* Up to TURN_LOCK_CALL_MAX requests, in their order; 0 makes the host known. *others: how many
 * other hosts share the keys. -1: Redis is away, refuses scripts, or is too slow; what was asked
 * for may have been done or not. */
int turn_lock_redis_call(struct redis_client *r, const struct turn_lock_redis *l,
                         struct turn_lock_request *requests, size_t n, int64_t *others) MUST_CHECK;

#endif
