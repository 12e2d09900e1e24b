/* SPDX-License-Identifier: MIT
 * Owns items on their way from an instance to the loop, and the state of both sides. */
#include "plugin/thread/call_queue.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/queue.h>

#include "base/alloc.h"
#include "base/invariant.h"

#define SIDES 2

/* An item; owns its data. */
struct queued_call {
    STAILQ_ENTRY(queued_call) next;
    const struct queued_call_kind *kind;
    struct arena arena; /* owns strings */
    union {
        struct callback_batch *batch;
        struct host_call *ask;
        const char *path;
        struct {
            int64_t socket;
            struct tc_socket spec;
            struct str text;
            bool is_binary;
        };
        struct {
            const char *secret;
            struct str value; /* p NULL: none */
        };
        struct {
            const char *key, *stored; /* stored NULL: deleted */
        };
        struct {
            uint64_t hit;
            const struct tc_answer *answer; /* or NULL */
        };
    };
};

STAILQ_HEAD(queued_calls, queued_call);

/* An item is executed once or dropped once. */
struct queued_call_kind {
    void (*run)(struct call_queue *l, struct queued_call *j);
    void (*drop)(struct queued_call *j);
    bool last; /* also executed when the queue closes */
};

/* An HTTP request that the instance has not answered yet. */
struct expected_answer {
    struct expected_answer *next;
    uint64_t hit;
    void (*answered)(void *arg, const struct tc_answer *answer);
    void *arg;
};

struct call_queue {
    _Atomic unsigned refs;
    struct channel_callbacks host, inner; /* the host, and the functions for the instance */
    struct event_queue *queue;            /* used by the instance's thread */
    /* used by the loop thread */
    bool released;
    struct expected_answer *expected;
    uint64_t last_hit;
    /* the following members are protected by the lock */
    pthread_mutex_t lock;
    struct queued_calls jobs;
    bool closed, takes_asks, hushed;
    struct host_call *asked; /* newest first; one reference each */
};

static void free_job(struct queued_call *j)
{
    arena_fini(&j->arena);
    free(j);
}

static void drop_job(struct queued_call *j)
{
    if (j->kind->drop)
        j->kind->drop(j);
    free_job(j);
}

static void run_job(struct call_queue *l, struct queued_call *j)
{
    j->kind->run(l, j);
    free_job(j);
}

/* ---- loop thread ---- */

/* Whether the caller is on the loop's side. Without a loop, one thread produces and another
 * consumes. */
static bool call_queue_is_loop_thread(const struct call_queue *l)
{
    return !l->host.loop || loop_is_own_thread(l->host.loop);
}

static void call_queue_pop_jobs(struct call_queue *l, struct queued_calls *taken)
{
    ASSERT(call_queue_is_loop_thread(l));
    STAILQ_INIT(taken);
    pthread_mutex_lock(&l->lock);
    STAILQ_CONCAT(taken, &l->jobs);
    pthread_mutex_unlock(&l->lock);
}

static void run_jobs(void *arg)
{
    struct call_queue *const l = arg;
    struct queued_calls taken;
    if (!l->released)
        return; /* call_queue_release schedules it again */
    atomic_fetch_add(&l->refs, 1);
    call_queue_pop_jobs(l, &taken);
    for (struct queued_call *j; (j = STAILQ_FIRST(&taken));) {
        STAILQ_REMOVE_HEAD(&taken, next);
        if (l->closed) /* closed by the host in one of the calls; written on this thread only */
            drop_job(j);
        else
            run_job(l, j);
    }
    call_queue_unref(l);
}

void call_queue_release(struct call_queue *l)
{
    ASSERT(call_queue_is_loop_thread(l));
    l->released = true;
    pthread_mutex_lock(&l->lock);
    if (!STAILQ_EMPTY(&l->jobs))
        loop_post(l->host.loop, run_jobs, l);
    pthread_mutex_unlock(&l->lock);
}

static void call_queue_run_change(void *arg)
{
    const struct call_queue *const l = arg;
    if (!l->closed)
        l->host.changed(l->host.ctx);
}

void call_queue_post_change(struct call_queue *l)
{
    pthread_mutex_lock(&l->lock);
    if (!l->closed && l->host.changed)
        loop_post(l->host.loop, call_queue_run_change, l);
    pthread_mutex_unlock(&l->lock);
}

static void run_batch(struct call_queue *l, struct queued_call *j)
{
    l->host.batch(l->host.ctx, j->batch);
}

static void drop_batch(struct queued_call *j)
{
    callback_batch_free(j->batch);
}

static void call_queue_run_host_call(struct call_queue *l, struct queued_call *j)
{
    l->host.ask(l->host.ctx, j->ask);
}

static void call_queue_drop_host_call(struct queued_call *j)
{
    host_call_complete(j->ask, TC_NOT_KEPT, NULL, NULL);
}

static void run_route(struct call_queue *l, struct queued_call *j)
{
    l->host.route(l->host.ctx, j->path);
}

static void run_socket_open(struct call_queue *l, struct queued_call *j)
{
    l->host.socket_open(l->host.ctx, j->socket, &j->spec);
}

static void run_socket_send(struct call_queue *l, struct queued_call *j)
{
    l->host.socket_send(l->host.ctx, j->socket, j->text, j->is_binary);
}

static void run_socket_close(struct call_queue *l, struct queued_call *j)
{
    l->host.socket_close(l->host.ctx, j->socket);
}

static void wipe_secret(struct queued_call *j)
{
    if (j->value.p)
        explicit_bzero((char *)(uintptr_t)j->value.p, j->value.len);
}

static void run_secret(struct call_queue *l, struct queued_call *j)
{
    l->host.secret(l->host.ctx, j->secret, j->value.p);
    wipe_secret(j);
}

static void run_store(struct call_queue *l, struct queued_call *j)
{
    l->host.store(l->host.ctx, j->key, j->stored);
}

static void call_queue_pass_answer(struct expected_answer **at, const struct tc_answer *answer)
{
    struct expected_answer *const e = *at;
    *at = e->next;
    e->answered(e->arg, answer);
    free(e);
}

static void run_answer(struct call_queue *l, struct queued_call *j)
{
    for (struct expected_answer **at = &l->expected; *at; at = &(*at)->next)
        if ((*at)->hit == j->hit) {
            if (j->answer && j->answer->later)
                (*at)->answered((*at)->arg, j->answer);
            else
                call_queue_pass_answer(at, j->answer);
            return;
        }
}

static const struct queued_call_kind batch_job = {run_batch, drop_batch, true};
static const struct queued_call_kind ask_job = {call_queue_run_host_call, call_queue_drop_host_call,
                                                false};
static const struct queued_call_kind route_job = {run_route, NULL, false};
static const struct queued_call_kind socket_open_job = {run_socket_open, NULL, false};
static const struct queued_call_kind socket_send_job = {run_socket_send, NULL, false};
static const struct queued_call_kind socket_close_job = {run_socket_close, NULL, false};
static const struct queued_call_kind secret_job = {run_secret, wipe_secret, false};
static const struct queued_call_kind store_job = {run_store, NULL, true};
static const struct queued_call_kind answer_job = {run_answer, NULL, true};

uint64_t call_queue_register_hit(struct call_queue *l,
                                 void (*answered)(void *arg, const struct tc_answer *answer),
                                 void *arg)
{
    ASSERT(answered);
    ASSERT(call_queue_is_loop_thread(l));
    struct expected_answer *const e = xcalloc(1, sizeof *e);
    *e = (struct expected_answer){l->expected, ++l->last_hit, answered, arg};
    l->expected = e;
    return e->hit;
}

void call_queue_refuse_calls(struct call_queue *l)
{
    pthread_mutex_lock(&l->lock);
    l->hushed = true;
    if (l->asked)
        host_call_abandon(l->asked);
    pthread_mutex_unlock(&l->lock);
}

void call_queue_close(struct call_queue *l, bool deliver)
{
    ASSERT(call_queue_is_loop_thread(l));
    ASSERT(!l->closed);
    call_queue_refuse_calls(l);
    pthread_mutex_lock(&l->lock);
    l->closed = true;
    pthread_mutex_unlock(&l->lock);
    if (l->host.loop) {
        loop_cancel_posted(l->host.loop, run_jobs, l);
        loop_cancel_posted(l->host.loop, call_queue_run_change, l);
    }
    struct queued_calls taken;
    call_queue_pop_jobs(l, &taken);
    for (struct queued_call *j; (j = STAILQ_FIRST(&taken));) {
        STAILQ_REMOVE_HEAD(&taken, next);
        if (deliver && l->released && j->kind->last)
            run_job(l, j);
        else
            drop_job(j);
    }
    while (l->expected)
        call_queue_pass_answer(&l->expected, NULL);
}

/* ---- instance's thread ---- */

static struct queued_call *call_queue_new_call(const struct queued_call_kind *kind)
{
    struct queued_call *const j = xcalloc(1, sizeof *j);
    j->kind = kind;
    return j;
}

/* Wakes the loop only if it is not scheduled yet: it takes all items. */
static void call_queue_post(struct call_queue *l, struct queued_call *j)
{
    pthread_mutex_lock(&l->lock);
    const bool closed = l->closed;
    if (!closed) {
        if (STAILQ_EMPTY(&l->jobs))
            loop_post(l->host.loop, run_jobs, l);
        STAILQ_INSERT_TAIL(&l->jobs, j, next);
    }
    pthread_mutex_unlock(&l->lock);
    if (closed)
        drop_job(j);
}

static void post_batch(void *ctx, struct callback_batch *b)
{
    struct queued_call *const j = call_queue_new_call(&batch_job);
    j->batch = b;
    call_queue_post(ctx, j);
}

/* False: no answer will arrive. */
static bool call_queue_store_call(struct call_queue *l, struct host_call *a)
{
    pthread_mutex_lock(&l->lock);
    const bool takes = l->takes_asks && !l->hushed && !l->closed;
    if (takes) {
        host_call_unref(l->asked);
        l->asked = host_call_ref(a);
    }
    pthread_mutex_unlock(&l->lock);
    return takes;
}

static void call_queue_post_host_call(void *ctx, struct host_call *a)
{
    struct call_queue *const l = ctx;
    if (!call_queue_store_call(l, a)) {
        host_call_complete(a, TC_NOT_KEPT, NULL, NULL);
        return;
    }
    struct queued_call *const j = call_queue_new_call(&ask_job);
    j->ask = a;
    call_queue_post(l, j);
    event_queue_release_producer(l->queue);
}

static void post_route(void *ctx, const char *path)
{
    struct queued_call *const j = call_queue_new_call(&route_job);
    j->path = arena_strdup(&j->arena, path);
    call_queue_post(ctx, j);
}

static void post_socket_open(void *ctx, int64_t socket, const struct tc_socket *spec)
{
    struct queued_call *const j = call_queue_new_call(&socket_open_job);
    j->socket = socket;
    j->spec = *spec;
    j->spec.url = arena_strdup(&j->arena, spec->url);
    j->spec.headers = outbound_copy_headers(&j->arena, spec->headers, spec->header_count);
    call_queue_post(ctx, j);
}

static void post_socket_send(void *ctx, int64_t socket, struct str text, bool is_binary)
{
    struct queued_call *const j = call_queue_new_call(&socket_send_job);
    j->socket = socket;
    j->text = (struct str){arena_memdup(&j->arena, text.p, text.len), text.len};
    j->is_binary = is_binary;
    call_queue_post(ctx, j);
}

static void post_socket_close(void *ctx, int64_t socket)
{
    struct queued_call *const j = call_queue_new_call(&socket_close_job);
    j->socket = socket;
    call_queue_post(ctx, j);
}

static void post_secret(void *ctx, const char *name, const char *value)
{
    struct queued_call *const j = call_queue_new_call(&secret_job);
    j->secret = arena_strdup(&j->arena, name);
    j->value = (struct str){arena_strdup(&j->arena, value), value ? strlen(value) : 0};
    call_queue_post(ctx, j);
}

static void post_store(void *ctx, const char *key, const char *text)
{
    struct queued_call *const j = call_queue_new_call(&store_job);
    j->key = arena_strdup(&j->arena, key);
    j->stored = arena_strdup(&j->arena, text);
    call_queue_post(ctx, j);
}

static const struct tc_answer *copy_answer(struct arena *arena, const struct tc_answer *from)
{
    if (!from)
        return NULL;
    struct tc_answer *const to = arena_alloc(arena, sizeof *to);
    *to = *from;
    to->content_type = arena_strdup(arena, from->content_type);
    to->body = arena_memdup(arena, from->body, from->body_len);
    return to;
}

void call_queue_post_answer(struct call_queue *l, uint64_t hit, const struct tc_answer *answer)
{
    struct queued_call *const j = call_queue_new_call(&answer_job);
    j->hit = hit;
    j->answer = copy_answer(&j->arena, answer);
    call_queue_post(l, j);
}

static void post_hit_answer(void *ctx, uint64_t hit, const struct tc_answer *answer)
{
    call_queue_post_answer(ctx, hit, answer);
}

void call_queue_accept_calls(struct call_queue *l)
{
    pthread_mutex_lock(&l->lock);
    l->takes_asks = true;
    pthread_mutex_unlock(&l->lock);
}

const struct channel_callbacks *call_queue_callbacks(const struct call_queue *l)
{
    return &l->inner;
}

/* ---- both ---- */

struct call_queue *call_queue_new(const struct channel_callbacks *host, struct event_queue *queue)
{
    struct call_queue *const l = xcalloc(1, sizeof *l);
    atomic_init(&l->refs, SIDES);
    l->queue = queue;
    pthread_mutex_init(&l->lock, NULL);
    STAILQ_INIT(&l->jobs);
    if (!host)
        return l;
    l->host = *host;
    l->inner = (struct channel_callbacks){
        .ctx = l,
        .batch = host->batch ? post_batch : NULL,
        .ask = host->ask ? call_queue_post_host_call : NULL,
        .has_server = host->has_server && host->route,
        .route = host->route ? post_route : NULL,
        .socket_open = host->socket_open ? post_socket_open : NULL,
        .socket_send = host->socket_send ? post_socket_send : NULL,
        .socket_close = host->socket_close ? post_socket_close : NULL,
        .hit_answer = host->has_server && host->route ? post_hit_answer : NULL,
        .secret = host->secret ? post_secret : NULL,
        .store = host->store ? post_store : NULL,
    };
    return l;
}

void call_queue_unref(struct call_queue *l)
{
    if (!l)
        return;
    const unsigned before = atomic_fetch_sub(&l->refs, 1);
    ASSERT(before > 0);
    if (before > 1)
        return;
    host_call_unref(l->asked);
    pthread_mutex_destroy(&l->lock);
    free(l);
}
