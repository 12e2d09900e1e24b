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
    ok(!got.answered && ctx == &got, "once");
    got.answered = true;
    snprintf(got.text, sizeof got.text, "%s", show_of(v));
}

static void on_saved(void *ctx, enum visibility_store_result saved, const char *why)
{
    got.explained = why;
    ok(!got.answered && ctx == &got, "once");
    got.answered = true;
    got.saved = saved;
}

static void on_session(void *ctx, const char *id)
{
    ok(!got.answered && ctx == &got, "once");
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
    is_str(get(), "00111", "the defaults");
    is_int(set("01010"), STICKY_SAVED, "changed");
    is_str(get(), "01010", "and seen");
    struct visibility_store *const command = visibility_store_new(&conf);
    is_int(visibility_store_save(command, name, shown("11111"), NULL), STICKY_SAVED,
           "a command changes it beside the host");
    visibility_store_free(command);
    is_str(get(), "11111", "which the host sees");
    is_str(find(), "(new)", "no session");
    keep("s-1");
    is_str(find(), "s-1", "one is kept");
    is_str(host.journal.key, "session:main:tg:A", "in the ledger");
    session_store_delete(host.sessions, name, "tg:A");
    is_str(find(), "(new)", "and forgotten");
    end();
    begin("other", NULL);
    is_str(get(), "00111", "another configuration...");
    conf.show[1] = 1;
    settings_worker_set_defaults(host.settings, &conf);
    is_str(get(), "01111", "...is in effect at once");
    end();
}

/* ---- a server that is played ---- */

static void test_slow(void)
{
    const char *const path = redis_play(); /* it says nothing */
    begin("slow", path);
    is_str(get(), "00111", "a server that says nothing: what is known");
    ok(got.took_ms < REDIS_CALL_MS + SLACK_MS, "in time: %d ms", (int)got.took_ms);
    is_int(set("11111"), VISIBILITY_STORE_SAVED_LOCALLY, "a change is kept");
    ok(got.took_ms < REDIS_CALL_MS + SLACK_MS, "in time: %d ms", (int)got.took_ms);
    is_str(get(), "11111", "and counts");
    keep("s-1");
    is_str(find(), "s-1", "a session is that of the ledger");
    ok(got.took_ms < REDIS_CALL_MS + SLACK_MS, "in time: %d ms", (int)got.took_ms);
    for (int i = 0; i < 50; i++)
        session_store_save(host.sessions, name, "tg:B", "s-2", SESSION_FENCE_CHOSEN);
    const int64_t began = clock_mono_ms();
    end();
    ok(clock_mono_ms() - began < SLACK_MS, "the end does not wait for it");
    begin("slow", path);
    is_str(get(), "11111", "the next host knows it from the start");
    end();
    redis_play_end();
}

/* ---- the real one ---- */

static void test_sessions(void)
{
    begin("sessions", redis_socket());
    is_str(find(), "(new)", "no session");
    keep("s-1");
    is_str(find(), "s-1", "one is kept");
    is_str(redis_cli("hget " SESSION " external_uuid"), "conv:main:-:tg:A", "agenticore's fields:");
    is_str(redis_cli("hmget " SESSION " claude_session_id session_type status"),
           "s-1\npersistent\nactive", "what it is");
    is_int((long long)strlen(redis_cli("hget " SESSION " created_at")), 32, "since when: %s",
           redis_cli("hget " SESSION " created_at"));
    is_str(redis_cli("hlen " SESSION), "6", "six");
    ok(atoi(redis_cli("ttl " SESSION)) > 990, "and an end");
    char created[64];
    snprintf(created, sizeof created, "%s", redis_cli("hget " SESSION " created_at"));
    redis_cli("expire " SESSION " 5");
    session_store_save(host.sessions, name, "tg:A", "s-1", SESSION_FENCE_CHOSEN);
    is_str(find(), "s-1", "when it is used again");
    ok(atoi(redis_cli("ttl " SESSION)) > 990, "that begins anew");
    is_str(redis_cli("hget " SESSION " created_at"), created, "but not its beginning");
    redis_cli("hset " SESSION " claude_session_id s-2");
    is_str(find(), "s-2", "another host went on with another one");
    redis_cli("hset " SESSION " status failed");
    is_str(find(), "(new)", "or failed");
    redis_cli("del " SESSION);
    is_str(find(), "s-1", "lost there, it is known here");
    session_store_delete(host.sessions, name, "tg:A");
    is_str(find(), "(new)", "forgotten");
    is_str(redis_cli("hget " SESSION " status"), "completed", "for all");
    redis_cli("del " SESSION);
    redis_cli("set " SESSION " text");
    keep("s-3");
    is_str(find(), "s-3", "what is not ours is no session");
    is_str(redis_cli("get " SESSION), "text", "and is left alone");
    redis_cli("del " SESSION);
    end();
}

static void test_outage(void)
{
    begin("outage", redis_socket());
    set("00000");
    is_str(redis_cli("hvals " KEY), "0\n0\n0\n0\n0", "before");
    keep("s-1");
    find();
    redis_kill();
    is_str(get(), "00000", "while it is dead: what is known");
    is_str(find(), "s-1", "and the session");
    is_int(set("10101"), VISIBILITY_STORE_SAVED_LOCALLY, "a change is kept");
    is_str(get(), "10101", "and counts");
    keep("s-2");
    is_str(find(), "s-2", "a session, too");
    redis_start(NULL, NULL);
    await_redis("hvals " KEY, "1\n0\n1\n0\n1", "Redis gets the change when it is back");
    await_redis("hget " SESSION " claude_session_id", "s-2", "and the session");
    is_str(get(), "10101", "it still counts");
    end();
}

static void test_down_at_start(void)
{
    redis_kill();
    begin("outage", redis_socket());
    is_str(get(), "10101", "down at the start: the copy");
    is_int(set("01010"), VISIBILITY_STORE_SAVED_LOCALLY, "a change is kept");
    end();
    redis_start(NULL, NULL);
    begin("outage", redis_socket());
    await_redis("hvals " KEY, "0\n1\n0\n1\n0", "the next host tells it, unasked");
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
