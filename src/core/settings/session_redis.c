/* SPDX-License-Identifier: MIT
 * Encodes a session as a Redis hash. */
#include "core/settings/session_redis.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "base/sys/clock.h"
#include "base/sys/log.h"

/* Format of Python's isoformat() for a UTC time. */
static const char *now(struct arena *a)
{
    const double wall = clock_wall_s();
    const time_t s = (time_t)wall;
    struct tm tm;
    char date[32];
    gmtime_r(&s, &tm);
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &tm);
    return arena_sprintf(a, "%s.%06d+00:00", date, (int)((wall - (double)s) * 1e6));
}

/* agenticore's key: conv:AGENT:USER:CONVERSATION, with "-" for no user (agent.py, 1.9.0). */
static const char *external_of(struct arena *a, const char *agent, const char *conversation)
{
    const size_t len = strlen(SESSION_REDIS_SHARED);
    if (strncmp(conversation, SESSION_REDIS_SHARED, len) == 0)
        return arena_sprintf(a, "conv:%s:%s", agent, conversation + len);
    return arena_sprintf(a, "conv:%s:-:%s", agent, conversation);
}

static const char *session_redis_key_of(struct arena *a, const struct conf_store *store,
                                        const char *external)
{
    return arena_sprintf(a, "%s:session:%s", store->prefix, external);
}

/* The value of that field; "" if absent. */
static const char *field(const struct redis_reply *hash, const char *name)
{
    for (size_t i = 0; i + 1 < hash->n; i += 2)
        if (hash->items[i].type == REDIS_TEXT && hash->items[i + 1].type == REDIS_TEXT &&
            strcmp(hash->items[i].text.p, name) == 0)
            return hash->items[i + 1].text.p;
    return "";
}

/* agenticore treats a session without a status as active. */
static bool is_active(const struct redis_reply *hash)
{
    const char *const status = field(hash, "status");
    return *field(hash, "claude_session_id") && (!*status || strcmp(status, "active") == 0);
}

static enum session_redis_result read_hash(struct redis_client *r, const char *key, struct arena *a,
                                           struct redis_reply *hash)
{
    const struct redis_command ask = {(const char *const[]){"HGETALL", key, NULL}};
    if (redis_call_pipeline(r, &ask, 1, a, hash, NULL) < 0)
        return SESSION_AWAY;
    if (hash->type != REDIS_LIST) {
        log_write(LOG_WARN, "redis", "Redis key %s has an unexpected format; ignoring it", key);
        return SESSION_NOTHING;
    }
    if (hash->n == 0)
        return SESSION_NOTHING;
    return is_active(hash) ? SESSION_ACTIVE : SESSION_OVER;
}

enum session_redis_result session_redis_read(struct redis_client *r, const struct conf_store *store,
                                             const char *agent, const char *conversation,
                                             struct buf *id)
{
    struct arena a = {0};
    struct redis_reply hash;
    const char *const key = session_redis_key_of(&a, store, external_of(&a, agent, conversation));
    const enum session_redis_result found = read_hash(r, key, &a, &hash);
    if (found == SESSION_ACTIVE)
        buf_add_str(id, field(&hash, "claude_session_id"));
    arena_fini(&a);
    return found;
}

/* Arguments: a hash and the lock record of its conversation: fence, host, external, id, status,
 * time, seconds. A fence of 0 means a person's choice, which has precedence over all turns started
 * before it. */
static const char write_session[] =
    "local kind, n = redis.call('TYPE', KEYS[1]).ok, redis.call('HGET', KEYS[2], 'n') "
    "if kind ~= 'hash' and kind ~= 'none' then return 1 end "
    "if n and ARGV[1] == '0' then redis.call('HSET', KEYS[2], 'chosen', n) "
    "elseif n and ARGV[1] == '-1' then "
    " if redis.call('HGET', KEYS[2], 'host') ~= ARGV[2] then return 0 end "
    "elseif ARGV[1] ~= '0' and ARGV[1] ~= '-1' then "
    " if n ~= ARGV[1] or redis.call('HGET', KEYS[2], 'chosen') == n then return 0 end end "
    "local made = redis.call('HGET', KEYS[1], 'created_at') "
    "if not made or made == '' then made = ARGV[6] end "
    "redis.call('HSET', KEYS[1], 'external_uuid', ARGV[3], 'claude_session_id', ARGV[4], "
    " 'session_type', 'persistent', 'status', ARGV[5], 'created_at', made, 'updated_at', ARGV[6]) "
    "if ARGV[7] == '0' then redis.call('PERSIST', KEYS[1]) "
    "else redis.call('EXPIRE', KEYS[1], ARGV[7]) end "
    "return 1";

const char *session_redis_fence_key(struct arena *a, const struct conf_store *store,
                                    const char *conversation)
{
    return arena_sprintf(a, "%s:turncast_fence:%s", store->prefix, conversation);
}

enum session_redis_written session_redis_write(struct redis_client *r,
                                               const struct conf_store *store,
                                               const struct session_redis_value *v)
{
    struct arena a = {0};
    struct redis_reply reply;
    const char *const external = external_of(&a, v->agent, v->conversation);
    const char *const words[] = {
        "EVAL",
        write_session,
        "2",
        session_redis_key_of(&a, store, external),
        session_redis_fence_key(&a, store, v->conversation),
        arena_sprintf(&a, "%" PRId64, v->fence),
        v->host,
        external,
        v->id ? v->id : "",
        v->id ? "active" : "completed",
        now(&a),
        arena_sprintf(&a, "%" PRId64, store->session_ttl_s),
        NULL,
    };
    enum session_redis_written written = SESSION_NOT_WRITTEN;
    if (redis_call_pipeline(r, &(struct redis_command){words}, 1, &a, &reply, NULL) == 0)
        written =
            reply.type == REDIS_NUMBER && reply.number == 0 ? SESSION_REFUSED : SESSION_WRITTEN;
    arena_fini(&a);
    return written;
}
