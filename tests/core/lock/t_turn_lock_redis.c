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
    ok(!a.last.moved, "nobody had it before");
    is_int(a.others, 0, "no other host is known");
    const int64_t first = a.last.fence;
    ok(atoll(redis_cli("pttl " LOCK)) > 50000, "it ends by itself");
    is_str(redis_cli("hget " FENCE " host"), "a", "and says whose it is");
    is_str(ask(&b, TURN_LOCK_ACQUIRE), "no", "another host does not get it");
    is_int(b.others, 1, "and knows that it is not alone");
    is_str(ask(&b, TURN_LOCK_RELEASE), "yes", "nor may it");
    is_str(redis_cli("get " LOCK), "t1", "drop it");
    is_str(ask(&a, TURN_LOCK_RENEW), "yes", "it is renewed");
    is_int(a.last.fence, first, "under the same number");
    is_str(ask(&a, TURN_LOCK_RELEASE), "yes", "it is dropped");
    is_str(ask(&b, TURN_LOCK_ACQUIRE), "yes", "then another host gets it");
    ok(b.last.moved && b.last.fence == first + 1, "with the next number, told that it has moved");
    is_str(ask(&a, TURN_LOCK_RENEW), "no", "and who had it does not get it back");
    struct life next = life("b", "t3");
    is_str(ask(&next, TURN_LOCK_ACQUIRE), "yes",
           "the next life of a host takes the lock of the last");
    is_str(ask(&b, TURN_LOCK_RENEW), "no", "for good");
    forget_all();
}

static void test_expired(void)
{
    struct life a = life("a", "t1"), b = life("b", "t2");
    ask(&a, TURN_LOCK_ACQUIRE);
    redis_cli("del " LOCK); /* as its time does */
    is_str(ask(&a, TURN_LOCK_RENEW), "yes", "a lock that has ended is renewed");
    redis_cli("del " LOCK);
    is_str(ask(&b, TURN_LOCK_ACQUIRE), "yes", "unless another host was first");
    redis_cli("del " LOCK);
    is_str(ask(&a, TURN_LOCK_RENEW), "no", "although that one has ended, too");
    const int64_t last = b.last.fence;
    forget_all();
    is_str(ask(&a, TURN_LOCK_ACQUIRE), "yes", "a Redis that lost all");
    ok(a.last.fence > last, "goes on with greater numbers");
    is_str(ask(&b, TURN_LOCK_RENEW), "no", "so that who had a lock before has none");
    forget_all();
    is_str(ask(&a, TURN_LOCK_RENEW), "yes", "unless it is the first that comes back");
    ok(atoll(redis_cli("ttl " FENCE)) > 86000, "the record outlasts the lock");
    forget_all();
}

static void test_sessions(void)
{
    struct life a = life("a", "t1"), b = life("b", "t2");
    ask(&a, TURN_LOCK_ACQUIRE);
    is_int(keep("a", "s-1", a.last.fence), SESSION_WRITTEN, "a session under the lock");
    redis_cli("del " LOCK);
    is_int(keep("a", "s-2", a.last.fence), SESSION_WRITTEN, "also when that has just ended");
    ask(&b, TURN_LOCK_ACQUIRE);
    is_int(keep("a", "s-3", a.last.fence), SESSION_REFUSED, "not when another host has it");
    is_int(keep("b", "s-4", b.last.fence), SESSION_WRITTEN, "which goes on");
    ask(&b, TURN_LOCK_RELEASE);
    is_int(keep("a", "s-3", a.last.fence), SESSION_REFUSED, "nor after that");
    is_int(keep("a", "s-3", SESSION_FENCE_NONE), SESSION_REFUSED,
           "nor of a turn without a lock, when another host had one");
    is_int(keep("b", "s-5", SESSION_FENCE_NONE), SESSION_WRITTEN, "but if this one had the last");
    is_str(redis_cli("hget " SESSION " claude_session_id"), "s-5", "what was written last");
    ask(&a, TURN_LOCK_ACQUIRE);
    is_int(keep("b", NULL, SESSION_FENCE_CHOSEN), SESSION_WRITTEN, "a person begins anew");
    is_int(keep("a", "s-6", a.last.fence), SESSION_REFUSED, "which the turn that runs respects");
    is_str(redis_cli("hget " SESSION " status"), "completed", "so the next one has no session");
    ask(&a, TURN_LOCK_ACQUIRE);
    is_int(keep("a", "s-7", a.last.fence), SESSION_WRITTEN, "but its own");
    forget_all();
    is_int(keep("a", "s-8", SESSION_FENCE_NONE), SESSION_WRITTEN, "without any lock");
    is_int(keep("a", "s-9", 7), SESSION_REFUSED, "a lock that Redis has lost");
    redis_cli("del " SESSION);
    redis_cli("set " SESSION " text");
    is_int(keep("a", "s-8", SESSION_FENCE_CHOSEN), SESSION_WRITTEN, "what is not ours");
    is_str(redis_cli("get " SESSION), "text", "is left alone");
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
    is_int(turn_lock_redis_call(client, &a, all, TURN_LOCK_CALL_MAX, &others), 0, "many at once");
    for (size_t i = 0; i < TURN_LOCK_CALL_MAX; i++)
        taken += all[i].done && all[i].fence == all[i - i % 2].fence + (int64_t)(i % 2);
    is_int((long long)taken, TURN_LOCK_CALL_MAX, "each with its number");
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
    is_str(ask(&a, TURN_LOCK_ACQUIRE), "away", "without Redis nothing is known");
    redis_free(client);
    return 0;
}
