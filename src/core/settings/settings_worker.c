/* SPDX-License-Identifier: MIT
 * Owns the thread, the deadline of what is done there, and the way back to a Redis that was away.
 */
#include "core/settings/settings_worker.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "io/loop/worker.h"

struct shelf {
    struct loop *loop;
    struct worker *worker;
    /* the worker's thread */
    struct sticky *sticky;
    struct redis *redis; /* the same one's; or NULL */
    /* loop thread */
    struct loop_timer *retry; /* NULL: without Redis */
    bool retries;             /* the timer runs, or what it began */
    bool away, was_away;      /* as seen at the end of the last work */
    void (*back)(void *ctx);
    void *ctx;
};

struct errand {
    struct shelf *shelf;
    void (*work)(void *arg);
    void (*late)(void *arg);
    void (*done)(void *arg);
    void *arg;
    struct loop_timer *deadline; /* NULL: it may take its time */
    /* written by the worker's thread, read when it is done */
    bool away;
    int64_t retry_ms;
};

static void work(void *arg)
{
    struct errand *const e = arg;
    e->work(e->arg);
    e->away = e->shelf->redis && redis_is_away(e->shelf->redis);
    e->retry_ms = e->away ? redis_retry_ms(e->shelf->redis) : 0;
}

static void on_late(void *arg)
{
    const struct errand *const e = arg;
    e->late(e->arg);
}

/* A Redis that came back is told what it missed, even if nobody asks it anything. */
static void look_after(struct shelf *s, const struct errand *e)
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

static void finish(void *arg)
{
    struct errand *const e = arg;
    if (e->deadline)
        loop_timer_free(e->deadline);
    e->done(e->arg);
    if (e->shelf->redis)
        look_after(e->shelf, e);
    free(e);
}

static struct errand *send(struct shelf *s, void (*work_there)(void *arg), void (*done)(void *arg),
                           void *arg)
{
    struct errand *const e = xcalloc(1, sizeof *e);
    e->shelf = s;
    e->work = work_there;
    e->done = done;
    e->arg = arg;
    worker_do(s->worker, work, finish, e);
    return e;
}

void shelf_do(struct shelf *s, void (*work_there)(void *arg), void (*late)(void *arg),
              void (*done)(void *arg), void *arg)
{
    struct errand *const e = send(s, work_there, done, arg);
    if (!s->redis)
        return;
    e->late = late;
    e->deadline = loop_timer_new(s->loop, on_late, e);
    loop_timer_set(e->deadline, REDIS_CALL_MS);
}

/* ---- a Redis that is away ---- */

static void knock(void *arg)
{
    const struct shelf *const s = arg;
    struct arena a = {0};
    struct redis_reply reply;
    const struct redis_command ping = {(const char *const[]){"PING", NULL}};
    if (redis_ask(s->redis, &ping, 1, &a, &reply, NULL) == 0)
        sticky_merge(s->sticky);
    arena_fini(&a);
}

static void on_knocked(void *arg)
{
    struct shelf *const s = arg;
    s->retries = false;
}

static void on_retry(void *arg)
{
    struct shelf *const s = arg;
    send(s, knock, on_knocked, s);
}

/* ---- its life ---- */

struct shelf *shelf_new(struct loop *loop, const struct conf *conf)
{
    struct shelf *const s = xcalloc(1, sizeof *s);
    s->loop = loop;
    s->worker = worker_new(loop);
    s->sticky = sticky_new(conf);
    s->redis = sticky_redis(s->sticky);
    if (!s->redis)
        return s;
    s->retry = loop_timer_new(loop, on_retry, s);
    s->away = true; /* nobody knows yet */
    s->retries = true;
    on_retry(s);
    return s;
}

void shelf_free(struct shelf *s)
{
    if (!s)
        return;
    worker_free(s->worker);
    if (s->retry)
        loop_timer_free(s->retry);
    sticky_free(s->sticky);
    free(s);
}

void shelf_on_back(struct shelf *s, void (*fn)(void *ctx), void *ctx)
{
    s->back = fn;
    s->ctx = ctx;
}

void shelf_configure(struct shelf *s, const struct conf *conf)
{
    sticky_configure(s->sticky, conf);
}

const struct conf_store *shelf_store(const struct shelf *s)
{
    return sticky_store(s->sticky);
}

struct redis *shelf_redis(const struct shelf *s)
{
    return s->redis;
}

struct sticky *shelf_sticky(const struct shelf *s)
{
    return s->sticky;
}
