/* SPDX-License-Identifier: MIT
 * Visibility of agents in Redis, in the format of agenticore: the hash PREFIX:stream_config:AGENT
 * with five fields of "1" or "0", without expiry. A second key, PREFIX:stream_config_saved:AGENT,
 * stores time and value of the last write by turncast. */
#ifndef CORE_SETTINGS_VISIBILITY_REDIS_H
#define CORE_SETTINGS_VISIBILITY_REDIS_H

#include "base/attr.h"
#include "core/settings/visibility_sqlite.h"
#include "io/redis/redis.h"

enum visibility_redis_result {
    STICKY_FOUND,
    STICKY_NOTHING,
    STICKY_FOREIGN,        /* the key has another type or content, which is neither read nor
                            * replaced */
    VISIBILITY_REDIS_DOWN, /* no reply, with err */
};

/* row->saved_ms is 0 if unknown, because agenticore wrote the hash. */
enum visibility_redis_result visibility_redis_read(struct redis_client *r, const char *prefix,
                                                   const char *agent, struct visibility_row *row,
                                                   struct tc_err *err);
/* -1: absent, or unknown. */
int visibility_redis_write(struct redis_client *r, const char *prefix, const char *agent,
                           const struct visibility_row *row, struct tc_err *err) MUST_CHECK;

#endif
