/* SPDX-License-Identifier: MIT
 * Persistent visibility of agents: in the state directory, or in Redis with a copy in the state
 * directory. The copy is used when Redis is unavailable: at once if that is known, otherwise after
 * REDIS_CALL_MS. One thread at a time. */
#ifndef CORE_SETTINGS_VISIBILITY_STORE_H
#define CORE_SETTINGS_VISIBILITY_STORE_H

#include "base/attr.h"
#include "base/sys/err.h"
#include "conf/conf.h"
#include "io/redis/redis.h"
#include "turn/visibility/visibility.h"

struct visibility_store;

enum visibility_store_result {
    STICKY_SAVED,
    VISIBILITY_STORE_SAVED_LOCALLY, /* with err: stored only here; sent to Redis when it is
                                     * available again */
    STICKY_FAILED,                  /* with err */
};

struct visibility_store *visibility_store_new(const struct conf *conf);
void visibility_store_free(struct visibility_store *s); /* NULL is allowed */
/* The connection to Redis, for other data; NULL: Redis is not the store. */
struct redis_client *visibility_store_redis(const struct visibility_store *s);
const struct conf_store *visibility_store_conf(const struct visibility_store *s);
/* Sets other default visibility, from any thread; the store is unchanged. */
void visibility_store_set_defaults(struct visibility_store *s, const struct conf *conf);

/* The stored visibility of the agent (NULL: no agent), otherwise the configured one, resolved. -1:
 * the store is unreadable (err), and *v is the configured one. */
int visibility_store_load(struct visibility_store *s, const char *agent, struct visibility *v,
                          struct tc_err *err) MUST_CHECK;
/* The same without asking Redis. Any thread. */
int visibility_store_load_local(struct visibility_store *s, const char *agent, struct visibility *v,
                                struct tc_err *err) MUST_CHECK;
enum visibility_store_result visibility_store_save(struct visibility_store *s, const char *agent,
                                                   struct visibility v,
                                                   struct tc_err *err) MUST_CHECK;
/* Sends missed changes to Redis. Of two changes, the later one counts. */
void visibility_store_sync(struct visibility_store *s);

#endif
