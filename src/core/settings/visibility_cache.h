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

#endif
