/* SPDX-License-Identifier: MIT
 * The switches of agents that outlast a turn: kept in the state directory, or in Redis with a copy
 * there. Whatever Redis does, the copy answers: at once when it is known to be away, else within
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
    VISIBILITY_STORE_SAVED_LOCALLY, /* with err: here alone so far; it goes to Redis when that
                                       answers again */
    STICKY_FAILED,                  /* with err */
};

struct visibility_store *visibility_store_new(const struct conf *conf);
void visibility_store_free(struct visibility_store *s); /* NULL is fine */
/* The connection to Redis, for other data there; NULL: Redis is not the store. */
struct redis_client *visibility_store_redis(const struct visibility_store *s);
const struct conf_store *visibility_store_conf(const struct visibility_store *s);
/* Other configured switches, from any thread; the store stays what it was. */
void visibility_store_set_defaults(struct visibility_store *s, const struct conf *conf);

/* The configured switches, or those that are stored for the agent (NULL: of none), resolved. -1:
 * what is stored cannot be read (err), and *v is as configured. */
int visibility_store_load(struct visibility_store *s, const char *agent, struct visibility *v,
                          struct tc_err *err) MUST_CHECK;
/* The same without Redis. Any thread. */
int visibility_store_load_local(struct visibility_store *s, const char *agent, struct visibility *v,
                                struct tc_err *err) MUST_CHECK;
enum visibility_store_result visibility_store_save(struct visibility_store *s, const char *agent,
                                                   struct visibility v,
                                                   struct tc_err *err) MUST_CHECK;
/* Gives Redis what it missed. Of two changes the later one stays. */
void visibility_store_sync(struct visibility_store *s);

#endif
