/* SPDX-License-Identifier: MIT
 * Owns what is on its way from an instance to the loop, and who may still be called. */
#include "plugin/thread/call_queue.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/alloc.h"

#define SIDES 2

/* One thing handed over; owns what it points to. */
struct job {
    struct job *next;
    const struct job_kind *kind;
    struct arena arena; /* strings */
    union {
        struct batch *batch;
        struct ask *ask;
        const char *path;
        struct {
            int64_t socket;
            struct tc_socket spec;
            struct str text;
        };
        struct {
            uint64_t hit;
            const struct tc_answer *answer; /* or NULL */
        };
    };
};

/* A job is run once or dropped once. */
struct job_kind {
    void (*run)(struct line *l, struct job *j);
    void (*drop)(struct job *j);
    bool last; /* also run when the line closes */
};

/* A hit that the instance has not answered yet. */
struct expected {
    struct expected *next;
    uint64_t hit;
    void (*answered)(void *arg, const struct tc_answer *answer);
    void *arg;
};

struct line {
    _Atomic unsigned refs;
    struct channel_host host, inner; /* the host, and what the instance calls for it */
    struct queue *queue;             /* of the instance's thread alone */
    /* loop thread */
    bool released;
    struct expected *expected;
    uint64_t last_hit;
    /* lock */
    pthread_mutex_t lock;
    struct job *jobs, **jobs_end;
    bool closed, takes_asks, hushed;
    struct ask *asked; /* the newest; a reference */
};

static void free_job(struct job *j)
{
    arena_fini(&j->arena);
    free(j);
}

static void drop_job(struct job *j)
{
    if (j->kind->drop)
        j->kind->drop(j);
    free_job(j);
}

static void run_job(struct line *l, struct job *j)
{
    j->kind->run(l, j);
    free_job(j);
}

/* ---- the loop's thread ---- */

static struct job *take_jobs(struct line *l)
{
    pthread_mutex_lock(&l->lock);
    struct job *const first = l->jobs;
    l->jobs = NULL;
    l->jobs_end = &l->jobs;
    pthread_mutex_unlock(&l->lock);
    return first;
}

static void run_jobs(void *arg)
{
    struct line *const l = arg;
    struct job *next;
    if (!l->released)
        return; /* line_release asks for it again */
    atomic_fetch_add(&l->refs, 1);
    for (struct job *j = take_jobs(l); j; j = next) {
        next = j->next;
        if (l->closed) /* by what the host did in one of them; written on this thread only */
            drop_job(j);
        else
            run_job(l, j);
    }
    line_unref(l);
}

void line_release(struct line *l)
{
    l->released = true;
    pthread_mutex_lock(&l->lock);
    if (l->jobs)
        loop_post(l->host.loop, run_jobs, l);
    pthread_mutex_unlock(&l->lock);
}

static void run_change(void *arg)
{
    const struct line *const l = arg;
    if (!l->closed)
        l->host.changed(l->host.ctx);
}

void line_tell_change(struct line *l)
{
    pthread_mutex_lock(&l->lock);
    if (!l->closed && l->host.changed)
        loop_post(l->host.loop, run_change, l);
    pthread_mutex_unlock(&l->lock);
}

static void run_batch(struct line *l, struct job *j)
{
    l->host.batch(l->host.ctx, j->batch);
}

static void drop_batch(struct job *j)
{
    batch_free(j->batch);
}

static void run_ask(struct line *l, struct job *j)
{
    l->host.ask(l->host.ctx, j->ask);
}

static void drop_ask(struct job *j)
{
    ask_answer(j->ask, TC_NOT_KEPT, NULL, NULL);
}

static void run_route(struct line *l, struct job *j)
{
    l->host.route(l->host.ctx, j->path);
}

static void run_socket_open(struct line *l, struct job *j)
{
    l->host.socket_open(l->host.ctx, j->socket, &j->spec);
}

static void run_socket_send(struct line *l, struct job *j)
{
    l->host.socket_send(l->host.ctx, j->socket, j->text);
}

static void run_socket_close(struct line *l, struct job *j)
{
    l->host.socket_close(l->host.ctx, j->socket);
}

static void answer_expected(struct expected **at, const struct tc_answer *answer)
{
    struct expected *const e = *at;
    *at = e->next;
    e->answered(e->arg, answer);
    free(e);
}

static void run_answer(struct line *l, struct job *j)
{
    for (struct expected **at = &l->expected; *at; at = &(*at)->next)
        if ((*at)->hit == j->hit) {
            answer_expected(at, j->answer);
            return;
        }
}

static const struct job_kind batch_job = {run_batch, drop_batch, true};
static const struct job_kind ask_job = {run_ask, drop_ask, false};
static const struct job_kind route_job = {run_route, NULL, false};
static const struct job_kind socket_open_job = {run_socket_open, NULL, false};
static const struct job_kind socket_send_job = {run_socket_send, NULL, false};
static const struct job_kind socket_close_job = {run_socket_close, NULL, false};
static const struct job_kind answer_job = {run_answer, NULL, true};

uint64_t line_expect(struct line *l, void (*answered)(void *arg, const struct tc_answer *answer),
                     void *arg)
{
    struct expected *const e = xcalloc(1, sizeof *e);
    *e = (struct expected){l->expected, ++l->last_hit, answered, arg};
    l->expected = e;
    return e->hit;
}

void line_hush(struct line *l)
{
    pthread_mutex_lock(&l->lock);
    l->hushed = true;
    if (l->asked)
        ask_give_up(l->asked);
    pthread_mutex_unlock(&l->lock);
}

void line_close(struct line *l, bool deliver)
{
    line_hush(l);
    pthread_mutex_lock(&l->lock);
    l->closed = true;
    pthread_mutex_unlock(&l->lock);
    if (l->host.loop) {
        loop_unpost(l->host.loop, run_jobs, l);
        loop_unpost(l->host.loop, run_change, l);
    }
    struct job *next;
    for (struct job *j = take_jobs(l); j; j = next) {
        next = j->next;
        if (deliver && l->released && j->kind->last)
            run_job(l, j);
        else
            drop_job(j);
    }
    while (l->expected)
        answer_expected(&l->expected, NULL);
}

/* ---- the instance's thread ---- */

static struct job *new_job(const struct job_kind *kind)
{
    struct job *const j = xcalloc(1, sizeof *j);
    j->kind = kind;
    return j;
}

/* The loop is told when it has nothing of this line to do yet: it takes all there is. */
static void post(struct line *l, struct job *j)
{
    pthread_mutex_lock(&l->lock);
    const bool closed = l->closed;
    if (!closed) {
        if (!l->jobs)
            loop_post(l->host.loop, run_jobs, l);
        *l->jobs_end = j;
        l->jobs_end = &j->next;
    }
    pthread_mutex_unlock(&l->lock);
    if (closed)
        drop_job(j);
}

static void post_batch(void *ctx, struct batch *b)
{
    struct job *const j = new_job(&batch_job);
    j->batch = b;
    post(ctx, j);
}

/* False: nobody will answer. */
static bool keep_asked(struct line *l, struct ask *a)
{
    pthread_mutex_lock(&l->lock);
    const bool takes = l->takes_asks && !l->hushed && !l->closed;
    if (takes) {
        ask_unref(l->asked);
        l->asked = ask_ref(a);
    }
    pthread_mutex_unlock(&l->lock);
    return takes;
}

static void post_ask(void *ctx, struct ask *a)
{
    struct line *const l = ctx;
    if (!keep_asked(l, a)) {
        ask_answer(a, TC_NOT_KEPT, NULL, NULL);
        return;
    }
    struct job *const j = new_job(&ask_job);
    j->ask = a;
    post(l, j);
    queue_excuse(l->queue);
}

static void post_route(void *ctx, const char *path)
{
    struct job *const j = new_job(&route_job);
    j->path = arena_strdup(&j->arena, path);
    post(ctx, j);
}

static void post_socket_open(void *ctx, int64_t socket, const struct tc_socket *spec)
{
    struct job *const j = new_job(&socket_open_job);
    j->socket = socket;
    j->spec = *spec;
    j->spec.url = arena_strdup(&j->arena, spec->url);
    post(ctx, j);
}

static void post_socket_send(void *ctx, int64_t socket, struct str text)
{
    struct job *const j = new_job(&socket_send_job);
    j->socket = socket;
    j->text = (struct str){arena_copy(&j->arena, text.p, text.len), text.len};
    post(ctx, j);
}

static void post_socket_close(void *ctx, int64_t socket)
{
    struct job *const j = new_job(&socket_close_job);
    j->socket = socket;
    post(ctx, j);
}

static const struct tc_answer *copy_answer(struct arena *arena, const struct tc_answer *from)
{
    if (!from)
        return NULL;
    struct tc_answer *const to = arena_alloc(arena, sizeof *to);
    *to = *from;
    to->content_type = arena_strdup(arena, from->content_type);
    to->body = arena_copy(arena, from->body, from->body_len);
    return to;
}

void line_answer(struct line *l, uint64_t hit, const struct tc_answer *answer)
{
    struct job *const j = new_job(&answer_job);
    j->hit = hit;
    j->answer = copy_answer(&j->arena, answer);
    post(l, j);
}

void line_open(struct line *l)
{
    pthread_mutex_lock(&l->lock);
    l->takes_asks = true;
    pthread_mutex_unlock(&l->lock);
}

const struct channel_host *line_host(const struct line *l)
{
    return &l->inner;
}

/* ---- either ---- */

struct line *line_new(const struct channel_host *host, struct queue *queue)
{
    struct line *const l = xcalloc(1, sizeof *l);
    atomic_init(&l->refs, SIDES);
    l->queue = queue;
    pthread_mutex_init(&l->lock, NULL);
    l->jobs_end = &l->jobs;
    if (!host)
        return l;
    l->host = *host;
    l->inner = (struct channel_host){
        .ctx = l,
        .batch = host->batch ? post_batch : NULL,
        .ask = host->ask ? post_ask : NULL,
        .has_server = host->has_server && host->route,
        .route = host->route ? post_route : NULL,
        .socket_open = host->socket_open ? post_socket_open : NULL,
        .socket_send = host->socket_send ? post_socket_send : NULL,
        .socket_close = host->socket_close ? post_socket_close : NULL,
    };
    return l;
}

void line_unref(struct line *l)
{
    if (!l || atomic_fetch_sub(&l->refs, 1) > 1)
        return;
    ask_unref(l->asked);
    pthread_mutex_destroy(&l->lock);
    free(l);
}
