/* SPDX-License-Identifier: MIT
 * Owns the worker thread, the deadlines of its jobs, and the reconnection to Redis. ⏎ */
#include "core/settings/settings_worker.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/invariant.h"
#include "io/loop/worker.h"

struct settings_worker {
    struct loop *loop;
    struct worker *worker;
    /* used by the worker's thread only */
    struct visibility_store *store;
    struct redis_client *redis; /* likewise; or NULL */
    /* used by the loop thread */
    struct loop_timer *retry; /* NULL: without Redis */
    bool retries;             /* the timer is set, or its job is running */
    bool away;                /* state of Redis after the last job */
    void (*back)(void *ctx);
    void *ctx;
};

struct settings_job {
    struct settings_worker *settings;
    void (*work)(void *arg);
    void (*late)(void *arg);
    void (*done)(void *arg);
    void *arg;
    struct loop_timer *deadline; /* NULL: no deadline */
    /* written by the worker's thread, read after the job */
    bool away;
    int64_t retry_ms;
};

static void settings_job_run(void *arg)
{
    struct settings_job *const e = arg;
    e->work(e->arg);
    e->away = e->settings->redis && redis_is_down(e->settings->redis);
    e->retry_ms = e->away ? redis_reconnect_delay_ms(e->settings->redis) : 0;
}

static void settings_worker_on_late(void *arg)
{
    const struct settings_job *const e = arg;
    e->late(e->arg);
}

/* When Redis is available again, missed writes are sent even if there is no other job. */
static void settings_worker_update_outage(struct settings_worker *s, const struct settings_job *e)
{
    if (e->away && !s->retries) {
        s->retries = true;
        loop_timer_set(s->retry, e->retry_ms + 1);
    }
    const bool came_back = s->away && !e->away;
    s->away = e->away;
    if (came_back && s->back)
        s->back(s->ctx);
}

static void settings_worker_finish(void *arg)
{
    struct settings_job *const e = arg;
    if (e->deadline)
        loop_timer_free(e->deadline);
    e->done(e->arg);
    if (e->settings->redis)
        settings_worker_update_outage(e->settings, e);
    free(e);
}

static struct settings_job *settings_worker_send(struct settings_worker *s,
                                                 void (*work_there)(void *arg),
                                                 void (*done)(void *arg), void *arg)
{
    ASSERT(work_there && done);
    struct settings_job *const e = xcalloc(1, sizeof *e);
    e->settings = s;
    e->work = work_there;
    e->done = done;
    e->arg = arg;
    worker_submit(s->worker, settings_job_run, settings_worker_finish, e);
    return e;
}

void settings_worker_submit(struct settings_worker *s, void (*work_there)(void *arg),
                            void (*late)(void *arg), void (*done)(void *arg), void *arg)
{
    struct settings_job *const e = settings_worker_send(s, work_there, done, arg);
    if (!s->redis)
        return;
    e->late = late;
    e->deadline = loop_timer_new(s->loop, settings_worker_on_late, e);
    loop_timer_set(e->deadline, REDIS_CALL_MS);
}

/* ---- unavailable Redis ---- */

static void knock(void *arg)
{
    const struct settings_worker *const s = arg;
    struct arena a = {0};
    struct redis_reply reply;
    const struct redis_command ping = {(const char *const[]){"PING", NULL}};
    if (redis_call_pipeline(s->redis, &ping, 1, &a, &reply, NULL) == 0)
        visibility_store_sync(s->store);
    arena_fini(&a);
}

static void on_knocked(void *arg)
{
    struct settings_worker *const s = arg;
    ASSERT(s->retries);
    s->retries = false;
}

static void settings_worker_on_retry(void *arg)
{
    struct settings_worker *const s = arg;
    settings_worker_send(s, knock, on_knocked, s);
}

/* ---- create and free ---- */

struct settings_worker *settings_worker_new(struct loop *loop, const struct conf *conf)
{
    struct settings_worker *const s = xcalloc(1, sizeof *s);
    s->loop = loop;
    s->worker = worker_new(loop);
    s->store = visibility_store_new(conf);
    s->redis = visibility_store_redis(s->store);
    if (!s->redis)
        return s;
    s->retry = loop_timer_new(loop, settings_worker_on_retry, s);
    s->away = true; /* until the first connection attempt has succeeded */
    s->retries = true;
    settings_worker_on_retry(s);
    return s;
}

void settings_worker_free(struct settings_worker *s)
{
    if (!s)
        return;
    worker_free(s->worker);
    if (s->retry)
        loop_timer_free(s->retry);
    visibility_store_free(s->store);
    free(s);
}

void settings_worker_set_reconnect_cb(struct settings_worker *s, void (*fn)(void *ctx), void *ctx)
{
    s->back = fn;
    s->ctx = ctx;
}

void settings_worker_set_defaults(struct settings_worker *s, const struct conf *conf)
{
    visibility_store_set_defaults(s->store, conf);
}

const struct conf_store *settings_worker_store_conf(const struct settings_worker *s)
{
    return visibility_store_conf(s->store);
}

struct redis_client *settings_worker_redis(const struct settings_worker *s)
{
    return s->redis;
}

struct visibility_store *settings_worker_visibility(const struct settings_worker *s)
{
    return s->store;
}
