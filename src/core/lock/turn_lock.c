/* SPDX-License-Identifier: MIT
 * Owns the locks that this host has or wants, and the times at which they expire. */
#include "core/lock/turn_lock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/invariant.h"
#include "base/plural.h"
#include "base/sys/clock.h"
#include "base/sys/log.h"
#include "base/sys/uuid.h"
#include "core/lock/turn_lock_bus.h"
#include "core/lock/turn_lock_redis.h"

#define TRY_AGAIN_MS 500
#define BUS_LOCK_MS 15000        /* on the bus; a third: interval of the timer */
#define HOST_KEY "lock:host"     /* in the journal: how this host is named in Redis */
#define OTHERS_KEY "lock:others" /* and how many others shared Redis when it answered last */

struct turn_lock {
    LIST_ENTRY(turn_lock) next;
    char *conversation;
    enum turn_lock_state state;
    int64_t fence; /* 0: held without Redis, which does not answer */
    bool moved;
    int64_t until_ms;      /* of one that is held */
    int64_t away_since_ms; /* of one that waits for Redis */
    uint64_t request_id;   /* the newest request for it; 0: none in flight */
    /* Of the bus. */
    struct turn_lock_session session; /* that the next host goes on with */
    uint64_t rival;                   /* as in turn_lock_request */
    int64_t rival_since_ms;
    bool is_unverified; /* the connection broke: another host may have acquired it */
};

struct turn_locks {
    struct loop *loop;
    struct journal_async *journal;
    struct settings_worker *settings; /* NULL: they are not in Redis */
    struct turn_lock_bus *bus;        /* NULL: nor on the bus; then every lock is this host's */
    int64_t lock_ms, wait_ms;
    struct session_store *sessions;
    const struct turn_lock_events *events;
    void *ctx;
    LIST_HEAD(, turn_lock) list;
    struct loop_timer *timer;
    struct turn_lock_redis redis;
    char *name, *host; /* host: NULL until the journal has answered */
    char token[37];
    int64_t others; /* other hosts; -1: not known yet */
    bool has_peers; /* the configuration names other hosts on the bus */
    int64_t registered_ms;
    uint64_t last_request_id;
    bool closed;
};

/* ---- one ---- */

static struct turn_lock *turn_lock_find(const struct turn_locks *l, const char *conversation)
{
    struct turn_lock *k;
    LIST_FOREACH (k, &l->list, next)
        if (strcmp(k->conversation, conversation) == 0)
            return k;
    return NULL;
}

static void turn_lock_remove(struct turn_lock *k)
{
    LIST_REMOVE(k, next);
    free(k->session.agent);
    free(k->session.id);
    free(k->conversation);
    free(k);
}

static void turn_lock_change(struct turn_locks *l, struct turn_lock *k, enum turn_lock_state state)
{
    if (k->state == state)
        return;
    k->state = state;
    CLEANUP_FREE char *conversation = xstrdup(k->conversation);
    if (state == TURN_LOCK_GIVEN_UP)
        turn_lock_remove(k);
    l->events->changed(l->ctx, conversation, state);
}

static void turn_lock_report_lost(struct turn_locks *l, struct turn_lock *k, const char *why)
{
    ASSERT(k->state == TURN_LOCK_HELD);
    CLEANUP_FREE char *conversation = xstrdup(k->conversation);
    log_write(LOG_WARN, "host", "lost the lock of conversation %s: %s", conversation, why);
    turn_lock_remove(k);
    l->events->lost(l->ctx, conversation);
}

/* ---- requests to Redis or the bus ---- */

struct turn_lock_batch {
    struct turn_locks *all;
    struct turn_lock_redis redis;
    struct turn_lock_request requests[TURN_LOCK_CALL_MAX];
    uint64_t request_ids[TURN_LOCK_CALL_MAX];
    size_t n;
    int64_t sent_ms;
    struct arena arena; /* the conversations of the requests */
    /* written by the worker's thread, read when it is done */
    int rc;
    int64_t others;
};

static int64_t turn_lock_duration_ms(const struct turn_locks *l)
{
    return l->lock_ms;
}

static void turn_lock_schedule_timer(struct turn_locks *l)
{
    const int64_t third = turn_lock_duration_ms(l) / 3, tenth = turn_lock_duration_ms(l) / 10;
    loop_timer_set(l->timer, LIST_EMPTY(&l->list)   ? third
                             : tenth < TRY_AGAIN_MS ? tenth
                                                    : TRY_AGAIN_MS);
}

static int64_t turn_lock_usable_ms(const struct turn_locks *l)
{
    return turn_lock_duration_ms(l) - turn_lock_duration_ms(l) / 10;
}

/* No other host is known to share Redis or the bus, so a turn need not wait for an answer. */
static bool turn_lock_is_alone(const struct turn_locks *l)
{
    return l->bus ? l->others <= 0 && !l->has_peers : l->others == 0;
}

static void turn_lock_on_unavailable(struct turn_locks *l, struct turn_lock *k)
{
    const int64_t now = clock_mono_ms();
    if (k->state == TURN_LOCK_HELD)
        return; /* until its time is over */
    if (turn_lock_is_alone(l)) {
        turn_lock_change(l, k, TURN_LOCK_HELD);
        return;
    }
    if (k->state != TURN_LOCK_UNREACHABLE)
        k->away_since_ms = now;
    if (now - k->away_since_ms >= l->wait_ms)
        turn_lock_change(l, k, TURN_LOCK_GIVEN_UP);
    else
        turn_lock_change(l, k, TURN_LOCK_UNREACHABLE);
}

static void turn_lock_swap_session(struct turn_lock_session *a, struct turn_lock_session *b)
{
    const struct turn_lock_session was = *a;
    *a = *b;
    *b = was;
}

static void turn_lock_apply_grant(struct turn_locks *l, struct turn_lock *k,
                                  struct turn_lock_request *q, int64_t sent_ms)
{
    k->fence = q->fence;
    k->moved = q->moved;
    k->until_ms = l->bus ? 0 : sent_ms + turn_lock_usable_ms(l);
    k->is_unverified = false;
    if (!k->session.agent)
        turn_lock_swap_session(&k->session, &q->session);
    if (k->session.agent && q->moved)
        session_store_adopt(l->sessions, k->session.agent, k->conversation, k->session.id);
    if (k->state != TURN_LOCK_HELD)
        turn_lock_change(l, k, TURN_LOCK_HELD);
    else
        l->events->renewed(l->ctx, k->conversation, turn_lock_until_ms(l, k->conversation));
}

static void turn_lock_apply_result(struct turn_locks *l, struct turn_lock *k,
                                   struct turn_lock_request *q, int64_t sent_ms)
{
    k->rival = q->rival;
    k->rival_since_ms = q->rival_since_ms;
    if (q->done)
        turn_lock_apply_grant(l, k, q, sent_ms);
    else if (k->state == TURN_LOCK_HELD)
        turn_lock_report_lost(l, k, "another host has taken it");
    else
        turn_lock_change(l, k, TURN_LOCK_ELSEWHERE);
}

static void turn_lock_set_others(struct turn_locks *l, int64_t others)
{
    if (l->others == others)
        return;
    if (others && l->others <= 0)
        log_write(LOG_INFO, "host", "%lld other host%s the locks of conversations %s",
                  (long long)others, PLURAL(others, " uses", "s use"),
                  l->bus ? "on the bus" : "in Redis");
    l->others = others;
    journal_async_kv_put(l->journal, OTHERS_KEY, others ? "1" : "0", NULL, NULL);
}

static void turn_lock_batch_run(void *arg)
{
    struct turn_lock_batch *const b = arg;
    b->rc = turn_lock_redis_call(settings_worker_redis(b->all->settings), &b->redis, b->requests,
                                 b->n, &b->others);
}

/* The lock of the request; NULL if a newer request for it has been made since. */
static struct turn_lock *turn_lock_batch_find_lock(const struct turn_lock_batch *b, size_t i)
{
    struct turn_lock *const k = turn_lock_find(b->all, b->requests[i].conversation);
    return k && k->request_id == b->request_ids[i] ? k : NULL;
}

/* Redis is slow: the locks are handled as if Redis did not answer. Its late answer still counts. */
static void turn_lock_batch_on_late(void *arg)
{
    const struct turn_lock_batch *const b = arg;
    for (size_t i = 0; i < b->n && !b->all->closed; i++) {
        struct turn_lock *const k = turn_lock_batch_find_lock(b, i);
        if (k)
            turn_lock_on_unavailable(b->all, k);
    }
}

static void turn_lock_batch_apply(struct turn_lock_batch *b)
{
    for (size_t i = 0; i < b->n; i++) {
        struct turn_lock *const k = turn_lock_batch_find_lock(b, i);
        if (!k)
            continue;
        k->request_id = 0;
        if (b->rc < 0)
            turn_lock_on_unavailable(b->all, k);
        else
            turn_lock_apply_result(b->all, k, &b->requests[i], b->sent_ms);
    }
}

static void turn_lock_batch_on_done(void *arg)
{
    struct turn_lock_batch *const b = arg;
    if (b->rc == 0 && !b->all->bus)
        turn_lock_set_others(b->all, b->others);
    if (!b->all->closed)
        turn_lock_batch_apply(b);
    for (size_t i = 0; i < b->n; i++) {
        free(b->requests[i].session.agent);
        free(b->requests[i].session.id);
    }
    arena_fini(&b->arena);
    free(b);
}

static struct turn_lock_batch *turn_lock_batch_new(struct turn_locks *l)
{
    struct turn_lock_batch *const b = xcalloc(1, sizeof *b);
    b->all = l;
    b->redis = l->redis;
    return b;
}

static void turn_lock_batch_add(struct turn_lock_batch *b, enum turn_lock_verb verb,
                                struct turn_lock *k)
{
    ASSERT(b->n < TURN_LOCK_CALL_MAX);
    b->requests[b->n] = (struct turn_lock_request){
        .verb = verb,
        .conversation = arena_strdup(&b->arena, k->conversation),
        .fence = k->fence,
        .is_begun = k->state == TURN_LOCK_HELD,
        .rival = k->rival,
        .rival_since_ms = k->rival_since_ms,
    };
    b->request_ids[b->n++] = k->request_id = ++b->all->last_request_id;
}

static void turn_lock_batch_on_bus_reply(void *ctx, int rc)
{
    struct turn_lock_batch *const b = ctx;
    b->rc = rc;
    turn_lock_batch_on_done(b);
}

static void turn_lock_batch_submit(struct turn_lock_batch *b)
{
    b->sent_ms = b->all->registered_ms = clock_mono_ms();
    if (b->all->bus) {
        turn_lock_bus_acquire(b->all->bus, &b->requests[0], turn_lock_batch_on_bus_reply, b);
        return;
    }
    settings_worker_submit(b->all->settings, turn_lock_batch_run, turn_lock_batch_on_late,
                           turn_lock_batch_on_done, b);
}

/* ---- time ---- */

/* The agent must have ended before another host can acquire the lock. */
static void turn_lock_expire(struct turn_locks *l)
{
    const int64_t now = clock_mono_ms();
    struct turn_lock *k = LIST_FIRST(&l->list);
    while (k && !turn_lock_is_alone(l))
        if (k->state == TURN_LOCK_HELD && k->until_ms && now >= k->until_ms) {
            turn_lock_report_lost(l, k, "it could not be renewed within store.redis.lock_s");
            k = LIST_FIRST(&l->list); /* `lost` may have released others */
        } else {
            k = LIST_NEXT(k, next);
        }
}

static bool turn_lock_is_due(const struct turn_locks *l, const struct turn_lock *k)
{
    if (k->request_id)
        return false;
    if (k->state != TURN_LOCK_HELD || !k->fence)
        return true;
    if (l->bus)
        return k->is_unverified;
    return clock_mono_ms() >= k->until_ms - turn_lock_usable_ms(l) + turn_lock_duration_ms(l) / 3;
}

static void turn_lock_request_due(struct turn_locks *l)
{
    struct turn_lock_batch *b = NULL;
    struct turn_lock *k;
    LIST_FOREACH (k, &l->list, next) {
        if (!turn_lock_is_due(l, k))
            continue;
        b = b ? b : turn_lock_batch_new(l);
        turn_lock_batch_add(
            b, k->state == TURN_LOCK_HELD && k->fence ? TURN_LOCK_RENEW : TURN_LOCK_ACQUIRE, k);
        if (b->n < (l->bus ? 1 : TURN_LOCK_CALL_MAX))
            continue;
        turn_lock_batch_submit(b);
        b = NULL;
    }
    if (b)
        turn_lock_batch_submit(b);
}

static void turn_lock_on_timer(void *arg)
{
    struct turn_locks *const l = arg;
    if (l->closed)
        return;
    turn_lock_expire(l);
    turn_lock_request_due(l);
    if (!l->bus && clock_mono_ms() - l->registered_ms >= turn_lock_duration_ms(l) / 3)
        turn_lock_batch_submit(turn_lock_batch_new(l));
    turn_lock_schedule_timer(l);
}

/* ---- interface ---- */

bool turn_locks_are_on_bus(const struct turn_locks *l)
{
    return l && l->bus;
}

static bool turn_locks_are_shared(const struct turn_locks *l)
{
    return l && (l->settings || l->bus);
}

enum turn_lock_state turn_lock_want(struct turn_locks *l, const char *conversation)
{
    if (!turn_locks_are_shared(l))
        return TURN_LOCK_HELD;
    struct turn_lock *k = turn_lock_find(l, conversation);
    if (k)
        return k->state;
    k = xcalloc(1, sizeof *k);
    k->conversation = xstrdup(conversation);
    k->state = TURN_LOCK_REQUESTED;
    LIST_INSERT_HEAD(&l->list, k, next);
    if (l->host)
        turn_lock_request_due(l);
    turn_lock_schedule_timer(l);
    return k->state;
}

enum turn_lock_state turn_lock_state(const struct turn_locks *l, const char *conversation)
{
    if (!turn_locks_are_shared(l))
        return TURN_LOCK_HELD;
    const struct turn_lock *const k = turn_lock_find(l, conversation);
    return k ? k->state : TURN_LOCK_NONE;
}

void turn_lock_release(struct turn_locks *l, const char *conversation)
{
    struct turn_lock *const k =
        turn_locks_are_shared(l) && !l->closed ? turn_lock_find(l, conversation) : NULL;
    if (!k)
        return;
    if (l->bus && (k->state == TURN_LOCK_HELD || k->request_id)) {
        turn_lock_bus_release(l->bus, conversation, &k->session);
    } else if (k->state == TURN_LOCK_HELD || k->request_id) {
        struct turn_lock_batch *const b = turn_lock_batch_new(l);
        turn_lock_batch_add(b, TURN_LOCK_RELEASE, k);
        turn_lock_batch_submit(b);
    }
    turn_lock_remove(k);
}

int64_t turn_lock_fence(const struct turn_locks *l, const char *conversation)
{
    const struct turn_lock *const k =
        turn_locks_are_shared(l) ? turn_lock_find(l, conversation) : NULL;
    return k && k->fence ? k->fence : SESSION_FENCE_NONE;
}

int64_t turn_lock_until_ms(const struct turn_locks *l, const char *conversation)
{
    const struct turn_lock *const k =
        turn_locks_are_shared(l) ? turn_lock_find(l, conversation) : NULL;
    return k && !turn_lock_is_alone(l) ? k->until_ms : 0;
}

bool turn_lock_has_moved(const struct turn_locks *l, const char *conversation)
{
    const struct turn_lock *const k =
        turn_locks_are_shared(l) ? turn_lock_find(l, conversation) : NULL;
    return k && k->moved;
}

/* ---- begin and end ---- */

static void turn_locks_on_others(void *ctx, enum journal_status status, const char *text)
{
    struct turn_locks *const l = ctx;
    if (status == JOURNAL_DONE && l->others < 0)
        l->others = strtoll(text, NULL, 10);
    if (l->closed)
        return;
    session_store_set_host(l->sessions, l->host);
    turn_lock_on_timer(l);
}

static void turn_locks_on_host(void *ctx, enum journal_status status, const char *text)
{
    struct turn_locks *const l = ctx;
    char id[37];
    uuid_make(id);
    if (status != JOURNAL_DONE)
        journal_async_kv_put(l->journal, HOST_KEY, id, NULL, NULL);
    l->host = xasprintf("%s/%s", l->name, status == JOURNAL_DONE ? text : id);
    l->redis.host = l->host;
}

struct turn_locks *turn_locks_new(struct loop *loop, struct journal_async *journal,
                                  struct settings_worker *settings, struct session_store *sessions,
                                  const char *host)
{
    struct turn_locks *const l = xcalloc(1, sizeof *l);
    const struct conf_store *const store = settings_worker_store_conf(settings);
    LIST_INIT(&l->list);
    l->loop = loop;
    l->journal = journal;
    l->sessions = sessions;
    l->others = -1;
    if (store->kind != CONF_REDIS || !store->lock_s)
        return l;
    l->settings = settings;
    l->lock_ms = store->lock_s * 1000;
    l->wait_ms = store->lock_wait_s * 1000;
    char name[65] = "";
    if (!host && gethostname(name, sizeof name - 1) < 0)
        snprintf(name, sizeof name, "turncast");
    l->name = xstrdup(host ? host : name);
    uuid_make(l->token);
    l->redis = (struct turn_lock_redis){.store = store, .token = l->token};
    l->timer = loop_timer_new(loop, turn_lock_on_timer, l);
    journal_async_kv_get(journal, HOST_KEY, turn_locks_on_host, l);
    journal_async_kv_get(journal, OTHERS_KEY, turn_locks_on_others, l);
    return l;
}

/* ---- the bus ---- */

/* The bus is connected again. */
static void turn_locks_on_active(void *ctx)
{
    struct turn_locks *const l = ctx;
    struct turn_lock *k;
    LIST_FOREACH (k, &l->list, next)
        k->is_unverified = true;
    turn_lock_on_timer(l);
}

static void turn_locks_on_hosts_checked(void *ctx, size_t others)
{
    turn_lock_set_others(ctx, (int64_t)others);
}

static void turn_locks_on_session(void *ctx, const char *agent, const char *conversation,
                                  const char *id)
{
    const struct turn_locks *const l = ctx;
    struct turn_lock *const k = turn_lock_find(l, conversation);
    struct turn_lock_session session = {xstrdup(agent), xstrdup(id)};
    if (k && k->state == TURN_LOCK_HELD)
        turn_lock_swap_session(&k->session, &session);
    else if (!l->closed)
        turn_lock_bus_store_session(l->bus, conversation, &session);
    free(session.agent);
    free(session.id);
}

static void turn_locks_on_bus_others(void *ctx, enum journal_status status, const char *text)
{
    struct turn_locks *const l = ctx;
    if (status == JOURNAL_DONE && l->others < 0)
        l->others = strtoll(text, NULL, 10);
}

void turn_locks_set_bus(struct turn_locks *l, struct bus *bus, struct work_hosts *hosts,
                        int64_t lost_after_ms)
{
    if (l->settings)
        return;
    l->lock_ms = BUS_LOCK_MS;
    l->wait_ms = INT64_MAX; /* a message that was accepted is answered when the bus is back */
    l->host = xstrdup("");
    l->timer = loop_timer_new(l->loop, turn_lock_on_timer, l);
    journal_async_kv_get(l->journal, OTHERS_KEY, turn_locks_on_bus_others, l);
    session_store_set_watch(l->sessions, turn_locks_on_session, l);
    l->bus = turn_lock_bus_new(
        &(struct turn_lock_bus_spec){.bus = bus,
                                     .hosts = hosts,
                                     .journal = l->journal,
                                     .lost_after_ms = lost_after_ms,
                                     .on_active = turn_locks_on_active,
                                     .on_hosts_checked = turn_locks_on_hosts_checked,
                                     .ctx = l});
}

void turn_locks_set_conf(struct turn_locks *l, const struct conf *conf)
{
    l->has_peers = false;
    for (size_t i = 0; i < conf->n_agents; i++)
        l->has_peers |= conf_agent_is_shared(conf, &conf->agents[i]);
}

void turn_locks_set_events(struct turn_locks *l, const struct turn_lock_events *events, void *ctx)
{
    l->events = events;
    l->ctx = ctx;
}

void turn_locks_close(struct turn_locks *l)
{
    l->closed = true;
    if (l->timer)
        loop_timer_set(l->timer, -1);
    if (l->bus)
        session_store_set_watch(l->sessions, NULL, NULL);
    turn_lock_bus_free(l->bus);
    l->bus = NULL;
}

void turn_locks_free(struct turn_locks *l)
{
    if (!l)
        return;
    while (!LIST_EMPTY(&l->list))
        turn_lock_remove(LIST_FIRST(&l->list));
    if (l->timer)
        loop_timer_free(l->timer);
    free(l->name);
    free(l->host);
    free(l);
}
