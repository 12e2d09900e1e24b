/* SPDX-License-Identifier: MIT
 * Owns the hash of a session. */
#include "core/settings/session_redis.h"

#include <stdio.h>
#include <time.h>

#include "base/sys/clock.h"
#include "base/sys/log.h"

/* As Python's isoformat() of a time in UTC. */
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

/* The value of that field; "" without one. */
static const char *field(const struct redis_reply *hash, const char *name)
{
    for (size_t i = 0; i + 1 < hash->n; i += 2)
        if (hash->items[i].type == REDIS_TEXT && hash->items[i + 1].type == REDIS_TEXT &&
            strcmp(hash->items[i].text.p, name) == 0)
            return hash->items[i + 1].text.p;
    return "";
}

/* Without a status agenticore takes it for active. */
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

static int write_hash(struct redis_client *r, const struct conf_store *store, struct arena *a,
                      const char *external, const char *id, const char *created)
{
    const char *const key = session_redis_key_of(a, store, external), *const at = now(a);
    const char *const hset[] = {
        "HSET",
        key, /* */
        "external_uuid",
        external, /* */
        "claude_session_id",
        id ? id : "", /* */
        "session_type",
        "persistent", /* */
        "status",
        id ? "active" : "completed", /* */
        "created_at",
        *created ? created : at, /* */
        "updated_at",
        at, /* */
        NULL,
    };
    const char *const expire[] = {"EXPIRE", key,
                                  arena_sprintf(a, "%lld", (long long)store->session_ttl_s), NULL};
    const struct redis_command commands[] = {
        {(const char *const[]){"MULTI", NULL}},
        {hset},
        {store->session_ttl_s ? expire : (const char *const[]){"PERSIST", key, NULL}},
        {(const char *const[]){"EXEC", NULL}},
    };
    struct redis_reply replies[sizeof commands / sizeof *commands];
    return redis_call_pipeline(r, commands, sizeof commands / sizeof *commands, a, replies, NULL);
}

int session_redis_write(struct redis_client *r, const struct conf_store *store, const char *agent,
                        const char *conversation, const char *id)
{
    struct arena a = {0};
    struct redis_reply hash;
    const char *const external = external_of(&a, agent, conversation);
    const enum session_redis_result found =
        read_hash(r, session_redis_key_of(&a, store, external), &a, &hash);
    int rc = found == SESSION_AWAY ? -1 : 0;
    if (rc == 0 && hash.type == REDIS_LIST)
        rc = write_hash(r, store, &a, external, id, field(&hash, "created_at"));
    arena_fini(&a);
    return rc;
}
