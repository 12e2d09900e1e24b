/* SPDX-License-Identifier: MIT
 * The switches of agents in Redis, as agenticore keeps them: the hash PREFIX:stream_config:AGENT
 * with five fields of "1" or "0", without an end. Beside it, in PREFIX:stream_config_saved:AGENT,
 * when a turncast wrote it and what. */
#ifndef CORE_SETTINGS_VISIBILITY_REDIS_H
#define CORE_SETTINGS_VISIBILITY_REDIS_H

#include "base/attr.h"
#include "core/settings/visibility_sqlite.h"
#include "io/redis/redis.h"

enum visibility_redis_result {
    STICKY_FOUND,
    STICKY_NOTHING,
    STICKY_FOREIGN,        /* something else is there: not ours to read or to write */
    VISIBILITY_REDIS_DOWN, /* no answer, with err */
};

/* row->saved_ms is 0 when it is not known, because an agenticore wrote it. */
enum visibility_redis_result visibility_redis_read(struct redis_client *r, const char *prefix,
                                                   const char *agent, struct visibility_row *row,
                                                   struct tc_err *err);
/* -1: it is not there, or that is not known. */
int visibility_redis_write(struct redis_client *r, const char *prefix, const char *agent,
                           const struct visibility_row *row, struct tc_err *err) MUST_CHECK;

#endif
