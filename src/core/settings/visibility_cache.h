/* SPDX-License-Identifier: MIT
 * The switches of agents as a host's loop asks for and changes them: what is stored, or what was
 * known last when the store is slow. Loop thread only. */
#ifndef CORE_SETTINGS_VISIBILITY_CACHE_H
#define CORE_SETTINGS_VISIBILITY_CACHE_H

#include "core/settings/settings_worker.h"

struct switches;

/* Reads the copies of the configured agents. Borrows the shelf. */
struct switches *switches_new(struct shelf *shelf, const struct conf *conf);
/* After the shelf. NULL is fine. */
void switches_free(struct switches *s);

/* `done` comes from the loop, within REDIS_CALL_MS whatever Redis does. */
void switches_get(struct switches *s, const char *agent,
                  void (*done)(void *ctx, struct visibility v), void *ctx);
/* They count from now on, unless the store refuses them: then `why` says it (else NULL), which is
 * logged too, and those before count. */
void switches_set(struct switches *s, const char *agent, struct visibility v,
                  void (*done)(void *ctx, enum sticky_saved saved, const char *why), void *ctx);

#endif
