/* SPDX-License-Identifier: MIT
 * Transport redis: the stream PREFIX:events:ID of agenticore, whose entries the hooks of its agents
 * publish (progress.py, event_tailer.py of The-Cloud-Clock-Work/agenticore 1.9.0). An entry becomes
 * a line of the dialect agenticore-redis: a JSON object of its id and its fields. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/bytes/utf8.h"
#include "base/sys/clock.h"
#include "event/json/json_writer.h"
#include "io/redis/redis.h"
#include "remote/remote.h"
#include "remote/wrapped_command.h"

#define ID_MAX 512
#define BLOCK_MS "500" /* the same value as agenticore's reader */
#define CALL_MS 3000   /* includes the blocking wait */
#define REPLY_MAX ((size_t)64 << 20)
#define OUTAGE_MS 30000 /* the turn fails after this time */
#define LAST_ROUNDS 4   /* number of empty reads after the exit of the command */
#define LAST_ROUND_MS 50

struct redis_follower {
    struct redis_client *redis;
    struct wrapped_command command;
    char *key;
    char last[64];         /* id of the last written entry */
    bool wraps;            /* a command was started */
    bool done;             /* the entry "done" was read */
    int64_t away_since_ms; /* since when Redis has failed; 0: it answers */
};

/* ---- entries ---- */

static void follower_add_field(struct redis_follower *f, struct buf *line, struct str name,
                               struct str value)
{
    if (!utf8_is_valid(name.p, name.len))
        return;
    buf_add_char(line, ',');
    jsonw_string(line, name.p, name.len);
    buf_add_char(line, ':');
    CLEANUP_BUF struct buf text = {0};
    utf8_repair(&text, value.p, value.len);
    jsonw_string(line, text.p ? text.p : "", text.len);
    if (strcmp(name.p, "event_type") == 0 && strcmp(value.p, "done") == 0)
        f->done = true;
}

/* [id, [name, value, …]]: an entry that was deleted has no fields. */
static bool follower_is_entry(const struct redis_reply *e)
{
    return e->type == REDIS_LIST && e->n == 2 && e->items[0].type == REDIS_TEXT &&
           e->items[0].text.len < sizeof((struct redis_follower *)0)->last &&
           e->items[1].type == REDIS_LIST;
}

static int follower_write_entry(struct redis_follower *f, const struct redis_reply *e,
                                struct tc_err *err)
{
    CLEANUP_BUF struct buf line = {0};
    const struct redis_reply *const fields = &e->items[1];
    memcpy(f->last, e->items[0].text.p, e->items[0].text.len + 1);
    buf_add_str(&line, "{\"id\":");
    jsonw_string(&line, f->last, strlen(f->last));
    for (size_t i = 0; i + 1 < fields->n; i += 2)
        if (fields->items[i].type == REDIS_TEXT && fields->items[i + 1].type == REDIS_TEXT)
            follower_add_field(f, &line, fields->items[i].text, fields->items[i + 1].text);
    buf_add_str(&line, "}\n");
    if (fwrite(line.p, 1, line.len, stdout) != line.len)
        return err_set_errno(err, errno, NULL, "cannot write to standard output");
    return 0;
}

/* Parses the result of XREAD: [[key, [entry, …]]], or nil. Returns the number of entries. */
static int follower_write_all(struct redis_follower *f, const struct redis_reply *reply,
                              struct tc_err *err)
{
    if (reply->type == REDIS_WRONG_TYPE)
        return err_set(err, NULL, "Redis key %s is not a stream", f->key);
    if (reply->type != REDIS_LIST || reply->n < 1 || reply->items[0].n != 2)
        return 0;
    const struct redis_reply *const entries = &reply->items[0].items[1];
    for (size_t i = 0; i < entries->n && !f->done; i++)
        if (follower_is_entry(&entries->items[i]) &&
            follower_write_entry(f, &entries->items[i], err) < 0)
            return -1;
    if (fflush(stdout))
        return err_set_errno(err, errno, NULL, "cannot write to standard output");
    return (int)entries->n;
}

/* ---- reading ---- */

static void follower_pause(int64_t ms)
{
    const struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&t, NULL);
}

/* Waits after an error of the server. -1: the outage has lasted too long. */
static int follower_wait_for_server(struct redis_follower *f, struct tc_err *err)
{
    const int64_t now = clock_mono_ms(), delay = redis_reconnect_delay_ms(f->redis);
    if (!f->away_since_ms)
        f->away_since_ms = now;
    if (now - f->away_since_ms > OUTAGE_MS)
        return -1;
    err->text[0] = '\0';
    follower_pause(delay > 0 ? delay : LAST_ROUND_MS);
    return 0;
}

/* One XREAD. Returns the number of entries; -1 with err. */
static int follower_read(struct redis_follower *f, bool blocks, struct tc_err *err)
{
    struct arena arena = {0};
    struct redis_reply reply = {0};
    const char *const waiting[] = {"XREAD",   "COUNT", "100",   "BLOCK", BLOCK_MS,
                                   "STREAMS", f->key,  f->last, NULL};
    const char *const now[] = {"XREAD", "COUNT", "100", "STREAMS", f->key, f->last, NULL};
    const struct redis_command command = {blocks ? waiting : now};
    int n;
    if (redis_call_pipeline(f->redis, &command, 1, &arena, &reply, err) < 0) {
        n = follower_wait_for_server(f, err);
    } else {
        f->away_since_ms = 0;
        n = follower_write_all(f, &reply, err);
    }
    arena_fini(&arena);
    return n;
}

/* Reads until "done", or until the command has exited and no entries arrive. */
static int follower_read_all(struct redis_follower *f, struct tc_err *err)
{
    for (int empty = 0; !f->done && empty < LAST_ROUNDS;) {
        const bool runs = !f->wraps || wrapped_command_runs(&f->command);
        const int n = follower_read(f, runs, err);
        if (n < 0)
            return -1;
        empty = runs || n > 0 ? 0 : empty + 1;
        if (!runs && n == 0)
            follower_pause(LAST_ROUND_MS);
    }
    return 0;
}

/* The stream may have entries of earlier turns: starts behind the last one. */
static int follower_find_end(struct redis_follower *f, struct tc_err *err)
{
    struct arena arena = {0};
    struct redis_reply reply = {0};
    const char *const words[] = {"XREVRANGE", f->key, "+", "-", "COUNT", "1", NULL};
    const struct redis_command command = {words};
    const int rc = redis_call_pipeline(f->redis, &command, 1, &arena, &reply, err);
    if (rc == 0 && reply.type == REDIS_LIST && reply.n == 1 && follower_is_entry(&reply.items[0]))
        snprintf(f->last, sizeof f->last, "%s", reply.items[0].items[0].text.p);
    arena_fini(&arena);
    return rc;
}

/* ---- the command or the ID ---- */

/* The URL in the form that redis-py reads. */
static char *follower_make_url(const struct redis_spec *s)
{
    struct buf url = {0};
    buf_add_str(&url, s->path ? "unix://" : "redis://");
    if (s->password) {
        buf_add_char(&url, ':');
        for (const char *p = s->password; *p; p++)
            buf_printf(&url, "%%%02X", (unsigned char)*p);
        buf_add_char(&url, '@');
    }
    if (s->path)
        buf_printf(&url, "%s?db=%lld", s->path, (long long)s->database);
    else
        buf_printf(&url, strchr(s->host, ':') ? "[%s]:%u/%lld" : "%s:%u/%lld", s->host, s->port,
                   (long long)s->database);
    return buf_steal(&url);
}

static int follower_start_command(struct redis_follower *f, const struct remote_arguments *a,
                                  const struct redis_spec *spec, const char *prefix, const char *id,
                                  struct tc_err *err)
{
    if (follower_find_end(f, err) < 0)
        return -1;
    char *const url = follower_make_url(spec);
    setenv("REDIS_URL", url, 1);
    free(url);
    setenv("REDIS_KEY_PREFIX", prefix, 1);
    setenv("AGENTICORE_CORRELATION_ID", id, 1);
    setenv("AGENTICORE_EVENT_STREAM", "1", 1);
    f->wraps = true;
    return wrapped_command_start(&f->command, a->command, err);
}

/* Reads the ID, which is the message of the turn. */
static int follower_read_id(char *id, size_t size, struct tc_err *err)
{
    size_t n = fread(id, 1, size - 1, stdin);
    while (n > 0 && (id[n - 1] == '\n' || id[n - 1] == ' '))
        n--;
    id[n] = '\0';
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)id[i] <= ' ')
            n = 0;
    if (n > 0 && n < size - 1 && utf8_is_valid(id, n))
        return 0;
    return err_set(err, NULL,
                   "the message must be the correlation ID of an agenticore turn: one word of at "
                   "most %d bytes",
                   ID_MAX);
}

static int follower_run(struct redis_follower *f, const struct remote_arguments *a,
                        const struct redis_spec *spec, struct tc_err *err)
{
    char id[ID_MAX + 2];
    const char *const turn = getenv("TURNCAST_TURN");
    const char *const prefix = remote_setting(a, "prefix", "agenticore");
    if (a->command && !turn)
        return err_set(err, NULL,
                       "TURNCAST_TURN is not set; the host sets it to the ID of the turn");
    if (a->command)
        snprintf(id, sizeof id, "%s", turn);
    else if (follower_read_id(id, sizeof id, err) < 0)
        return -1;
    CLEANUP_BUF struct buf key = {0};
    buf_printf(&key, "%s:events:%s", prefix, id);
    f->key = key.p;
    if (a->command && follower_start_command(f, a, spec, prefix, id, err) < 0)
        return -1;
    if (follower_read_all(f, err) < 0)
        return -1;
    return f->wraps ? wrapped_command_wait(&f->command) : 0;
}

int remote_redis_follow(const struct remote_arguments *a, struct tc_err *err)
{
    const struct redis_spec spec = {
        .host = remote_setting(a, "host", "127.0.0.1"),
        .path = remote_setting(a, "path", NULL),
        .port = (uint16_t)strtoul(remote_setting(a, "port", "6379"), NULL, 10),
        .password = a->secret,
        .database = strtoll(remote_setting(a, "database", "0"), NULL, 10),
        .call_ms = CALL_MS,
        .reply_max = REPLY_MAX,
    };
    struct redis_follower f = {.redis = redis_new(&spec), .last = "0-0"};
    const int status = follower_run(&f, a, &spec, err);
    redis_free(f.redis);
    return status;
}
