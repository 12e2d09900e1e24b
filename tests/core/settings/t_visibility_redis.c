/* SPDX-License-Identifier: MIT
 * Switches in Redis: agenticore's layout to the byte, both sides see each other's changes, and what
 * becomes of changes while it is away, or holds something else. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sys/clock.h"
#include "base/sys/log.h"
#include "core/settings/visibility_sqlite.h"
#include "core/settings/visibility_store.h"
#include "fake/redis.h"
#include "core/settings/shown.h"
#include "tap/tap.h"

#define KEY "agenticore:stream_config:"
#define SAVED "agenticore:stream_config_saved:"

static char state[400], prefix[] = "agenticore";
static struct conf conf;

/* A host on a machine of its own. */
static struct visibility_store *host(const char *name, const char *path)
{
    static char at[400];
    snprintf(at, sizeof at, "%s", path);
    snprintf(state, sizeof state, "%s/%s", tap_tmpdir(), name);
    conf = (struct conf){
        .state_dir = state,
        .show = {-1, -1, -1, -1, -1},
        .store = {.kind = CONF_REDIS, .path = at, .prefix = prefix},
    };
    return visibility_store_new(&conf);
}

static const char *load(struct visibility_store *s, const char *agent)
{
    struct tc_err err = {0};
    struct visibility v;
    return visibility_store_load(s, agent, &v, &err) < 0 ? err_format(&err) : show_of(v);
}

static struct tc_err err;

static enum visibility_store_result save(struct visibility_store *s, const char *agent,
                                         const char *bits)
{
    err = (struct tc_err){0};
    return visibility_store_save(s, agent, shown(bits), &err);
}

static bool is_due(void *arg)
{
    return redis_reconnect_delay_ms(visibility_store_redis(arg)) == 0;
}

static void comes_back(struct visibility_store *s)
{
    redis_start(NULL, NULL);
    tap_wait(is_due, s, 20000);
}

/* ---- the layout ---- */

static void test_layout(void)
{
    struct visibility_store *const s = host("one", redis_socket());
    is_str(load(s, "main"), "00111", "without a stored value the defaults are read");
    is_str(redis_cli("keys '*'"), "", "reading stores nothing");
    is_int(save(s, "main", "01101"), STICKY_SAVED, "saved: %s", err_format(&err));
    is_str(redis_cli("hgetall " KEY "main"),
           "show_thinking\n0\nshow_tools\n1\nshow_text\n1\nshow_narration\n0\nshow_final\n1",
           "the key has five fields in order, each 1 or 0");
    is_str(redis_cli("ttl " KEY "main"), "-1", "the key does not expire");
    is_str(redis_cli("type " KEY "main"), "hash", "the key is a hash");
    redis_cli("hset " KEY "main extra 1");
    save(s, "main", "11111");
    is_str(redis_cli("hlen " KEY "main"), "5", "saving removes other fields");
    is_str(load(s, "main"), "11111", "the saved value is read");
    is_str(load(s, NULL), "00111", "without an agent the defaults are read");
    visibility_store_free(s);
}

/* As agenticore writes and reads it. */
static void test_both_sides(void)
{
    struct visibility_store *const s = host("one", redis_socket());
    redis_cli("del " KEY "main");
    redis_cli("hset " KEY
              "main show_thinking 1 show_tools 0 show_text 1 show_narration 1 show_final 0");
    is_str(load(s, "main"), "10110", "a value stored by agenticore is read");
    save(s, "main", "11011");
    is_str(redis_cli("hmget " KEY "main show_text show_final"), "0\n1",
           "agenticore reads the saved value");
    struct visibility_store *const other = host("two", redis_socket());
    is_str(load(other, "main"), "11011", "another host reads the saved value");
    save(other, "main", "00000");
    is_str(load(s, "main"), "00000", "a value saved by the other host is read");
    visibility_store_free(other);
    visibility_store_free(s);
}

static void test_values(void)
{
    static const struct {
        const char *fields, *shown;
    } rows[] = {
        {"show_tools 1", "01111"},
        {"show_text 0", "00000"},
        {"show_text 0 show_final 1", "00001"},
        {"show_narration 0", "00101"},
        {"show_thinking TRUE show_tools Yes show_text on", "11111"},
        {"show_thinking False show_tools no show_text off", "00000"},
        {"later_switch maybe", "00111"},
    };
    struct visibility_store *const s = host("values", redis_socket());
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        redis_cli("del " KEY "v");
        redis_cli("hset " KEY "v %s", rows[i].fields);
        conf.show[0] = 1; /* something is persisted, so what is configured does not count */
        is_str(load(s, "v"), rows[i].shown, "%s", rows[i].fields);
        conf.show[0] = -1;
    }
    visibility_store_free(s);
}

/* ---- what is not ours ---- */

static void test_foreign(void)
{
    static const char *const rows[] = {"set " KEY "odd text", "rpush " KEY "odd a b",
                                       "hset " KEY "odd show_tools perhaps",
                                       "hset " KEY "odd show_tools ''"};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char name[20], before[200];
        snprintf(name, sizeof name, "odd%zu", i);
        struct visibility_store *const s = host(name, redis_socket());
        redis_cli("del " KEY "odd");
        redis_cli("%s", rows[i]);
        snprintf(before, sizeof before, "%s", redis_cli("dump " KEY "odd"));
        is_str(load(s, "odd"), "00111", "%s: the defaults are read", rows[i]);
        is_int(save(s, "odd", "11111"), STICKY_FAILED, "the value is not saved");
        has_str(err_format(&err), KEY "odd has an unexpected format", "the error names the key");
        is_str(redis_cli("dump " KEY "odd"), before, "the key is not overwritten");
        is_str(load(s, "odd"), "00111", "the defaults are read after the refused save");
        visibility_store_free(s);
    }
    redis_cli("del " KEY "odd");
    struct visibility_store *const s = host("odd0", redis_socket());
    is_int(save(s, "odd", "11111"), STICKY_SAVED, "a value is saved after the key was deleted");
    redis_cli("set " SAVED "odd rubbish");
    is_str(load(s, "odd"), "11111", "an invalid second key is ignored");
    visibility_store_free(s);
}

/* Logged to a file: once. */
static void test_told_once(void)
{
    char path[500];
    snprintf(path, sizeof path, "%s/log", tap_tmpdir());
    FILE *const f = fopen(path, "we");
    log_setup(LOG_TEXT, LOG_WARN, fileno(f));
    struct visibility_store *const s = host("once", redis_socket());
    redis_cli("set " KEY "odd2 text");
    for (int i = 0; i < 5; i++)
        load(s, "odd2");
    redis_kill();
    for (int i = 0; i < 5; i++)
        load(s, "any");
    comes_back(s);
    for (int i = 0; i < 5; i++)
        load(s, "any");
    visibility_store_free(s);
    fclose(f);
    log_setup(LOG_TEXT, LOG_ERR, 2);
    size_t n;
    char *const text = tap_slurp(path, &n);
    unsigned lines = 0;
    for (const char *p = text; (p = strchr(p, '\n')); p++)
        lines++;
    is_int(lines, 3, "an unexpected key, an outage and its end are logged once each: %s", text);
    free(text);
}

/* ---- away ---- */

static void test_away(void)
{
    struct visibility_store *s = host("away", redis_socket());
    save(s, "main", "01010");
    redis_cli("hset " KEY "main show_thinking 1");
    is_str(load(s, "main"), "11010", "a change by agenticore is read");
    redis_kill();
    is_str(load(s, "main"), "11010", "without Redis the last value is read");
    visibility_store_free(s);
    s = host("away", redis_socket());
    is_str(load(s, "main"), "11010", "without Redis the next host reads the last value");
    is_str(load(s, "unknown"), "00111", "without Redis an unknown agent has the defaults");
    is_int(save(s, "main", "11111"), VISIBILITY_STORE_SAVED_LOCALLY, "a change is stored locally");
    has_str(err_format(&err), "Redis", "the error names Redis: %s", err_format(&err));
    is_str(load(s, "main"), "11111", "the locally stored change is read");
    visibility_store_free(s);
    s = host("away", redis_socket());
    comes_back(s);
    is_str(redis_cli("hget " KEY "main show_narration"), "1",
           "Redis still has the old value of show_narration");
    is_str(redis_cli("hget " KEY "main show_text"), "0",
           "Redis still has the old value of show_text");
    visibility_store_sync(s);
    is_str(redis_cli("hvals " KEY "main"), "1\n1\n1\n1\n1",
           "the change is written to Redis after its start");
    is_str(load(s, "main"), "11111", "the change is read after the start of Redis");
    redis_cli("hset " KEY "main show_text 0");
    is_str(load(s, "main"), "11011", "a later change by agenticore is read");
    visibility_store_free(s);
}

/* Two hosts change the same while only one of them sees Redis. */
static void test_later_wins(void)
{
    struct visibility_row row = {.shown = shown("10101"), .unsaved = true};
    struct visibility_store *s = host("there", redis_socket());
    const int64_t before = (int64_t)(clock_wall_s() * 1000) - 5000;
    save(s, "both", "01010");
    visibility_store_free(s);
    s = host("here", redis_socket());
    row.saved_ms = before;
    is_int(visibility_sqlite_write(state, "both", &row, &err), 0,
           "an earlier local change is stored");
    is_str(load(s, "both"), "01010", "the later change of the other host is read");
    is_str(redis_cli("hvals " KEY "both"), "0\n1\n0\n1\n0", "Redis has the later change");
    row.saved_ms = before + 3600000;
    is_int(visibility_sqlite_write(state, "both", &row, &err), 0, "a later local change is stored");
    visibility_store_sync(s);
    is_str(load(s, "both"), "10101", "the later local change is read");
    is_str(redis_cli("hvals " KEY "both"), "1\n0\n1\n0\n1", "Redis has the later change");
    redis_cli("hset " KEY "both show_tools 1");
    row.saved_ms = before;
    is_int(visibility_sqlite_write(state, "both", &row, &err), 0,
           "a local change is stored while the value in Redis has no time");
    is_str(load(s, "both"), "10101",
           "the local change is read while the value in Redis has no time");
    redis_cli("del " KEY "both");
    is_int(visibility_sqlite_write(state, "both", &row, &err), 0,
           "a local change is stored while Redis has no value");
    visibility_store_sync(s);
    is_str(redis_cli("hvals " KEY "both"), "1\n0\n1\n0\n1", "the local change is written to Redis");
    visibility_store_free(s);
}

static void test_readonly(void)
{
    struct visibility_store *const s = host("readonly", redis_socket());
    save(s, "main", "00000");
    redis_cli("replicaof 127.0.0.1 1");
    is_str(load(s, "main"), "00000", "a replica is read");
    is_int(save(s, "main", "11111"), VISIBILITY_STORE_SAVED_LOCALLY,
           "a change on a replica is stored locally");
    has_str(err_format(&err), "READONLY", "the error says that the replica is read-only");
    is_str(load(s, "main"), "11111", "the locally stored change is read");
    redis_cli("replicaof no one");
    tap_wait(is_due, s, 20000);
    is_str(load(s, "main"), "11111", "the change is read when Redis is no replica any more");
    is_str(redis_cli("hvals " KEY "main"), "1\n1\n1\n1\n1",
           "the change is in Redis when it is no replica any more");
    visibility_store_free(s);
}

static void test_slow(void)
{
    struct visibility_store *const s = host("slow", redis_play());
    const int64_t began = clock_mono_ms();
    is_str(load(s, "main"), "00111", "without an answer of the server the defaults are read");
    ok(clock_mono_ms() - began < REDIS_CALL_MS + 2000, "the defaults are read in time");
    is_int(save(s, "main", "11111"), VISIBILITY_STORE_SAVED_LOCALLY, "a change is stored locally");
    is_str(load(s, "main"), "11111", "the locally stored change is read");
    redis_plays((struct played){"-MISCONF no disk\r\n-MISCONF no disk\r\n", 36, false, false});
    tap_wait(is_due, s, 20000);
    is_int(save(s, "main", "01111"), VISIBILITY_STORE_SAVED_LOCALLY,
           "after a MISCONF error a change is stored locally");
    redis_plays((struct played){":1\r\n:2\r\n", 8, false, false});
    tap_wait(is_due, s, 20000);
    is_str(load(s, "main"), "00111", "after a reply of another type the defaults are read");
    visibility_store_free(s);
    redis_play_end();
}

int main(void)
{
    plan_lazy();
    log_setup(LOG_TEXT, LOG_ERR, 2);
    test_slow();
    if (!redis_is_installed()) {
        skip(1, "redis-server is not installed");
        return 0;
    }
    redis_start(NULL, NULL);
    test_layout();
    test_both_sides();
    test_values();
    test_foreign();
    test_told_once();
    test_away();
    test_later_wins();
    test_readonly();
    redis_kill();
    return 0;
}
