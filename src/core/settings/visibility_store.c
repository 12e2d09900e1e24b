/* SPDX-License-Identifier: MIT
 * Chooses between the stores, and keeps changes while one is unavailable. */
#include "core/settings/visibility_store.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/sys/clock.h"
#include "base/sys/log.h"
#include "core/settings/visibility_file.h"
#include "core/settings/visibility_redis.h"
#include "core/settings/visibility_sqlite.h"

#define AGENT_MAX 100 /* longest name of an agent */

struct visibility_store_warned {
    struct visibility_store_warned *next;
    char agent[];
};

struct visibility_store {
    struct arena arena;
    const char *state_dir;
    struct conf_store store; /* a copy, because a reload may replace the configuration first */
    pthread_mutex_t mu;
    struct visibility configured; /* lock: mu */
    struct redis_client *redis;   /* NULL: the store is in the state directory */
    struct visibility_store_warned
        *foreign; /* agents whose key has other contents, which was logged */
};

static int visibility_store_check_agent(const char *agent, struct tc_err *err)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "0123456789-_.";
    const size_t len = strlen(agent);
    if (len == 0 || len > AGENT_MAX || agent[0] == '.' || strspn(agent, allowed) != len)
        return err_set(err, agent,
                       "invalid agent name; use letters, digits, \"-\", \"_\" and \".\" (not "
                       "first), at most %d characters",
                       AGENT_MAX);
    return 0;
}

/* ---- with Redis ---- */

static void warn_foreign_key(struct visibility_store *s, const char *agent)
{
    for (const struct visibility_store_warned *t = s->foreign; t; t = t->next)
        if (strcmp(t->agent, agent) == 0)
            return;
    const size_t size = strlen(agent) + 1;
    struct visibility_store_warned *const t = xmalloc(sizeof *t + size);
    memcpy(t->agent, agent, size);
    t->next = s->foreign;
    s->foreign = t;
    log_write(LOG_WARN, "redis",
              "Redis key %s:stream_config:%s has an unexpected format; ignoring it",
              s->store.prefix, agent);
}

static void keep_copy(const struct visibility_store *s, const char *agent,
                      const struct visibility_row *row)
{
    struct tc_err err = {0};
    if (visibility_sqlite_write(s->state_dir, agent, row, &err) < 0)
        log_write(LOG_WARN, "host", "cannot keep a local copy of the visibility settings: %s",
                  err_format(&err));
}

/* Redis may have a later change; a change of unknown time was made before the connection was
 * lost. */
static bool is_newer(const struct visibility_row *copy, int has_copy,
                     enum visibility_redis_result found, const struct visibility_row *there)
{
    return has_copy > 0 && copy->unsaved &&
           (found == STICKY_NOTHING ||
            (found == STICKY_FOUND && there->saved_ms <= copy->saved_ms));
}

static void catch_up(struct visibility_store *s, const char *agent, struct visibility_row *copy)
{
    if (visibility_redis_write(s->redis, s->store.prefix, agent, copy, NULL) < 0)
        return;
    copy->unsaved = false;
    keep_copy(s, agent, copy);
}

/* The visibility from all sources: 1; 0: nothing is stored; -1: the copy is unreadable. */
static int read_both(struct visibility_store *s, const char *agent, struct visibility_row *row,
                     struct tc_err *err)
{
    struct visibility_row there = {0};
    const int has_copy = visibility_sqlite_read(s->state_dir, agent, row, err);
    const enum visibility_redis_result found =
        visibility_redis_read(s->redis, s->store.prefix, agent, &there, NULL);
    if (is_newer(row, has_copy, found, &there)) {
        catch_up(s, agent, row);
        return 1;
    }
    if (found == STICKY_FOREIGN)
        warn_foreign_key(s, agent);
    if (found == STICKY_FOREIGN)
        return 0;
    if (found != STICKY_FOUND)
        return has_copy;
    if (has_copy < 1 || row->unsaved || !visibility_equal(&row->shown, &there.shown))
        keep_copy(s, agent, &there);
    *row = there;
    return 1;
}

/* Writes to disk before trying Redis. */
static enum visibility_store_result save_both(struct visibility_store *s, const char *agent,
                                              struct visibility_row row, struct tc_err *err)
{
    const char *const prefix = s->store.prefix;
    struct visibility_row there = {0};
    const enum visibility_redis_result found =
        visibility_redis_read(s->redis, prefix, agent, &there, err);
    if (found == STICKY_FOREIGN) {
        warn_foreign_key(s, agent);
        err_set(err, NULL, "Redis key %s:stream_config:%s has an unexpected format", prefix, agent);
        return STICKY_FAILED;
    }
    row.unsaved = true;
    const bool kept = visibility_sqlite_write(s->state_dir, agent, &row, err) == 0;
    if (found == VISIBILITY_REDIS_DOWN ||
        visibility_redis_write(s->redis, prefix, agent, &row, err) < 0)
        return kept ? VISIBILITY_STORE_SAVED_LOCALLY : STICKY_FAILED;
    row.unsaved = false;
    keep_copy(s, agent, &row);
    return STICKY_SAVED;
}

static void visibility_store_merge_one(void *ctx, const char *agent)
{
    struct visibility_row row = {0};
    struct tc_err err = {0};
    if (read_both(ctx, agent, &row, &err) < 0)
        log_write(LOG_WARN, "host", "%s", err_format(&err));
}

/* Rows cannot be written while they are read, so they are collected first. */
struct names {
    struct arena arena;
    const char **all;
    size_t n;
};

static void visibility_store_add_name(void *ctx, const char *agent)
{
    struct names *const names = ctx;
    names->all = xrealloc(names->all, (names->n + 1) * sizeof *names->all);
    names->all[names->n++] = arena_strdup(&names->arena, agent);
}

void visibility_store_sync(struct visibility_store *s)
{
    struct names names = {0};
    struct tc_err err = {0};
    if (s->redis &&
        visibility_sqlite_each_unsaved(s->state_dir, visibility_store_add_name, &names, &err) < 0)
        log_write(LOG_WARN, "host", "%s", err_format(&err));
    for (size_t i = 0; i < names.n; i++)
        visibility_store_merge_one(s, names.all[i]);
    free(names.all);
    arena_fini(&names.arena);
}

/* ---- with the files of agenticore ---- */

/* The file counts if nothing else is stored, or if it is newer. Redis has no such time, and has
 * precedence, as in agenticore. */
static int overlay_file(const struct visibility_store *s, const char *agent, int found,
                        struct visibility_row *row)
{
    struct visibility_row there = {0};
    struct tc_err err = {0};
    if (!s->store.stream_config || (found > 0 && s->redis))
        return found;
    const int has = visibility_file_read(s->store.stream_config, agent, &there, &err);
    if (has < 0)
        log_write(LOG_WARN, "host", "%s", err_format(&err));
    if (has < 1 || (found > 0 && there.saved_ms < row->saved_ms))
        return found;
    *row = there;
    return 1;
}

/* For an agenticore without Redis. */
static void copy_to_file(const struct visibility_store *s, const char *agent,
                         const struct visibility_row *row)
{
    struct tc_err err = {0};
    if (s->store.stream_config &&
        visibility_file_write(s->store.stream_config, agent, row->shown, &err) < 0)
        log_write(LOG_WARN, "host", "%s", err_format(&err));
}

/* ---- all stores ---- */

static int visibility_store_choose(struct visibility_store *s, int found,
                                   const struct visibility_row *row, struct visibility *v)
{
    pthread_mutex_lock(&s->mu);
    *v = found > 0 ? row->shown : s->configured;
    pthread_mutex_unlock(&s->mu);
    return found < 0 ? -1 : 0;
}

int visibility_store_load_local(struct visibility_store *s, const char *agent, struct visibility *v,
                                struct tc_err *err)
{
    struct visibility_row row = {0};
    int found = 0;
    if (agent && visibility_store_check_agent(agent, err) < 0)
        found = -1;
    else if (agent)
        found =
            overlay_file(s, agent, visibility_sqlite_read(s->state_dir, agent, &row, err), &row);
    return visibility_store_choose(s, found, &row, v);
}

int visibility_store_load(struct visibility_store *s, const char *agent, struct visibility *v,
                          struct tc_err *err)
{
    struct visibility_row row = {0};
    if (!s->redis || !agent || visibility_store_check_agent(agent, NULL) < 0)
        return visibility_store_load_local(s, agent, v, err);
    const int found = read_both(s, agent, &row, err);
    return visibility_store_choose(s, overlay_file(s, agent, found, &row), &row, v);
}

enum visibility_store_result visibility_store_save(struct visibility_store *s, const char *agent,
                                                   struct visibility v, struct tc_err *err)
{
    const struct visibility_row row = {
        .shown = visibility_resolve(v),
        .saved_ms = (int64_t)(clock_wall_s() * 1000),
    };
    if (visibility_store_check_agent(agent, err) < 0)
        return STICKY_FAILED;
    enum visibility_store_result saved = STICKY_SAVED;
    if (s->redis)
        saved = save_both(s, agent, row, err);
    else if (visibility_sqlite_write(s->state_dir, agent, &row, err) < 0)
        saved = STICKY_FAILED;
    if (saved != STICKY_FAILED)
        copy_to_file(s, agent, &row);
    return saved;
}

/* ---- create and free ---- */

static char *visibility_store_copy(struct visibility_store *s, const char *text)
{
    return arena_strdup(&s->arena, text);
}

static struct redis_client *open_redis(const struct conf_store *c)
{
    return redis_new(&(struct redis_spec){
        .host = c->host,
        .path = c->path,
        .port = (uint16_t)c->port,
        .password = c->password,
        .database = c->database,
    });
}

struct visibility_store *visibility_store_new(const struct conf *conf)
{
    struct visibility_store *const s = xcalloc(1, sizeof *s);
    s->state_dir = visibility_store_copy(s, conf->state_dir);
    s->store = conf->store;
    s->store.host = visibility_store_copy(s, conf->store.host);
    s->store.path = visibility_store_copy(s, conf->store.path);
    s->store.prefix = visibility_store_copy(s, conf->store.prefix);
    s->store.password = visibility_store_copy(s, conf->store.password);
    s->store.stream_config = visibility_store_copy(s, conf->store.stream_config);
    pthread_mutex_init(&s->mu, NULL);
    visibility_store_set_defaults(s, conf);
    if (s->store.kind == CONF_REDIS)
        s->redis = open_redis(&s->store);
    return s;
}

void visibility_store_set_defaults(struct visibility_store *s, const struct conf *conf)
{
    struct visibility v;
    for (size_t i = 0; i < VISIBILITY_KEYS; i++)
        *visibility_switch_at(&v, i) = (enum visibility_switch)conf->show[i];
    pthread_mutex_lock(&s->mu);
    s->configured = visibility_resolve(v);
    pthread_mutex_unlock(&s->mu);
}

struct redis_client *visibility_store_redis(const struct visibility_store *s)
{
    return s->redis;
}

const struct conf_store *visibility_store_conf(const struct visibility_store *s)
{
    return &s->store;
}

void visibility_store_free(struct visibility_store *s)
{
    if (!s)
        return;
    for (struct visibility_store_warned *t; (t = s->foreign);) {
        s->foreign = t->next;
        free(t);
    }
    redis_free(s->redis);
    pthread_mutex_destroy(&s->mu);
    arena_fini(&s->arena);
    free(s);
}
