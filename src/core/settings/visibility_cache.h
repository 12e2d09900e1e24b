/* SPDX-License-Identifier: MIT
 * Visibility of each agent for the loop: answers from the store, or with the last known value
 * when the store is slower than REDIS_CALL_MS. Loop thread only. */
#ifndef CORE_SETTINGS_VISIBILITY_CACHE_H
#define CORE_SETTINGS_VISIBILITY_CACHE_H

#include "core/settings/settings_worker.h"

struct visibility_cache;

/* Reads the copies of the configured agents. Borrows the settings worker. */
struct visibility_cache *visibility_cache_new(struct settings_worker *settings,
                                              const struct conf *conf);
/* After the settings worker. NULL is fine. */
void visibility_cache_free(struct visibility_cache *s);

/* `done` comes from the loop, within REDIS_CALL_MS whatever Redis does. */
void visibility_cache_get(struct visibility_cache *s, const char *agent,
                          void (*done)(void *ctx, struct visibility v), void *ctx);
/* They count from now on, unless the store refuses them: then `why` says it (else NULL), which is
 * logged too, and those before count. */
void visibility_cache_set(struct visibility_cache *s, const char *agent, struct visibility v,
                          void (*done)(void *ctx, enum visibility_store_result saved,
                                       const char *why),
                          void *ctx);

/* ---- for other hosts that share them */

/* `changed`, or NULL, is called when those of an agent were changed here: by visibility_cache_set,
 * or, found at the next question, in the store. */
void visibility_cache_set_watch(struct visibility_cache *s,
                                void (*changed)(void *ctx, const char *agent, struct visibility v),
                                void *ctx);
/* The same as visibility_cache_set, of a change of another host: `changed` is not called. */
void visibility_cache_set_shared(struct visibility_cache *s, const char *agent,
                                 struct visibility v);
/* settings_worker_set_defaults has been called. */
void visibility_cache_set_conf(struct visibility_cache *s);
/* The visibility as known at this moment; never waits. */
struct visibility visibility_cache_peek(struct visibility_cache *s, const char *agent);

#endif
