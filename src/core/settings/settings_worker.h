/* SPDX-License-Identifier: MIT
 * Worker thread for stored settings (visibility, sessions) and its Redis connection, so that the
 * loop never blocks on either. Jobs run in the order of submission. */
#ifndef CORE_SETTINGS_SETTINGS_WORKER_H
#define CORE_SETTINGS_SETTINGS_WORKER_H

#include "core/settings/visibility_store.h"
#include "io/loop/loop.h"

struct settings_worker;

struct settings_worker *settings_worker_new(struct loop *loop, const struct conf *conf);
/* Completes all submitted jobs. NULL is allowed. */
void settings_worker_free(struct settings_worker *s);

/* Runs work(arg) on the thread, then done(arg) from the loop; in the order of submission. If Redis
 * delays it for more than REDIS_CALL_MS, late(arg) is called from the loop meanwhile, once; it must
 * not read data that `work` writes. */
void settings_worker_submit(struct settings_worker *s, void (*work)(void *arg),
                            void (*late)(void *arg), void (*done)(void *arg), void *arg);
/* Calls fn(ctx) from the loop whenever Redis is available again, and at the start. Call it once. */
void settings_worker_set_reconnect_cb(struct settings_worker *s, void (*fn)(void *ctx), void *ctx);

/* Sets other default visibility for later jobs; the store is unchanged. */
void settings_worker_set_defaults(struct settings_worker *s, const struct conf *conf);
/* The store as configured at the start. */
const struct conf_store *settings_worker_store_conf(const struct settings_worker *s);

/* For `work`. */
struct redis_client *
settings_worker_redis(const struct settings_worker *s); /* NULL: not configured */
struct visibility_store *settings_worker_visibility(const struct settings_worker *s);

#endif
