/* SPDX-License-Identifier: MIT
 * The connection to Redis: what a server may do to it, and that a call ends in time all the same.
 */
#include "io/redis/redis.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sys/clock.h"
#include "base/sys/log.h"
#include "fake/redis.h"
#include "tap/tap.h"

#define SLACK_MS 2000 /* a busy machine, a sanitizer */

static struct arena arena;
static struct redis_reply replies[2];
static struct tc_err err;

static int ask(struct redis_client *r, const char *const *words)
{
    const struct redis_command commands[] = {{words}};
    arena_reset(&arena);
    err = (struct tc_err){0};
    return redis_call_pipeline(r, commands, 1, &arena, replies, &err);
}

#define ASK(r, ...) ask(r, (const char *const[]){__VA_ARGS__, NULL})

static struct redis_client *open_at(const char *path)
{
    return redis_new(&(struct redis_spec){.path = path});
}

static bool is_due(void *arg)
{
    return redis_reconnect_delay_ms(arg) == 0;
}

/* ---- a server that is played ---- */

static char *deep, *large;

/* What it says, and what is said of it. */
static void test_bad_replies(const char *path)
{
    const struct {
        const char *name;
        struct played what;
        const char *said;
    } rows[] = {
        {"nothing", {"", 0, false, false}, "no reply within 200 ms"},
        {"nothing, and closes", {"", 0, false, true}, "Server closed the connection"},
        {"a length of 1e12", {"$999999999999\r\n", 15, false, false}, "no reply within 200 ms"},
        {"a length beyond all", {"$99999999999999999999\r\n", 23, false, true}, NULL},
        {"a negative length", {"$-7\r\n", 5, false, true}, NULL},
        {"a list of 2^31-1", {"*2147483647\r\n", 13, false, false}, "Out of memory"},
        {"a list of 1e12", {"*999999999999\r\n", 15, false, false}, NULL},
        {"a list of 1025", {"*1025\r\n", 7, false, false}, "Out of memory"},
        {"lists in lists", {deep, 4000000, false, false}, "No support for nested"},
        {"a text of 4 MB", {large, 4000000, false, false}, "a reply exceeds the limit"},
        {"another protocol", {"HTTP/1.1 200 OK\r\n\r\n", 19, false, false}, "Protocol error"},
        {"a byte each 20 ms",
         {"$100\r\naaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", 40, true, false},
         "no reply within 200 ms"},
        {"READONLY", {"-READONLY You can't write\r\n", 27, false, false}, "READONLY"},
        {"MOVED", {"-MOVED 3999 127.0.0.1:6381\r\n", 28, false, false}, "MOVED"},
        {"LOADING", {"-LOADING Redis is loading\r\n", 27, false, false}, "LOADING"},
        {"NOAUTH", {"-NOAUTH Authentication\r\n", 24, false, false}, "NOAUTH"},
        {"MISCONF", {"-MISCONF Redis is\r\n", 19, false, false}, "MISCONF"},
        {"an error in a list", {"*1\r\n-OOM command not allowed\r\n", 30, false, false}, "OOM"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct redis_client *const r = open_at(path);
        redis_plays(rows[i].what);
        const int64_t began = clock_mono_ms();
        is_int(ASK(r, "PING"), -1, "%s: the call fails", rows[i].name);
        const int64_t took = clock_mono_ms() - began;
        ok(took < REDIS_CALL_MS + SLACK_MS, "the call fails in time: %d ms", (int)took);
        if (rows[i].said)
            has_str(err_format(&err), rows[i].said, "the error has the reason");
        ok(redis_is_down(r) && redis_reconnect_delay_ms(r) > 0, "the connection is down");
        redis_free(r);
    }
}

static void test_every_cut(const char *path)
{
    static const char whole[] = "*2\r\n$3\r\nabc\r\n*2\r\n:-5\r\n$-1\r\n";
    unsigned failed = 0;
    for (size_t n = 0; n < sizeof whole - 1; n++) {
        struct redis_client *const r = open_at(path);
        redis_plays((struct played){whole, n, false, true});
        failed += ASK(r, "PING") < 0;
        redis_free(r);
    }
    is_int(failed, sizeof whole - 1, "a reply that is cut at any position is refused");
    struct redis_client *const r = open_at(path);
    redis_plays((struct played){whole, sizeof whole - 1, false, false});
    is_int(ASK(r, "PING"), 0, "the complete reply is read: %s", err_format(&err));
    const struct redis_reply *const items = replies[0].items;
    ok(replies[0].type == REDIS_LIST && replies[0].n == 2, "the reply is a list");
    is_str(items[0].text.p, "abc", "the first element is a text");
    ok(items[1].items[0].type == REDIS_NUMBER && items[1].items[0].number == -5,
       "the second element has a number");
    is_int(items[1].items[1].type, REDIS_NOTHING, "nothing");
    redis_free(r);
}

static void test_back_off(const char *path)
{
    struct redis_client *const r = open_at(path);
    redis_plays((struct played){"", 0, false, true});
    ASK(r, "PING");
    const unsigned before = redis_play_count();
    const int64_t first = redis_reconnect_delay_ms(r);
    for (int i = 0; i < 100; i++)
        ASK(r, "PING");
    is_int(redis_play_count(), before, "during the back-off no connection is opened");
    is_str(err_format(&err), "Redis: away", "during the back-off the error says so");
    tap_wait(is_due, r, 20000);
    ASK(r, "PING");
    ok(redis_reconnect_delay_ms(r) > first, "the back-off grows with each failure");
    redis_plays((struct played){"+PONG\r\n", 7, false, false});
    tap_wait(is_due, r, 20000);
    is_int(ASK(r, "PING"), 0, "after the back-off a call succeeds");
    ok(!redis_is_down(r), "the connection is not down");
    redis_free(r);
}

static void test_secret(const char *path)
{
    struct redis_client *const r =
        redis_new(&(struct redis_spec){.path = path, .password = "do not tell anybody"});
    redis_plays((struct played){"-WRONGPASS invalid username-password pair\r\n", 43, false, false});
    is_int(ASK(r, "PING"), -1, "a call with a wrong password fails");
    ok(!strstr(err_format(&err), "anybody"), "the error does not have the password: %s",
       err_format(&err));
    redis_free(r);
}

static void test_played(void)
{
    const char *const path = redis_play();
    test_bad_replies(path);
    test_every_cut(path);
    test_back_off(path);
    test_secret(path);
    redis_play_end();
}

/* ---- the real one ---- */

static void test_commands(void)
{
    struct redis_client *const r = open_at(redis_socket());
    is_int(ASK(r, "SET", "k", "a b\r\n\xff"), 0, "a text with any bytes is stored: %s",
           err_format(&err));
    is_int(ASK(r, "GET", "k"), 0, "the text is read");
    is_mem(replies[0].text.p, replies[0].text.len, "a b\r\n\xff", 6, "the text is unchanged");
    ASK(r, "GET", "none");
    is_int(replies[0].type, REDIS_NOTHING, "a missing key is a nil reply");
    is_int(ASK(r, "HGETALL", "k"), 0, "a key of another type is a reply");
    is_int(replies[0].type, REDIS_WRONG_TYPE, "the reply has the type wrong type");
    is_int(ASK(r, "NO-SUCH-COMMAND"), -1, "an unknown command is a failure");
    redis_free(r);
}

static void test_database(void)
{
    struct redis_client *const r =
        redis_new(&(struct redis_spec){.path = redis_socket(), .database = 3});
    is_int(ASK(r, "SET", "in3", "x"), 0, "a text is stored in another database: %s",
           err_format(&err));
    is_str(redis_cli("-n 3 get in3"), "x", "the other database has the text");
    is_str(redis_cli("get in3"), "", "the default database does not have the text");
    redis_free(r);
    struct redis_client *const none =
        redis_new(&(struct redis_spec){.path = redis_socket(), .database = 9});
    is_int(ASK(none, "GET", "k"), -1, "a database that does not exist is a failure");
    has_str(err_format(&err), "DB index is out of range", "says so");
    redis_free(none);
}

static void test_restart(void)
{
    struct redis_client *const r = open_at(redis_socket());
    is_int(ASK(r, "SET", "k", "1"), 0, "a call before the restart succeeds");
    redis_kill();
    redis_start(NULL, NULL);
    is_int(ASK(r, "GET", "k"), 0, "a restart between two calls is not noticed: %s",
           err_format(&err));
    redis_kill();
    is_int(ASK(r, "GET", "k"), -1, "a call without a server fails");
    has_str(err_format(&err), "Redis", "that is told: %s", err_format(&err));
    redis_start(NULL, NULL);
    tap_wait(is_due, r, 20000);
    is_int(ASK(r, "GET", "k"), 0, "a call after the start succeeds");
    redis_free(r);
    redis_kill();
}

static void test_password(void)
{
    redis_start("--requirepass", "right word");
    struct redis_client *const none = open_at(redis_socket());
    is_int(ASK(none, "GET", "k"), -1, "a call without a password fails");
    has_str(err_format(&err), "NOAUTH", "NOAUTH");
    redis_free(none);
    struct redis_client *const r =
        redis_new(&(struct redis_spec){.path = redis_socket(), .password = "right word"});
    is_int(ASK(r, "GET", "k"), 0, "a call with the right password succeeds: %s", err_format(&err));
    redis_free(r);
    redis_kill();
}

static void test_real(void)
{
    if (!redis_is_installed()) {
        skip(1, "redis-server is not installed");
        return;
    }
    redis_start(NULL, NULL);
    test_commands();
    test_database();
    test_restart();
    test_password();
}

static void test_nobody(void)
{
    char path[500];
    snprintf(path, sizeof path, "%s/nobody", tap_tmpdir());
    struct redis_client *r = open_at(path);
    is_int(ASK(r, "PING"), -1, "a socket that does not exist");
    has_str(err_format(&err), "cannot connect: No such file", "says so");
    redis_free(r);
    r = redis_new(&(struct redis_spec){.host = "127.0.0.1", .port = 1});
    is_int(ASK(r, "PING"), -1, "a port without a listener");
    has_str(err_format(&err), "Connection refused", "says so");
    redis_free(r);
}

int main(void)
{
    plan_lazy();
    signal(SIGPIPE, SIG_IGN);
    log_setup(LOG_TEXT, LOG_ERR, 2);
    deep = malloc(4000000);
    large = malloc(4000000);
    for (size_t i = 0; i < 4000000; i += 4)
        memcpy(deep + i, "*1\r\n", 4);
    memset(large, 'x', 4000000);
    memcpy(large, "$3999000\r\n", 10);
    test_nobody();
    test_played();
    test_real();
    free(deep);
    free(large);
    arena_fini(&arena);
    return 0;
}
