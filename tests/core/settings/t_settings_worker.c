/* SPDX-License-Identifier: MIT
 * Switches and sessions as a host's loop asks for them: in time whatever Redis does, and what Redis
 * missed is told when it is back. */
#include "core/settings/settings_worker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sys/clock.h"
#include "base/sys/log.h"
#include "core/fake_ledger.h"
#include "core/settings/session_store.h"
#include "core/settings/visibility_cache.h"
#include "fake/redis.h"
#include "core/settings/shown.h"
#include "tap/tap.h"

#define KEY "agenticore:stream_config:main"
#define SESSION "agenticore:session:conv:main:-:tg:A"
#define SLACK_MS 2000
#define DEADLINE_MS 20000

static char state[400], prefix[] = "agenticore", name[] = "main", at[400];
static struct conf_agent agent = {.name = name};
static struct conf conf;

static struct host {
    struct loop *loop;
    struct journal_async journal;
    struct settings_worker *settings;
    struct visibility_cache *switches;
    struct session_store *sessions;
} host;

static void begin(const char *dir, const char *path)
{
    snprintf(state, sizeof state, "%s/%s", tap_tmpdir(), dir);
    snprintf(at, sizeof at, "%s", path ? path : "");
    conf = (struct conf){
        .agents = &agent,
        .n_agents = 1,
        .state_dir = state,
        .show = {-1, -1, -1, -1, -1},
        .store = {.kind = path ? CONF_REDIS : CONF_SQLITE,
                  .path = at,
                  .prefix = prefix,
                  .session_ttl_s = 1000},
    };
    host.loop = loop_new();
    host.journal = (struct journal_async){.loop = host.loop};
    host.settings = settings_worker_new(host.loop, &conf);
    host.switches = visibility_cache_new(host.settings, &conf);
    host.sessions = session_store_new(&host.journal, host.settings);
}

static void end(void)
{
    settings_worker_free(host.settings);
    session_store_free(host.sessions);
    visibility_cache_free(host.switches);
    loop_free(host.loop);
}

/* ---- asking, and waiting for the answer */

static struct {
    bool answered;
    char text[64];
    enum visibility_store_result saved;
    bool explained;
    int64_t took_ms;
} got;

static void spin(bool (*there)(const void *arg), const void *arg)
{
    const int64_t until = clock_mono_ms() + DEADLINE_MS;
    while (!there(arg) && clock_mono_ms() < until)
        loop_run_once(host.loop, 20);
}

static bool is_answered(const void *arg)
{
    (void)arg;
    return got.answered;
}

static void on_switches(void *ctx, struct visibility v)
{
    ok(!got.answered && ctx == &got, "the callback is called once");
    got.answered = true;
    snprintf(got.text, sizeof got.text, "%s", show_of(v));
}

static void on_saved(void *ctx, enum visibility_store_result saved, const char *why)
{
    got.explained = why;
    ok(!got.answered && ctx == &got, "the callback is called once");
    got.answered = true;
    got.saved = saved;
}

static void on_session(void *ctx, const char *id)
{
    ok(!got.answered && ctx == &got, "the callback is called once");
    got.answered = true;
    snprintf(got.text, sizeof got.text, "%s", id ? id : "(new)");
}

static const char *await(void)
{
    const int64_t began = clock_mono_ms();
    spin(is_answered, NULL);
    got.took_ms = clock_mono_ms() - began;
    if (!got.answered)
        bail("no answer");
    return got.text;
}

static const char *get(void)
{
    got.answered = false;
    visibility_cache_get(host.switches, name, on_switches, &got);
    return await();
}

static enum visibility_store_result set(const char *bits)
{
    got.answered = false;
    visibility_cache_set(host.switches, name, shown(bits), on_saved, &got);
    await();
    return got.saved;
}

static const char *find(void)
{
    got.answered = false;
    session_store_find(host.sessions, name, "tg:A", on_session, &got);
    return await();
}

static void keep(const char *id)
{
    session_store_save(host.sessions, name, "tg:A", id, SESSION_FENCE_CHOSEN);
}

static bool has_printed(const void *line)
{
    const char *const *const l = line;
    return strcmp(redis_cli("%s", l[0]), l[1]) == 0;
}

/* Redis gets it within a few back-offs, without anybody asking. */
static void await_redis(const char *words, const char *printed, const char *what)
{
    const char *const line[] = {words, printed};
    spin(has_printed, line);
    is_str(redis_cli("%s", words), printed, "%s", what);
}

/* ---- without Redis ---- */

static void test_local(void)
{
    begin("local", NULL);
    is_str(get(), "00111", "the default visibility");
    is_int(set("01010"), STICKY_SAVED, "the visibility is changed");
    is_str(get(), "01010", "the changed visibility is read");
    struct visibility_store *const command = visibility_store_new(&conf);
    is_int(visibility_store_save(command, name, shown("11111"), NULL), STICKY_SAVED,
           "another process changes the visibility");
    visibility_store_free(command);
    is_str(get(), "11111", "the host reads the change of the other process");
    is_str(find(), "(new)", "a conversation without a session");
    keep("s-1");
    is_str(find(), "s-1", "a stored session is read");
    is_str(host.journal.key, "session:main:tg:A", "the session is in the ledger");
    session_store_delete(host.sessions, name, "tg:A");
    is_str(find(), "(new)", "a deleted session is not read");
    end();
    begin("other", NULL);
    is_str(get(), "00111", "the visibility before new defaults");
    conf.show[1] = 1;
    settings_worker_set_defaults(host.settings, &conf);
    is_str(get(), "01111", "new defaults apply at once");
    end();
}

/* ---- a server that is played ---- */

static void test_slow(void)
{
    const char *const path = redis_play(); /* it says nothing */
    begin("slow", path);
    is_str(get(), "00111", "without an answer of the server the default visibility is read");
    ok(got.took_ms < REDIS_CALL_MS + SLACK_MS, "the answer comes in time: %d ms", (int)got.took_ms);
    is_int(set("11111"), VISIBILITY_STORE_SAVED_LOCALLY, "a change is stored locally");
    ok(got.took_ms < REDIS_CALL_MS + SLACK_MS, "the answer comes in time: %d ms", (int)got.took_ms);
    is_str(get(), "11111", "a locally stored change is read");
    keep("s-1");
    is_str(find(), "s-1", "without an answer of the server the session is read from the ledger");
    ok(got.took_ms < REDIS_CALL_MS + SLACK_MS, "the answer comes in time: %d ms", (int)got.took_ms);
    for (int i = 0; i < 50; i++)
        session_store_save(host.sessions, name, "tg:B", "s-2", SESSION_FENCE_CHOSEN);
    const int64_t began = clock_mono_ms();
    end();
    ok(clock_mono_ms() - began < SLACK_MS, "the worker ends without waiting for the server");
    begin("slow", path);
    is_str(get(), "11111", "the next host reads the locally stored change");
    end();
    redis_play_end();
}

/* ---- the real one ---- */

static void test_sessions(void)
{
    begin("sessions", redis_socket());
    is_str(find(), "(new)", "a conversation without a session");
    keep("s-1");
    is_str(find(), "s-1", "a stored session is read");
    is_str(redis_cli("hget " SESSION " external_uuid"), "conv:main:-:tg:A",
           "the session has the external_uuid of agenticore");
    is_str(redis_cli("hmget " SESSION " claude_session_id session_type status"),
           "s-1\npersistent\nactive", "the session has the fields of agenticore");
    is_int((long long)strlen(redis_cli("hget " SESSION " created_at")), 32,
           "the session has its creation time: %s", redis_cli("hget " SESSION " created_at"));
    is_str(redis_cli("hlen " SESSION), "6", "the session has six fields");
    ok(atoi(redis_cli("ttl " SESSION)) > 990, "the session expires");
    char created[64];
    snprintf(created, sizeof created, "%s", redis_cli("hget " SESSION " created_at"));
    redis_cli("expire " SESSION " 5");
    session_store_save(host.sessions, name, "tg:A", "s-1", SESSION_FENCE_CHOSEN);
    is_str(find(), "s-1", "a session that is saved again is read");
    ok(atoi(redis_cli("ttl " SESSION)) > 990, "saving again extends the expiry time");
    is_str(redis_cli("hget " SESSION " created_at"), created,
           "saving again keeps the creation time");
    redis_cli("hset " SESSION " claude_session_id s-2");
    is_str(find(), "s-2", "a session stored by another host is read");
    redis_cli("hset " SESSION " status failed");
    is_str(find(), "(new)", "a failed session is not read");
    redis_cli("del " SESSION);
    is_str(find(), "s-1", "a session that Redis has lost is read from the ledger");
    session_store_delete(host.sessions, name, "tg:A");
    is_str(find(), "(new)", "a deleted session is not read");
    is_str(redis_cli("hget " SESSION " status"), "completed",
           "a deleted session has the status completed");
    redis_cli("del " SESSION);
    redis_cli("set " SESSION " text");
    keep("s-3");
    is_str(find(), "s-3", "a session is read although the Redis key has another type");
    is_str(redis_cli("get " SESSION), "text", "a Redis key of another type is not changed");
    redis_cli("del " SESSION);
    end();
}

static void test_outage(void)
{
    begin("outage", redis_socket());
    set("00000");
    is_str(redis_cli("hvals " KEY), "0\n0\n0\n0\n0", "Redis has the visibility before the outage");
    keep("s-1");
    find();
    redis_kill();
    is_str(get(), "00000", "without Redis the last visibility is read");
    is_str(find(), "s-1", "without Redis the session is read");
    is_int(set("10101"), VISIBILITY_STORE_SAVED_LOCALLY, "a change is stored locally");
    is_str(get(), "10101", "a locally stored change is read");
    keep("s-2");
    is_str(find(), "s-2", "a session stored without Redis is read");
    redis_start(NULL, NULL);
    await_redis("hvals " KEY, "1\n0\n1\n0\n1", "Redis has the change after its start");
    await_redis("hget " SESSION " claude_session_id", "s-2",
                "Redis has the session after its start");
    is_str(get(), "10101", "the change is read after the start of Redis");
    end();
}

static void test_down_at_start(void)
{
    redis_kill();
    begin("outage", redis_socket());
    is_str(get(), "10101", "a host that starts without Redis reads its copy");
    is_int(set("01010"), VISIBILITY_STORE_SAVED_LOCALLY, "a change is stored locally");
    end();
    redis_start(NULL, NULL);
    begin("outage", redis_socket());
    await_redis("hvals " KEY, "0\n1\n0\n1\n0", "the next host writes the change to Redis");
    end();
}

int main(void)
{
    plan_lazy();
    log_setup(LOG_TEXT, LOG_ERR, 2);
    test_local();
    test_slow();
    if (!redis_is_installed()) {
        skip(1, "redis-cli is not installed");
        return 0;
    }
    redis_start(NULL, NULL);
    test_sessions();
    test_outage();
    test_down_at_start();
    redis_kill();
    return 0;
}
