/* SPDX-License-Identifier: MIT
 * Worker thread for stored settings (visibility, sessions) and its Redis connection, so that the
 * loop never blocks on either. Jobs run in the order of submission. */
#ifndef CORE_SETTINGS_SETTINGS_WORKER_H
#define CORE_SETTINGS_SETTINGS_WORKER_H

#include "core/settings/visibility_store.h"
#include "io/loop/loop.h"

struct settings_worker;

struct settings_worker *settings_worker_new(struct loop *loop, const struct conf *conf);
/* Does all that was asked for. NULL is fine. */
void settings_worker_free(struct settings_worker *s);

/* work(arg) on the thread, then done(arg) from the loop; in the order of the calls. When Redis
 * makes it last longer than REDIS_CALL_MS, late(arg) comes from the loop meanwhile, once, and may
 * not look at what `work` writes. */
void settings_worker_submit(struct settings_worker *s, void (*work)(void *arg),
                            void (*late)(void *arg), void (*done)(void *arg), void *arg);
/* fn(ctx) from the loop whenever Redis answers again, and at first. Once. */
void settings_worker_set_reconnect_cb(struct settings_worker *s, void (*fn)(void *ctx), void *ctx);

/* Other configured switches, from the next question on; the store stays what it was. */
void settings_worker_set_defaults(struct settings_worker *s, const struct conf *conf);
/* The store as configured at the start. */
const struct conf_store *settings_worker_store_conf(const struct settings_worker *s);

/* For `work`. */
struct redis_client *
settings_worker_redis(const struct settings_worker *s); /* NULL: it is not configured */
struct visibility_store *settings_worker_visibility(const struct settings_worker *s);

#endif
