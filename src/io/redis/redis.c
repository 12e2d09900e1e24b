/* SPDX-License-Identifier: MIT
 * Owns the connection, its deadlines and back-off, and converts replies. hiredis encodes and
 * decodes the protocol in non-blocking mode, so that all waiting is done here. */
#include "io/redis/redis.h"

#include <errno.h>
#include <hiredis/hiredis.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "base/alloc.h"
#include "base/sys/clock.h"
#include "base/sys/log.h"

#define MAX_ITEMS 1024 /* limit of a list's elements */
#define MAX_WORDS 32   /* limit of a command's words */
#define RETRY_FIRST_MS 250
#define RETRY_MAX_MS 10000

/* Number of elements for which hiredis allocates a list. */
#if HIREDIS_MAJOR >= 1
typedef size_t items_t;
#else
typedef int items_t;
#endif

struct redis_client {
    struct redis_spec spec;
    redisContext *link; /* NULL: not connected */
    redisReplyObjectFunctions makers;
    void *(*make_list)(const redisReadTask *task, items_t n); /* owned by hiredis */
    int64_t deadline;                                         /* deadline of the current call */
    bool away;
    int64_t retry_at, backoff_ms;
};

/* ---- waiting ---- */

static int redis_fail_timeout(const struct redis_client *r, struct tc_err *err)
{
    return err_set(err, "Redis", "no reply within %lld ms", (long long)r->spec.call_ms);
}

static int redis_fail_connection(const struct redis_client *r, struct tc_err *err)
{
    if (r->link->err == REDIS_ERR_IO)
        return err_set_errno(err, errno, "Redis", "connection failed");
    return err_set(err, "Redis", "%.100s", r->link->errstr);
}

static int redis_wait_for(const struct redis_client *r, short events, struct tc_err *err)
{
    struct pollfd p = {.fd = r->link->fd, .events = events};
    for (;;) {
        const int64_t left = r->deadline - clock_mono_ms();
        if (left <= 0)
            return redis_fail_timeout(r, err);
        const int n = poll(&p, 1, (int)left);
        if (n > 0)
            return 0;
        if (n < 0 && errno != EINTR)
            return err_set_errno(err, errno, "Redis", "cannot wait for the connection");
    }
}

static int redis_send_all(const struct redis_client *r, struct tc_err *err)
{
    for (int done = 0; !done;) {
        if (redis_wait_for(r, POLLOUT, err) < 0)
            return -1;
        if (redisBufferWrite(r->link, &done) != REDIS_OK)
            return redis_fail_connection(r, err);
    }
    return 0;
}

/* The next reply, to be freed with freeReplyObject. */
static int redis_read_reply(const struct redis_client *r, redisReply **reply, size_t *bytes,
                            struct tc_err *err)
{
    for (;;) {
        void *whole = NULL;
        if (redisGetReplyFromReader(r->link, &whole) != REDIS_OK)
            return redis_fail_connection(r, err);
        *reply = whole;
        if (whole)
            return 0;
        const size_t before = r->link->reader->len;
        if (redis_wait_for(r, POLLIN, err) < 0)
            return -1;
        if (redisBufferRead(r->link) != REDIS_OK)
            return redis_fail_connection(r, err);
        *bytes += r->link->reader->len - before;
        if (*bytes > r->spec.reply_max)
            return err_set(err, "Redis", "a reply exceeds the limit of %zu bytes",
                           r->spec.reply_max);
    }
}

/* ---- replies ---- */

/* Refuses to allocate memory for a server that announces an array of more than MAX_ITEMS elements.
 */
static void *redis_make_limited_array(const redisReadTask *task, items_t n)
{
    const struct redis_client *const r = task->privdata;
    return n > MAX_ITEMS ? NULL : r->make_list(task, n);
}

static bool redis_is_error_reply(const redisReply *from)
{
    return from->type == REDIS_REPLY_ERROR;
}

static bool redis_is_wrong_type(const redisReply *from)
{
    return redis_is_error_reply(from) && strncmp(from->str, "WRONGTYPE ", 10) == 0;
}

static int redis_fail_error_reply(const redisReply *from, struct tc_err *err)
{
    return err_set(err, "Redis", "%.200s", from->str);
}

static int redis_copy_reply(const redisReply *from, struct arena *a, struct redis_reply *to,
                            struct tc_err *err)
{
    *to = (struct redis_reply){.type = REDIS_NOTHING};
    if (redis_is_wrong_type(from)) {
        to->type = REDIS_WRONG_TYPE;
        return 0;
    }
    if (redis_is_error_reply(from))
        return redis_fail_error_reply(from, err);
    if (from->type == REDIS_REPLY_INTEGER) {
        to->type = REDIS_NUMBER;
        to->number = from->integer;
    } else if (from->type == REDIS_REPLY_STRING || from->type == REDIS_REPLY_STATUS) {
        to->type = REDIS_TEXT;
        to->text = (struct str){arena_memdup(a, from->str, from->len), from->len};
    } else if (from->type == REDIS_REPLY_ARRAY) {
        struct redis_reply *const items = arena_alloc(a, from->elements * sizeof *items);
        to->type = REDIS_LIST;
        to->items = items;
        to->n = from->elements;
        for (size_t i = 0; i < to->n; i++) /* hiredis limits the depth */
            if (redis_copy_reply(from->element[i], a, &items[i], err) < 0)
                return -1;
    }
    return 0;
}

/* ---- the connection ---- */

static void redis_disconnect(struct redis_client *r)
{
    if (r->link)
        redisFree(r->link);
    r->link = NULL;
}

/* hiredis connects asynchronously; this waits for the connection. */
static int redis_wait_connected(const struct redis_client *r, struct tc_err *err)
{
    int no = 0;
    socklen_t size = sizeof no;
    if (redis_wait_for(r, POLLOUT, err) < 0)
        return -1;
    if (getsockopt(r->link->fd, SOL_SOCKET, SO_ERROR, &no, &size) < 0 || no)
        return err_set_errno(err, no ? no : errno, "Redis", "cannot connect");
    return 0;
}

static void redis_append_command(struct redis_client *r, const char *const *words)
{
    const char *all[MAX_WORDS];
    size_t sizes[MAX_WORDS];
    int n = 0;
    for (; words[n] && n < MAX_WORDS; n++) {
        all[n] = words[n];
        sizes[n] = strlen(words[n]);
    }
    redisAppendCommandArgv(r->link, n, all, sizes);
}

static int redis_expect_ok(const struct redis_client *r, size_t n, struct tc_err *err)
{
    size_t bytes = 0;
    for (redisReply *reply; n; n--) {
        if (redis_read_reply(r, &reply, &bytes, err) < 0)
            return -1;
        const int rc = redis_is_error_reply(reply) ? redis_fail_error_reply(reply, err) : 0;
        freeReplyObject(reply);
        if (rc < 0)
            return -1;
    }
    return 0;
}

static int redis_log_in(struct redis_client *r, struct tc_err *err)
{
    char database[24];
    snprintf(database, sizeof database, "%lld", (long long)r->spec.database);
    size_t n = 0;
    if (r->spec.password) {
        redis_append_command(r, (const char *const[]){"AUTH", r->spec.password, NULL});
        n++;
    }
    if (r->spec.database) {
        redis_append_command(r, (const char *const[]){"SELECT", database, NULL});
        n++;
    }
    return n == 0 || (redis_send_all(r, err) == 0 && redis_expect_ok(r, n, err) == 0) ? 0 : -1;
}

static int redis_connect(struct redis_client *r, struct tc_err *err)
{
    const struct redis_spec *const s = &r->spec;
    r->link = s->path ? redisConnectUnixNonBlock(s->path) : redisConnectNonBlock(s->host, s->port);
    if (!r->link)
        return err_set(err, "Redis", "cannot allocate a connection");
    if (r->link->err)
        return err_set(err, "Redis", "cannot connect: %.100s", r->link->errstr);
    redisReader *const reader = r->link->reader;
    r->makers = *reader->fn;
    r->make_list = r->makers.createArray;
    r->makers.createArray = redis_make_limited_array;
    reader->fn = &r->makers;
    reader->privdata = r;
    return redis_wait_connected(r, err) == 0 && redis_log_in(r, err) == 0 ? 0 : -1;
}

/* ---- calls ---- */

static int redis_try_pipeline(struct redis_client *r, const struct redis_command *commands,
                              size_t n, struct arena *a, struct redis_reply *replies,
                              struct tc_err *err)
{
    size_t bytes = 0;
    if (!r->link && redis_connect(r, err) < 0)
        return -1;
    for (size_t i = 0; i < n; i++)
        redis_append_command(r, commands[i].words);
    if (redis_send_all(r, err) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        redisReply *reply;
        if (redis_read_reply(r, &reply, &bytes, err) < 0)
            return -1;
        const int rc = redis_copy_reply(reply, a, &replies[i], err);
        freeReplyObject(reply);
        if (rc < 0)
            return -1;
    }
    return 0;
}

static void redis_log_outage(const struct redis_client *r, enum log_level level, const char *what)
{
    if (r->spec.path)
        log_write(level, "redis", "%s: %s", r->spec.path, what);
    else
        log_write(level, "redis", "%s:%u: %s", r->spec.host, r->spec.port, what);
}

/* Logs an outage once. */
static void redis_back_off(struct redis_client *r, const char *why)
{
    redis_disconnect(r);
    if (!r->away)
        redis_log_outage(r, LOG_WARN, why);
    r->backoff_ms = r->away ? r->backoff_ms * 2 : RETRY_FIRST_MS;
    if (r->backoff_ms > RETRY_MAX_MS)
        r->backoff_ms = RETRY_MAX_MS;
    r->retry_at = clock_mono_ms() + r->backoff_ms;
    r->away = true;
}

/* The server may have closed an idle connection, which is not a failure. */
static bool redis_is_link_stale(const struct redis_client *r)
{
    struct pollfd p = {.fd = r->link->fd, .events = POLLIN};
    return poll(&p, 1, 0) != 0;
}

int redis_call_pipeline(struct redis_client *r, const struct redis_command *commands, size_t n,
                        struct arena *a, struct redis_reply *replies, struct tc_err *err)
{
    struct tc_err unused = {0};
    err = err ? err : &unused;
    if (redis_reconnect_delay_ms(r) > 0)
        return err_set(err, "Redis", "away");
    if (r->link && redis_is_link_stale(r))
        redis_disconnect(r);
    r->deadline = clock_mono_ms() + r->spec.call_ms;
    if (redis_try_pipeline(r, commands, n, a, replies, err) < 0) {
        redis_back_off(r, err->text);
        return -1;
    }
    if (r->away)
        redis_log_outage(r, LOG_WARN, "connection restored");
    r->away = false;
    return 0;
}

int64_t redis_reconnect_delay_ms(const struct redis_client *r)
{
    const int64_t left = r->away ? r->retry_at - clock_mono_ms() : 0;
    return left > 0 ? left : 0;
}

bool redis_is_down(const struct redis_client *r)
{
    return r->away;
}

struct redis_client *redis_new(const struct redis_spec *spec)
{
    struct redis_client *const r = xcalloc(1, sizeof *r);
    signal(SIGPIPE, SIG_IGN);
    r->spec = *spec;
    r->spec.call_ms = spec->call_ms ? spec->call_ms : REDIS_CALL_MS;
    r->spec.reply_max = spec->reply_max ? spec->reply_max : REDIS_REPLY_MAX;
    return r;
}

void redis_free(struct redis_client *r)
{
    if (!r)
        return;
    redis_disconnect(r);
    free(r);
}
