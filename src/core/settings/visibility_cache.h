/* SPDX-License-Identifier: MIT
 * Visibility of each agent for the loop: answers from the store, or with the last known value
 * when the store is slower than REDIS_CALL_MS. Loop thread only. */
#ifndef CORE_SETTINGS_VISIBILITY_CACHE_H
#define CORE_SETTINGS_VISIBILITY_CACHE_H

#include "core/settings/settings_worker.h"

struct visibility_cache;

/* Reads the stored values of the configured agents. Borrows the settings worker. */
struct visibility_cache *visibility_cache_new(struct settings_worker *settings,
                                              const struct conf *conf);
/* Call it after the settings worker was freed. NULL is allowed. */
void visibility_cache_free(struct visibility_cache *s);

/* `done` comes from the loop, within REDIS_CALL_MS whatever Redis does. */
void visibility_cache_get(struct visibility_cache *s, const char *agent,
                          void (*done)(void *ctx, struct visibility v), void *ctx);
/* Applies from now on, unless the store refuses the change: then `why` has the reason (otherwise
 * NULL), which is also logged, and the previous values apply. */
void visibility_cache_set(struct visibility_cache *s, const char *agent, struct visibility v,
                          void (*done)(void *ctx, enum visibility_store_result saved,
                                       const char *why),
                          void *ctx);

/* ---- for sharing with other hosts */

/* `changed`, or NULL, is called when an agent's visibility was changed here: by
 * visibility_cache_set, or in the store, as found by the next lookup. */
void visibility_cache_set_watch(struct visibility_cache *s,
                                void (*changed)(void *ctx, const char *agent, struct visibility v),
                                void *ctx);
/* Like visibility_cache_set, for a change of another host: does not call `changed`. */
void visibility_cache_set_shared(struct visibility_cache *s, const char *agent,
                                 struct visibility v);
/* settings_worker_set_defaults was called. */
void visibility_cache_set_conf(struct visibility_cache *s);
/* The visibility as known now; never waits. */
struct visibility visibility_cache_peek(struct visibility_cache *s, const char *agent);

#endif
