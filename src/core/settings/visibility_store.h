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

struct sticky;

enum sticky_saved {
    STICKY_SAVED,
    STICKY_KEPT,   /* with err: here alone so far; it goes to Redis when that answers again */
    STICKY_FAILED, /* with err */
};

struct sticky *sticky_new(const struct conf *conf);
void sticky_free(struct sticky *s); /* NULL is fine */
/* Its connection, for what else is kept there; NULL: Redis is not the store. */
struct redis *sticky_redis(const struct sticky *s);
const struct conf_store *sticky_store(const struct sticky *s);
/* Other configured switches, from any thread; the store stays what it was. */
void sticky_configure(struct sticky *s, const struct conf *conf);

/* The configured switches, or those that are stored for the agent (NULL: of none), resolved. -1:
 * what is stored cannot be read (err), and *v is as configured. */
int sticky_load(struct sticky *s, const char *agent, struct visibility *v,
                struct tc_err *err) MUST_CHECK;
/* The same without Redis. Any thread. */
int sticky_load_copy(struct sticky *s, const char *agent, struct visibility *v,
                     struct tc_err *err) MUST_CHECK;
enum sticky_saved sticky_save(struct sticky *s, const char *agent, struct visibility v,
                              struct tc_err *err) MUST_CHECK;
/* Gives Redis what it missed. Of two changes the later one stays. */
void sticky_merge(struct sticky *s);

#endif
