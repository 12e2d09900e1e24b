/* SPDX-License-Identifier: MIT
 * Owns the subscriptions and open requests of a client, and the jobs of its worker thread. */
#include "io/nats/nats_client.h"

#include <inttypes.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/cleanup.h"
#include "base/invariant.h"
#include "base/sys/clock.h"
#include "base/sys/log.h"
#include "base/sys/uuid.h"
#include "io/loop/worker.h"
#include "io/nats/nats_connection.h"

#define TICK_MS 50      /* how exactly deadlines of requests are kept */
#define REOPEN_MS 15000 /* after an error that libnats does not try again */
#define BATCH_MAX 256   /* messages that are handled before the loop looks elsewhere */

struct nats_client_subscription {
    LIST_ENTRY(nats_client_subscription) next;
    struct nats_client *client;
    uint64_t id;
    char *subject, *queue; /* queue: or NULL */
    nats_client_on_message *on_message;
    void *ctx;
};

struct nats_request {
    TAILQ_ENTRY(nats_request) next;
    uint64_t id;
    int64_t deadline_ms; /* monotonic */
    nats_client_on_reply *on_reply;
    void *ctx;
};

struct nats_client {
    struct nats_client_spec spec; /* its texts are the arena's */
    struct arena arena;
    struct worker *worker;
    struct nats_connection *connection;
    LIST_HEAD(, nats_client_subscription) subscriptions;
    TAILQ_HEAD(nats_request_list, nats_request) requests;
    void *by_id; /* a tree of search.h: the requests */
    struct loop_timer *tick, *reopen;
    uint64_t last_id;
    char inbox[64]; /* what stands before the id in the reply subject of a request */
    bool connected;
    size_t max_payload;
};

/* ---- jobs of the worker thread ---- */

struct nats_job {
    struct nats_client *client;
    uint64_t id; /* of a subscription, or of a request (0: none waits) */
    char *subject, *reply, *operation, *queue, *host;
    int64_t expected;
    char *data;
    size_t len;
    bool is_sent;
    void (*on_sent)(void *ctx, bool sent); /* of nats_client_send */
    void *ctx;
};

static void nats_job_free(void *arg)
{
    struct nats_job *const job = arg;
    free(job->subject);
    free(job->reply);
    free(job->operation);
    free(job->queue);
    free(job->host);
    free(job->data);
    free(job);
}

static void nats_job_subscribe(void *arg)
{
    const struct nats_job *const job = arg;
    nats_connection_subscribe(job->client->connection, job->id, job->subject, job->queue);
    nats_job_free(arg);
}

static void nats_job_unsubscribe(void *arg)
{
    const struct nats_job *const job = arg;
    nats_connection_unsubscribe(job->client->connection, job->id);
    nats_job_free(arg);
}

static bool nats_job_is_sent(const struct nats_job *job)
{
    const struct nats_outgoing out = {.subject = job->subject,
                                      .reply = job->reply,
                                      .operation = job->operation,
                                      .host = job->host,
                                      .expected = job->expected,
                                      .data = {job->data, job->len}};
    return nats_connection_publish(job->client->connection, &out);
}

static void nats_job_send(void *arg)
{
    struct nats_job *const job = arg;
    job->is_sent = nats_job_is_sent(job);
}

/* Wakes the loop only if the request was not sent; otherwise the reply does, or the deadline. */
static void nats_job_publish(void *arg)
{
    const struct nats_job *const job = arg;
    if (!nats_job_is_sent(job) && job->id)
        nats_connection_report_unsent(job->client->connection, job->id);
    nats_job_free(arg);
}

static void nats_job_open(void *arg)
{
    struct nats_client *const c = arg;
    nats_connection_open(c->connection);
}

static void nats_job_close(void *arg)
{
    struct nats_client *const c = arg;
    nats_connection_close(c->connection);
}

/* ---- requests ---- */

static int nats_request_compare(const void *a, const void *b)
{
    const struct nats_request *const one = a, *const other = b;
    return one->id < other->id ? -1 : one->id > other->id;
}

static struct nats_request *nats_request_find(const struct nats_client *c, uint64_t id)
{
    const struct nats_request key = {.id = id};
    struct nats_request *const *const found = tfind(&key, &c->by_id, nats_request_compare);
    return found ? *found : NULL;
}

static void nats_request_finish(struct nats_client *c, struct nats_request *r,
                                enum nats_client_result result, const struct nats_client_message *m)
{
    TAILQ_REMOVE(&c->requests, r, next);
    tdelete(r, &c->by_id, nats_request_compare);
    if (r->on_reply)
        r->on_reply(r->ctx, result, m);
    free(r);
}

/* It is not known whether the server has received these requests. */
static void nats_client_fail_all(struct nats_client *c)
{
    const uint64_t last = c->last_id; /* those that a callback adds are not among them */
    struct nats_request *r = TAILQ_FIRST(&c->requests), *next;
    for (; r && r->id <= last; r = next) {
        nats_request_finish(c, r, NATS_CLIENT_UNKNOWN, NULL);
        next = TAILQ_FIRST(&c->requests);
    }
}

static void nats_client_on_tick(void *arg)
{
    struct nats_client *const c = arg;
    const int64_t now = clock_mono_ms();
    struct nats_request *r = TAILQ_FIRST(&c->requests);
    while (r && r->deadline_ms > now)
        r = TAILQ_NEXT(r, next);
    if (r)
        nats_request_finish(c, r, NATS_CLIENT_UNKNOWN, NULL);
    if (!TAILQ_EMPTY(&c->requests))
        loop_timer_set(c->tick, r ? 0 : TICK_MS);
}

static void nats_job_on_sent(void *arg)
{
    const struct nats_job *const job = arg;
    job->on_sent(job->ctx, job->is_sent);
    nats_job_free(arg);
}

static struct nats_job *nats_job_new(struct nats_client *c, const struct nats_client_publication *p)
{
    struct nats_job *const job = xcalloc(1, sizeof *job);
    job->client = c;
    job->subject = xstrdup(p->subject);
    job->reply = xstrdup(p->reply);
    job->host = xstrdup(p->host);
    job->operation = xstrdup(p->operation);
    job->expected = p->is_conditional ? (int64_t)p->expected : -1;
    job->data = xmalloc(p->data.len + 1);
    memcpy(job->data, p->data.p, p->data.len);
    job->len = p->data.len;
    return job;
}

void nats_client_publish(struct nats_client *c, const struct nats_client_publication *p)
{
    worker_submit(c->worker, nats_job_publish, NULL, nats_job_new(c, p));
}

void nats_client_send(struct nats_client *c, const struct nats_client_publication *p,
                      void (*on_sent)(void *ctx, bool sent), void *ctx)
{
    struct nats_job *const job = nats_job_new(c, p);
    job->on_sent = on_sent;
    job->ctx = ctx;
    worker_submit(c->worker, nats_job_send, nats_job_on_sent, job);
}

void nats_client_request(struct nats_client *c, const struct nats_client_publication *p,
                         int64_t timeout_ms, nats_client_on_reply *on_reply, void *ctx)
{
    struct nats_request *const r = xcalloc(1, sizeof *r);
    struct nats_job *const job = nats_job_new(c, p);
    r->id = job->id = ++c->last_id;
    r->deadline_ms = clock_mono_ms() + timeout_ms;
    r->on_reply = on_reply;
    r->ctx = ctx;
    ASSERT(!job->reply);
    job->reply = xasprintf("%s%" PRIu64, c->inbox, r->id);
    if (TAILQ_EMPTY(&c->requests))
        loop_timer_set(c->tick, TICK_MS);
    TAILQ_INSERT_TAIL(&c->requests, r, next);
    alloc_check(tsearch(r, &c->by_id, nats_request_compare), sizeof(void *));
    worker_submit(c->worker, nats_job_publish, NULL, job);
}

void nats_client_forget(struct nats_client *c, const void *ctx)
{
    for (struct nats_request *r = TAILQ_FIRST(&c->requests); r; r = TAILQ_NEXT(r, next))
        if (r->ctx == ctx)
            r->on_reply = NULL;
}

static void nats_client_on_reply_message(void *ctx, const struct nats_client_message *m)
{
    struct nats_client *const c = ctx;
    struct nats_request *const r =
        nats_request_find(c, strtoull(m->subject + strlen(c->inbox), NULL, 10));
    if (r && m->status == 503)
        nats_request_finish(c, r, NATS_CLIENT_NOBODY, NULL);
    else if (r)
        nats_request_finish(c, r, NATS_CLIENT_REPLIED, m);
}

/* ---- subscriptions ---- */

static void nats_client_submit_subscription(const struct nats_client_subscription *s)
{
    const struct nats_client_publication p = {.subject = s->subject, .data = STR("")};
    struct nats_job *const job = nats_job_new(s->client, &p);
    job->id = s->id;
    job->queue = xstrdup(s->queue);
    worker_submit(s->client->worker, nats_job_subscribe, NULL, job);
}

struct nats_client_subscription *nats_client_subscribe_queue(struct nats_client *c,
                                                             const char *subject, const char *queue,
                                                             nats_client_on_message *on_message,
                                                             void *ctx)
{
    struct nats_client_subscription *const s = xcalloc(1, sizeof *s);
    s->client = c;
    s->id = ++c->last_id;
    s->subject = xstrdup(subject);
    s->queue = xstrdup(queue);
    s->on_message = on_message;
    s->ctx = ctx;
    LIST_INSERT_HEAD(&c->subscriptions, s, next);
    nats_client_submit_subscription(s);
    return s;
}

struct nats_client_subscription *nats_client_subscribe(struct nats_client *c, const char *subject,
                                                       nats_client_on_message *on_message,
                                                       void *ctx)
{
    return nats_client_subscribe_queue(c, subject, NULL, on_message, ctx);
}

static void nats_client_free_subscription(struct nats_client_subscription *s)
{
    LIST_REMOVE(s, next);
    free(s->subject);
    free(s->queue);
    free(s);
}

void nats_client_unsubscribe(struct nats_client_subscription *s)
{
    if (!s)
        return;
    struct nats_client *const c = s->client;
    const struct nats_client_publication p = {.subject = "", .data = STR("")};
    struct nats_job *const job = nats_job_new(c, &p);
    job->id = s->id;
    worker_submit(c->worker, nats_job_unsubscribe, NULL, job);
    nats_client_free_subscription(s);
}

static struct nats_client_subscription *nats_client_find(const struct nats_client *c, uint64_t id)
{
    struct nats_client_subscription *s;
    LIST_FOREACH (s, &c->subscriptions, next)
        if (s->id == id)
            return s;
    return NULL;
}

/* ---- what arrives ---- */

static void nats_client_set_connected(struct nats_client *c, bool connected, const char *text)
{
    const bool is_change = c->connected != connected;
    c->connected = connected;
    if (!connected && is_change)
        nats_client_fail_all(c);
    if (is_change || !connected)
        c->spec.changed(c->spec.ctx, connected, text);
}

/* libnats has given up: with other credentials, or other servers, it may succeed. */
static void nats_client_on_closed(struct nats_client *c, const char *text)
{
    nats_client_set_connected(c, false, text);
    loop_timer_set(c->reopen, REOPEN_MS);
}

static void nats_client_handle(struct nats_client *c, const struct nats_incoming *in)
{
    const struct nats_client_subscription *s;
    struct nats_request *r;
    switch (in->kind) {
    case NATS_INCOMING_MESSAGE:
        s = nats_client_find(c, in->id);
        if (s)
            s->on_message(s->ctx, &in->message);
        return;
    case NATS_INCOMING_UNSENT:
        r = nats_request_find(c, in->id);
        if (r)
            nats_request_finish(c, r, NATS_CLIENT_UNSENT, NULL);
        return;
    case NATS_INCOMING_UP:
        c->max_payload = (size_t)in->max_payload;
        nats_client_set_connected(c, true, in->text);
        return;
    case NATS_INCOMING_DOWN:
        nats_client_set_connected(c, false, in->text);
        return;
    case NATS_INCOMING_CLOSED:
        nats_client_on_closed(c, in->text);
        return;
    case NATS_INCOMING_FAULT:
        if (c->spec.fault)
            c->spec.fault(c->spec.ctx, in->text);
        else
            log_write(LOG_WARN, "bus", "NATS: %s", in->text);
        return;
    }
}

static void nats_client_on_messages(void *arg)
{
    struct nats_client *const c = arg;
    struct nats_incoming *in = NULL;
    for (int i = 0; i < BATCH_MAX && (in = nats_connection_pop_message(c->connection)); i++) {
        nats_client_handle(c, in);
        free(in);
    }
    if (in)
        loop_post(c->spec.loop, nats_client_on_messages, c);
}

uint64_t nats_client_count_lost(struct nats_client *c)
{
    return nats_connection_count_lost(c->connection);
}

/* ---- begin and end ---- */

size_t nats_client_max_payload(const struct nats_client *c)
{
    return c->max_payload;
}

bool nats_client_is_connected(const struct nats_client *c)
{
    return c->connected;
}

/* With the subscriptions, which the connection before has taken along. */
static void nats_client_on_reopen(void *arg)
{
    struct nats_client *const c = arg;
    struct nats_client_subscription *s;
    worker_submit(c->worker, nats_job_close, NULL, c);
    worker_submit(c->worker, nats_job_open, NULL, c);
    LIST_FOREACH (s, &c->subscriptions, next)
        nats_client_submit_subscription(s);
}

static void nats_client_copy_spec(struct nats_client *c, const struct nats_client_spec *spec)
{
    struct arena *const a = &c->arena;
    size_t n = 0;
    while (spec->urls[n])
        n++;
    const char **const urls = arena_alloc(a, (n + 1) * sizeof *urls);
    for (size_t i = 0; i < n; i++)
        urls[i] = arena_strdup(a, spec->urls[i]);
    c->spec = *spec;
    c->spec.urls = urls;
    c->spec.name = arena_strdup(a, spec->name);
    c->spec.credentials = arena_strdup(a, spec->credentials);
    c->spec.token = arena_strdup(a, spec->token);
    c->spec.creds_file = arena_strdup(a, spec->creds_file);
    c->spec.ca = arena_strdup(a, spec->ca);
    c->spec.cert = arena_strdup(a, spec->cert);
    c->spec.key = arena_strdup(a, spec->key);
}

/* One subscription for the replies to all requests. */
static void nats_client_subscribe_inbox(struct nats_client *c)
{
    char id[37];
    uuid_make(id);
    snprintf(c->inbox, sizeof c->inbox, "_INBOX.%s.", id);
    CLEANUP_FREE char *all = xasprintf("%s*", c->inbox);
    nats_client_subscribe(c, all, nats_client_on_reply_message, c);
}

struct nats_client *nats_client_new(const struct nats_client_spec *spec, struct tc_err *err)
{
    struct nats_client *const c = xcalloc(1, sizeof *c);
    nats_client_copy_spec(c, spec);
    LIST_INIT(&c->subscriptions);
    TAILQ_INIT(&c->requests);
    c->connection = nats_connection_new(&c->spec, nats_client_on_messages, c, err);
    if (!c->connection) {
        nats_client_free(c);
        return NULL;
    }
    c->tick = loop_timer_new(spec->loop, nats_client_on_tick, c);
    c->reopen = loop_timer_new(spec->loop, nats_client_on_reopen, c);
    c->worker = worker_new(spec->loop);
    worker_set_name(c->worker, "tc-bus");
    worker_submit(c->worker, nats_job_open, NULL, c);
    nats_client_subscribe_inbox(c);
    return c;
}

static void nats_client_stop(struct nats_client *c)
{
    loop_timer_free(c->tick);
    loop_timer_free(c->reopen);
    worker_submit(c->worker, nats_job_close, NULL, c);
    worker_free(c->worker);
}

void nats_client_free(struct nats_client *c)
{
    struct nats_client_subscription *s;
    struct nats_request *r;
    if (!c)
        return;
    nats_client_fail_all(c);
    if (c->worker)
        nats_client_stop(c);
    while ((r = TAILQ_FIRST(&c->requests))) {
        r->on_reply = NULL; /* it was made while the client ended */
        nats_request_finish(c, r, NATS_CLIENT_UNKNOWN, NULL);
    }
    while ((s = LIST_FIRST(&c->subscriptions)))
        nats_client_free_subscription(s);
    loop_cancel_posted(c->spec.loop, nats_client_on_messages, c);
    nats_connection_free(c->connection);
    arena_fini(&c->arena);
    free(c);
}
