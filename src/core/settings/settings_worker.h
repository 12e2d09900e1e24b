/* SPDX-License-Identifier: MIT
 * The thread on which a host looks up and keeps switches and sessions, with its connection to
 * Redis: the loop never waits for either. Loop thread only, but for `work`. */
#ifndef CORE_SETTINGS_SETTINGS_WORKER_H
#define CORE_SETTINGS_SETTINGS_WORKER_H

#include "core/settings/visibility_store.h"
#include "io/loop/loop.h"

struct shelf;

struct shelf *shelf_new(struct loop *loop, const struct conf *conf);
/* Does all that was asked for. NULL is fine. */
void shelf_free(struct shelf *s);

/* work(arg) on the thread, then done(arg) from the loop; in the order of the calls. When Redis
 * makes it last longer than REDIS_CALL_MS, late(arg) comes from the loop meanwhile, once, and may
 * not look at what `work` writes. */
void shelf_do(struct shelf *s, void (*work)(void *arg), void (*late)(void *arg),
              void (*done)(void *arg), void *arg);
/* fn(ctx) from the loop whenever Redis answers again, and at first. Once. */
void shelf_on_back(struct shelf *s, void (*fn)(void *ctx), void *ctx);

/* Other configured switches, from the next question on; the store stays what it was. */
void shelf_configure(struct shelf *s, const struct conf *conf);
/* Where it is kept: as configured at the start. */
const struct conf_store *shelf_store(const struct shelf *s);

/* For `work`. */
struct redis *shelf_redis(const struct shelf *s); /* NULL: it is not configured */
struct sticky *shelf_sticky(const struct shelf *s);

#endif
