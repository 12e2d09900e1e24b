/* SPDX-License-Identifier: MIT
 * Sessions of conversations in Redis, in agenticore's hash
 * `PREFIX:session:conv:AGENT:USER:CONVERSATION`. */
#ifndef CORE_SETTINGS_SESSION_REDIS_H
#define CORE_SETTINGS_SESSION_REDIS_H

#include "base/attr.h"
#include "base/bytes/buf.h"
#include "conf/conf.h"
#include "io/redis/redis.h"

/* Begins the key of a conversation that is shared with agenticore: behind it are USER ("-" for
 * none) and, after a colon, CONVERSATION, both as the client gave them. In the Redis key of any
 * other conversation USER is "-". */
#define SESSION_REDIS_SHARED "openai::"

enum session_redis_result {
    SESSION_ACTIVE,
    SESSION_OVER,    /* the next one is new */
    SESSION_NOTHING, /* nothing is known of it, or what is there is not ours */
    SESSION_AWAY,
};

/* Appends its id. */
enum session_redis_result session_redis_read(struct redis_client *r, const struct conf_store *store,
                                             const char *agent, const char *conversation,
                                             struct buf *id);

/* In the place of the number of a lock (core/lock/turn_lock.h): the choice of a person, which the
 * turns that have begun before do not replace; and a turn without a lock, which is written unless
 * another host has had the lock meanwhile. */
#define SESSION_FENCE_CHOSEN 0
#define SESSION_FENCE_NONE (-1)
struct session_redis_value {
    const char *agent, *conversation;
    const char *id; /* NULL: it is over */
    int64_t fence;
    const char *host; /* this one, as in the record of locks */
};
enum session_redis_written {
    SESSION_WRITTEN, /* or what is there is not ours, and stays as it is */
    SESSION_REFUSED, /* the conversation has gone on elsewhere, or a person has chosen another */
    SESSION_NOT_WRITTEN, /* Redis is away */
};
enum session_redis_written session_redis_write(struct redis_client *r,
                                               const struct conf_store *store,
                                               const struct session_redis_value *v) MUST_CHECK;
/* The key of the record of locks of a conversation: a hash with the number of the last lock (n),
 * the host that took it (host), and the number behind which a person has chosen (chosen). */
const char *session_redis_fence_key(struct arena *a, const struct conf_store *store,
                                    const char *conversation);

#endif
