/* SPDX-License-Identifier: MIT
 * Owns the scripts of the locks of conversations. */
#include "core/lock/turn_lock_redis.h"

#include <inttypes.h>

#include "base/invariant.h"
#include "base/sys/clock.h"
#include "core/settings/session_redis.h"

/* Keys: lock, record. Arguments: token, milliseconds, host, seconds of the record, and the number
 * or, of take, the one to begin with: the time, so that numbers grow although Redis lost them. */
#define KEEP_RECORD                                                                                \
    "if ARGV[4] == '0' then redis.call('PERSIST', KEYS[2]) "                                       \
    "else redis.call('EXPIRE', KEYS[2], ARGV[4]) end "

static const char acquire_script[] =
    "local held, last = redis.call('GET', KEYS[1]), redis.call('HGET', KEYS[2], 'host') "
    "if held and held ~= ARGV[1] and last ~= ARGV[3] then return {0, 0, 0} end "
    "if held then redis.call('DEL', KEYS[1]) end "
    "redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) "
    "local n = redis.call('HINCRBY', KEYS[2], 'n', 1) "
    "if n == 1 then n = tonumber(ARGV[5]) redis.call('HSET', KEYS[2], 'n', ARGV[5]) end "
    "redis.call('HSET', KEYS[2], 'host', ARGV[3]) " KEEP_RECORD
    "return {1, n, last and last ~= ARGV[3] and 1 or 0}";

static const char renew_script[] =
    "local held, n = redis.call('GET', KEYS[1]), redis.call('HGET', KEYS[2], 'n') "
    "if (n and n ~= ARGV[5]) or (held and held ~= ARGV[1]) then return {0, 0, 0} end "
    "redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]) "
    "redis.call('HSET', KEYS[2], 'n', ARGV[5], 'host', ARGV[3]) " KEEP_RECORD
    "return {1, tonumber(ARGV[5]), 0}";

static const char release_script[] =
    "if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end "
    "return {1, 0, 0}";

/* Key: the hosts. Arguments: host, now, and since when a host counts. */
static const char register_script[] = "redis.call('ZADD', KEYS[1], ARGV[2], ARGV[1]) "
                                      "redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', ARGV[3]) "
                                      "return redis.call('ZCARD', KEYS[1]) - 1";

static const char *format_number(struct arena *a, int64_t number)
{
    return arena_sprintf(a, "%" PRId64, number);
}

static int64_t turn_lock_redis_now_ms(void)
{
    return (int64_t)(clock_wall_s() * 1000);
}

#define WORDS 11

static const char *const *turn_lock_redis_words(struct arena *a, const struct turn_lock_redis *l,
                                                const struct turn_lock_request *q)
{
    static const char *const scripts[] = {[TURN_LOCK_ACQUIRE] = acquire_script,
                                          [TURN_LOCK_RENEW] = renew_script,
                                          [TURN_LOCK_RELEASE] = release_script};
    const struct conf_store *const s = l->store;
    const int64_t day = 86400, keep = s->session_ttl_s;
    const char **const words = arena_alloc(a, WORDS * sizeof *words);
    size_t n = 0;
    words[n++] = "EVAL";
    words[n++] = scripts[q->verb];
    words[n++] = "2";
    words[n++] = arena_sprintf(a, "%s:turncast_lock:%s", s->prefix, q->conversation);
    words[n++] = session_redis_fence_key(a, s, q->conversation);
    words[n++] = l->token;
    words[n++] = format_number(a, s->lock_s * 1000);
    words[n++] = l->host;
    words[n++] = format_number(a, keep && keep < day ? day : keep);
    words[n++] =
        format_number(a, q->verb == TURN_LOCK_ACQUIRE ? turn_lock_redis_now_ms() : q->fence);
    words[n++] = NULL;
    ASSERT(n == WORDS);
    return words;
}

static const char *const *turn_lock_redis_register_words(struct arena *a,
                                                         const struct turn_lock_redis *l)
{
    const int64_t now = turn_lock_redis_now_ms();
    const char **const words = arena_alloc(a, WORDS * sizeof *words);
    size_t n = 0;
    words[n++] = "EVAL";
    words[n++] = register_script;
    words[n++] = "1";
    words[n++] = arena_sprintf(a, "%s:turncast_hosts", l->store->prefix);
    words[n++] = l->host;
    words[n++] = format_number(a, now);
    words[n++] = format_number(a, now - TURN_LOCK_HOST_MS);
    words[n++] = NULL;
    ASSERT(n <= WORDS);
    return words;
}

static void turn_lock_redis_read_reply(struct turn_lock_request *q, const struct redis_reply *reply)
{
    const bool whole = reply->type == REDIS_LIST && reply->n == 3;
    q->done = whole && reply->items[0].number == 1;
    if (q->verb != TURN_LOCK_ACQUIRE || !q->done)
        return;
    q->fence = reply->items[1].number;
    q->moved = reply->items[2].number == 1;
}

int turn_lock_redis_call(struct redis_client *r, const struct turn_lock_redis *l,
                         struct turn_lock_request *requests, size_t n, int64_t *others)
{
    ASSERT(n <= TURN_LOCK_CALL_MAX);
    struct arena a = {0};
    struct redis_command commands[TURN_LOCK_CALL_MAX + 1];
    struct redis_reply replies[TURN_LOCK_CALL_MAX + 1];
    for (size_t i = 0; i < n; i++)
        commands[i].words = turn_lock_redis_words(&a, l, &requests[i]);
    commands[n].words = turn_lock_redis_register_words(&a, l);
    const int rc = redis_call_pipeline(r, commands, n + 1, &a, replies, NULL);
    for (size_t i = 0; rc == 0 && i < n; i++)
        turn_lock_redis_read_reply(&requests[i], &replies[i]);
    if (rc == 0)
        *others = replies[n].type == REDIS_NUMBER ? replies[n].number : 0;
    arena_fini(&a);
    return rc;
}
