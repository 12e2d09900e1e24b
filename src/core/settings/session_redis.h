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
/* id NULL: it is over. -1: Redis is away. What is not ours stays as it is. */
int session_redis_write(struct redis_client *r, const struct conf_store *store, const char *agent,
                        const char *conversation, const char *id) MUST_CHECK;

#endif
