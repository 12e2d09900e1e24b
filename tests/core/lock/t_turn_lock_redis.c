/* SPDX-License-Identifier: MIT
 * Locks of conversations in a real Redis: one host has it, numbers only grow, and who lost a lock
 * writes no session. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes/buf.h"
#include "base/sys/log.h"
#include "core/lock/turn_lock_redis.h"
#include "core/settings/session_redis.h"
#include "fake/redis.h"
#include "tap/tap.h"

#define LOCK "bots:turncast_lock:tg:A"
#define FENCE "bots:turncast_fence:tg:A"
#define SESSION "bots:session:conv:main:-:tg:A"

static char path[400], prefix[] = "bots";
static struct conf_store store;
static struct redis_client *client;

/* One life of a host. */
struct life {
    struct turn_lock_redis redis;
    struct turn_lock_request last;
    int64_t others;
};

static struct life life(const char *host, const char *token)
{
    return (struct life){.redis = {.store = &store, .host = host, .token = token}, .others = -1};
}

/* "yes" or "no": whether it has the lock now. */
static const char *ask(struct life *l, enum turn_lock_verb verb)
{
    const int64_t fence = l->last.fence;
    l->last = (struct turn_lock_request){.verb = verb, .conversation = "tg:A", .fence = fence};
    if (turn_lock_redis_call(client, &l->redis, &l->last, 1, &l->others) < 0)
        return "away";
    return l->last.done ? "yes" : "no";
}

static enum session_redis_written keep(const char *host, const char *id, int64_t fence)
{
    return session_redis_write(
        client, &store,
        &(struct session_redis_value){
            .agent = "main", .conversation = "tg:A", .id = id, .fence = fence, .host = host});
}

static void forget_all(void)
{
    redis_cli("flushall");
}

static void test_exclusive(void)
{
    struct life a = life("a", "t1"), b = life("b", "t2");
    is_str(ask(&a, TURN_LOCK_ACQUIRE), "yes", "a free lock is taken");
    ok(!a.last.moved, "a free lock has not moved");
    is_int(a.others, 0, "no other host is known");
    const int64_t first = a.last.fence;
    ok(atoll(redis_cli("pttl " LOCK)) > 50000, "the lock expires");
    is_str(redis_cli("hget " FENCE " host"), "a", "the record names the host");
    is_str(ask(&b, TURN_LOCK_ACQUIRE), "no", "another host does not get the lock");
    is_int(b.others, 1, "the other host knows that there is another host");
    is_str(ask(&b, TURN_LOCK_RELEASE), "yes", "a release by the other host returns success");
    is_str(redis_cli("get " LOCK), "t1", "a release by the other host does not delete the lock");
    is_str(ask(&a, TURN_LOCK_RENEW), "yes", "the lock is renewed");
    is_int(a.last.fence, first, "the fence number stays the same");
    is_str(ask(&a, TURN_LOCK_RELEASE), "yes", "the lock is released");
    is_str(ask(&b, TURN_LOCK_ACQUIRE), "yes", "another host gets the released lock");
    ok(b.last.moved && b.last.fence == first + 1,
       "the lock has the next fence number, and has moved");
    is_str(ask(&a, TURN_LOCK_RENEW), "no", "the former holder cannot renew the lock");
    struct life next = life("b", "t3");
    is_str(ask(&next, TURN_LOCK_ACQUIRE), "yes", "a restarted host takes over its own lock");
    is_str(ask(&b, TURN_LOCK_RENEW), "no", "the earlier process of the host cannot renew the lock");
    forget_all();
}

static void test_expired(void)
{
    struct life a = life("a", "t1"), b = life("b", "t2");
    ask(&a, TURN_LOCK_ACQUIRE);
    redis_cli("del " LOCK); /* as its time does */
    is_str(ask(&a, TURN_LOCK_RENEW), "yes", "an expired lock is renewed");
    redis_cli("del " LOCK);
    is_str(ask(&b, TURN_LOCK_ACQUIRE), "yes", "another host takes an expired lock");
    redis_cli("del " LOCK);
    is_str(ask(&a, TURN_LOCK_RENEW), "no",
           "the former holder cannot renew it, even after it expired again");
    const int64_t last = b.last.fence;
    forget_all();
    is_str(ask(&a, TURN_LOCK_ACQUIRE), "yes", "a lock is taken after Redis lost its data");
    ok(a.last.fence > last, "the fence number is greater than before the loss");
    is_str(ask(&b, TURN_LOCK_RENEW), "no",
           "a former holder cannot renew a lock taken after the loss");
    forget_all();
    is_str(ask(&a, TURN_LOCK_RENEW), "yes",
           "the first host that renews its lock after a loss gets it");
    ok(atoll(redis_cli("ttl " FENCE)) > 86000, "the record outlives the lock");
    forget_all();
}

static void test_sessions(void)
{
    struct life a = life("a", "t1"), b = life("b", "t2");
    ask(&a, TURN_LOCK_ACQUIRE);
    is_int(keep("a", "s-1", a.last.fence), SESSION_WRITTEN, "a session is written under the lock");
    redis_cli("del " LOCK);
    is_int(keep("a", "s-2", a.last.fence), SESSION_WRITTEN,
           "a session is written after the lock expired");
    ask(&b, TURN_LOCK_ACQUIRE);
    is_int(keep("a", "s-3", a.last.fence), SESSION_REFUSED,
           "a session is refused when another host has the lock");
    is_int(keep("b", "s-4", b.last.fence), SESSION_WRITTEN,
           "a session of the other host is written");
    ask(&b, TURN_LOCK_RELEASE);
    is_int(keep("a", "s-3", a.last.fence), SESSION_REFUSED,
           "a session is refused after the other host released the lock");
    is_int(keep("a", "s-3", SESSION_FENCE_NONE), SESSION_REFUSED,
           "a session without a lock is refused when another host had the last lock");
    is_int(keep("b", "s-5", SESSION_FENCE_NONE), SESSION_WRITTEN,
           "a session without a lock is written when this host had the last lock");
    is_str(redis_cli("hget " SESSION " claude_session_id"), "s-5",
           "the newest session is in Redis");
    ask(&a, TURN_LOCK_ACQUIRE);
    is_int(keep("b", NULL, SESSION_FENCE_CHOSEN), SESSION_WRITTEN,
           "/new is written without the lock");
    is_int(keep("a", "s-6", a.last.fence), SESSION_REFUSED,
           "the running turn does not overwrite /new");
    is_str(redis_cli("hget " SESSION " status"), "completed", "the next turn has no session");
    ask(&a, TURN_LOCK_ACQUIRE);
    is_int(keep("a", "s-7", a.last.fence), SESSION_WRITTEN,
           "the session of the next turn is written");
    forget_all();
    is_int(keep("a", "s-8", SESSION_FENCE_NONE), SESSION_WRITTEN,
           "a session without any lock is written");
    is_int(keep("a", "s-9", 7), SESSION_REFUSED,
           "a session under a lock that Redis has lost is refused");
    redis_cli("del " SESSION);
    redis_cli("set " SESSION " text");
    is_int(keep("a", "s-8", SESSION_FENCE_CHOSEN), SESSION_WRITTEN,
           "a key of another type counts as written");
    is_str(redis_cli("get " SESSION), "text", "a key of another type is not changed");
    forget_all();
}

static void test_many(void)
{
    struct turn_lock_request all[TURN_LOCK_CALL_MAX];
    char names[TURN_LOCK_CALL_MAX][16];
    const struct turn_lock_redis a = {.store = &store, .host = "a", .token = "t1"};
    int64_t others = -1;
    size_t taken = 0;
    for (size_t i = 0; i < TURN_LOCK_CALL_MAX; i++) {
        snprintf(names[i], sizeof names[i], "c%zu", i / 2);
        all[i] = (struct turn_lock_request){.verb = TURN_LOCK_ACQUIRE, .conversation = names[i]};
    }
    is_int(turn_lock_redis_call(client, &a, all, TURN_LOCK_CALL_MAX, &others), 0,
           "many locks are taken with one call");
    for (size_t i = 0; i < TURN_LOCK_CALL_MAX; i++)
        taken += all[i].done && all[i].fence == all[i - i % 2].fence + (int64_t)(i % 2);
    is_int((long long)taken, TURN_LOCK_CALL_MAX, "each lock has its fence number");
    forget_all();
}

int main(void)
{
    plan_lazy();
    log_setup(LOG_TEXT, LOG_ERR, 2);
    if (!redis_is_installed()) {
        skip(1, "redis-cli is not installed");
        return 0;
    }
    snprintf(path, sizeof path, "%s", redis_socket());
    redis_start(NULL, NULL);
    store = (struct conf_store){
        .kind = CONF_REDIS, .path = path, .prefix = prefix, .session_ttl_s = 1000, .lock_s = 60};
    client = redis_new(&(struct redis_spec){.path = path, .call_ms = 20000});
    test_exclusive();
    test_expired();
    test_sessions();
    test_many();
    redis_kill();
    struct life a = life("a", "t1");
    is_str(ask(&a, TURN_LOCK_ACQUIRE), "away", "without Redis the state of a lock is unknown");
    redis_free(client);
    return 0;
}
