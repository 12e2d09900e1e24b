/* SPDX-License-Identifier: MIT
 * Sessions of conversations in Redis, in agenticore's hash
 * `PREFIX:session:conv:AGENT:USER:CONVERSATION`. */
#ifndef CORE_SETTINGS_SESSION_REDIS_H
#define CORE_SETTINGS_SESSION_REDIS_H

#include "base/attr.h"
#include "base/bytes/buf.h"
#include "conf/conf.h"
#include "io/redis/redis.h"

/* Prefix of the key of a conversation shared with agenticore: USER ("-" for none), a colon and
 * CONVERSATION follow, both as given by the client. In the Redis key of any other conversation,
 * USER is "-". */
#define SESSION_REDIS_SHARED "openai::"

enum session_redis_result {
    SESSION_ACTIVE,
    SESSION_OVER,    /* the next session is a new one */
    SESSION_NOTHING, /* unknown, or the value is not a session hash */
    SESSION_AWAY,
};

/* Appends its id. */
enum session_redis_result session_redis_read(struct redis_client *r, const struct conf_store *store,
                                             const char *agent, const char *conversation,
                                             struct buf *id);

/* Special values in place of a lock number (core/lock/turn_lock.h): the choice of a person, which
 * earlier turns do not replace; and a turn without a lock, which is written unless another host has
 * had the lock meanwhile. */
#define SESSION_FENCE_CHOSEN 0
#define SESSION_FENCE_NONE (-1)
struct session_redis_value {
    const char *agent, *conversation;
    const char *id; /* NULL: deleted */
    int64_t fence;
    const char *host; /* this host, as in the lock record */
};
enum session_redis_written {
    SESSION_WRITTEN,     /* or the value is not a session hash, and stays unchanged */
    SESSION_REFUSED,     /* the conversation has continued elsewhere, or a person has chosen another
                          * session */
    SESSION_NOT_WRITTEN, /* Redis is unavailable */
};
enum session_redis_written session_redis_write(struct redis_client *r,
                                               const struct conf_store *store,
                                               const struct session_redis_value *v) MUST_CHECK;
/* Key of the lock record of a conversation: a hash with the number of the last lock (n), its host
 * (host), and the number after which a person has chosen (chosen). */
const char *session_redis_fence_key(struct arena *a, const struct conf_store *store,
                                    const char *conversation);

#endif
