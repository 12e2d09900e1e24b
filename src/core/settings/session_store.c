/* SPDX-License-Identifier: MIT
 * Chooses between the answers of journal and Redis, and tracks writes that Redis has missed. */
#include "core/settings/session_store.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/sys/log.h"

#define UNSAVED_MAX 1000

/* A session of a conversation, or a write that Redis has missed. */
struct session_store_pending {
    struct session_store_pending *next;
    struct session_store *sessions;
    char *agent, *conversation;
    char *id; /* NULL: deleted */
    int64_t fence;
    const char *host;
    enum session_redis_written written;
};

struct session_store {
    struct journal_async *journal;
    struct settings_worker *settings;
    const struct conf_store *store;
    bool shared;                           /* stored in Redis, too */
    const char *host;                      /* name of this host in lock records; or "" */
    struct session_store_pending *unsaved; /* at most one per conversation; the newest first */
    size_t n_unsaved;
    void (*changed)(void *ctx, const char *agent, const char *conversation, const char *id);
    void *ctx;
};

static char *session_store_key_of(const char *agent, const char *conversation)
{
    return xasprintf("session:%s:%s", agent, conversation);
}

static struct session_store_pending **find_unsaved(struct session_store *s, const char *agent,
                                                   const char *conversation)
{
    struct session_store_pending **at = &s->unsaved;
    while (*at &&
           (strcmp((*at)->agent, agent) != 0 || strcmp((*at)->conversation, conversation) != 0))
        at = &(*at)->next;
    return at;
}

static void session_store_free_pending(struct session_store_pending *n)
{
    free(n->agent);
    free(n->conversation);
    free(n->id);
    free(n);
}

/* ---- lookup ---- */

struct session_store_lookup {
    struct session_store *sessions;
    char *agent, *conversation;
    void (*done)(void *ctx, const char *id);
    void *ctx;
    char *kept;                          /* answer of the journal */
    bool journal_replied, redis_replied; /* redis_said: or timed out */
    bool reported;
    bool works;                       /* the settings worker has not finished */
    enum session_redis_result answer; /* answer of Redis, if in time */
    /* owned by the settings worker's thread until it is done */
    enum session_redis_result found;
    struct buf there;
};

static void free_search(struct session_store_lookup *q)
{
    free(q->agent);
    free(q->conversation);
    free(q->kept);
    buf_fini(&q->there);
    free(q);
}

/* Call it when both have answered. */
static void conclude(struct session_store_lookup *q)
{
    if (!q->reported && q->journal_replied && q->redis_replied) {
        q->reported = true;
        q->done(q->ctx, q->answer == SESSION_ACTIVE ? q->there.p
                        : q->answer == SESSION_OVER ? NULL
                                                    : q->kept);
    }
    if (q->reported && !q->works)
        free_search(q);
}

static void on_ledger(void *ctx, enum journal_status status, const char *text)
{
    struct session_store_lookup *const q = ctx;
    q->journal_replied = true;
    if (status == JOURNAL_DONE)
        q->kept = xstrdup(text);
    conclude(q);
}

static void work_find(void *arg)
{
    struct session_store_lookup *const q = arg;
    const struct session_store *const s = q->sessions;
    q->found = session_redis_read(settings_worker_redis(s->settings), s->store, q->agent,
                                  q->conversation, &q->there);
}

static void late_find(void *arg)
{
    struct session_store_lookup *const q = arg;
    q->redis_replied = true;
    conclude(q);
}

static void done_find(void *arg)
{
    struct session_store_lookup *const q = arg;
    q->works = false;
    if (!q->redis_replied)
        q->answer = q->found;
    q->redis_replied = true;
    conclude(q);
}

void session_store_find(struct session_store *s, const char *agent, const char *conversation,
                        void (*done)(void *ctx, const char *id), void *ctx)
{
    struct session_store_lookup *const q = xcalloc(1, sizeof *q);
    CLEANUP_FREE char *key = session_store_key_of(agent, conversation);
    q->sessions = s;
    q->agent = xstrdup(agent);
    q->conversation = xstrdup(conversation);
    q->done = done;
    q->ctx = ctx;
    q->answer = SESSION_AWAY;
    q->works = s->shared && !*find_unsaved(s, agent, conversation);
    q->redis_replied = !q->works;
    if (q->works)
        settings_worker_submit(s->settings, work_find, late_find, done_find, q);
    journal_async_kv_get(s->journal, key, on_ledger, q);
}

/* ---- storing ---- */

static void session_store_write_session(void *arg)
{
    struct session_store_pending *const n = arg;
    const struct session_store *const s = n->sessions;
    n->written = session_redis_write(settings_worker_redis(s->settings), s->store,
                                     &(struct session_redis_value){.agent = n->agent,
                                                                   .conversation = n->conversation,
                                                                   .id = n->id,
                                                                   .fence = n->fence,
                                                                   .host = n->host});
}

static void session_store_ignore_late_write(void *arg)
{
    (void)arg; /* no caller waits for this write */
}

static void session_store_drop(struct session_store *s, struct session_store_pending **at)
{
    struct session_store_pending *const n = *at;
    *at = n->next;
    s->n_unsaved--;
    session_store_free_pending(n);
}

/* Replaces an older write of the same conversation that is pending; writes are executed in order.
 */
static void session_store_queue_write(struct session_store *s, struct session_store_pending *n)
{
    struct session_store_pending **const older = find_unsaved(s, n->agent, n->conversation);
    if (*older)
        session_store_drop(s, older);
    n->next = s->unsaved;
    s->unsaved = n;
    struct session_store_pending **last = &s->unsaved;
    while ((*last)->next)
        last = &(*last)->next;
    if (++s->n_unsaved > UNSAVED_MAX)
        session_store_drop(s, last);
}

/* A stored session must not be resumed even while Redis is unavailable. */
static void session_store_on_refused(struct session_store *s, const struct session_store_pending *n)
{
    CLEANUP_FREE char *key = session_store_key_of(n->agent, n->conversation);
    log_write(LOG_INFO, "host",
              "session of conversation %s not stored: the conversation has gone on without it",
              n->conversation);
    journal_async_kv_put(s->journal, key, NULL, NULL, NULL);
}

static void session_store_on_session_written(void *arg)
{
    struct session_store_pending *const n = arg;
    if (n->written == SESSION_REFUSED)
        session_store_on_refused(n->sessions, n);
    if (n->written == SESSION_NOT_WRITTEN)
        session_store_queue_write(n->sessions, n);
    else
        session_store_free_pending(n);
}

static void on_back(void *ctx)
{
    struct session_store *const s = ctx;
    for (struct session_store_pending *n; (n = s->unsaved);) {
        s->unsaved = n->next;
        s->n_unsaved--;
        settings_worker_submit(s->settings, session_store_write_session,
                               session_store_ignore_late_write, session_store_on_session_written,
                               n);
    }
}

static void share(struct session_store *s, const char *agent, const char *conversation,
                  const char *id, int64_t fence)
{
    if (!s->shared)
        return;
    struct session_store_pending *const n = xcalloc(1, sizeof *n);
    n->sessions = s;
    n->agent = xstrdup(agent);
    n->conversation = xstrdup(conversation);
    n->id = xstrdup(id);
    n->fence = fence;
    n->host = s->host;
    settings_worker_submit(s->settings, session_store_write_session,
                           session_store_ignore_late_write, session_store_on_session_written, n);
}

void session_store_save(struct session_store *s, const char *agent, const char *conversation,
                        const char *id, int64_t fence)
{
    CLEANUP_FREE char *key = session_store_key_of(agent, conversation);
    journal_async_kv_put(s->journal, key, id, NULL, NULL);
    share(s, agent, conversation, id, fence);
    if (s->changed)
        s->changed(s->ctx, agent, conversation, id);
}

static char *spent_key_of(const char *agent, const char *conversation)
{
    return xasprintf("spent:%s:%s", agent, conversation);
}

void session_store_find_spent(struct session_store *s, const char *agent, const char *conversation,
                              journal_done_fn *done, void *ctx)
{
    CLEANUP_FREE char *key = spent_key_of(agent, conversation);
    journal_async_kv_get(s->journal, key, done, ctx);
}

void session_store_keep_spent(struct session_store *s, const char *agent, const char *conversation,
                              const char *text)
{
    CLEANUP_FREE char *key = spent_key_of(agent, conversation);
    journal_async_kv_put(s->journal, key, text, NULL, NULL);
}

void session_store_delete(struct session_store *s, const char *agent, const char *conversation)
{
    CLEANUP_FREE char *key = session_store_key_of(agent, conversation);
    journal_async_kv_put(s->journal, key, NULL, NULL, NULL);
    session_store_keep_spent(s, agent, conversation, NULL);
    share(s, agent, conversation, NULL, SESSION_FENCE_CHOSEN);
    if (s->changed)
        s->changed(s->ctx, agent, conversation, NULL);
}

void session_store_adopt(struct session_store *s, const char *agent, const char *conversation,
                         const char *id)
{
    CLEANUP_FREE char *key = session_store_key_of(agent, conversation);
    journal_async_kv_put(s->journal, key, id, NULL, NULL);
    session_store_keep_spent(s, agent, conversation, NULL);
}

void session_store_set_watch(struct session_store *s,
                             void (*changed)(void *ctx, const char *agent, const char *conversation,
                                             const char *id),
                             void *ctx)
{
    s->changed = changed;
    s->ctx = ctx;
}

/* ---- create and free ---- */

struct session_store *session_store_new(struct journal_async *journal,
                                        struct settings_worker *settings)
{
    struct session_store *const s = xcalloc(1, sizeof *s);
    *s = (struct session_store){
        .journal = journal,
        .settings = settings,
        .store = settings_worker_store_conf(settings),
        .shared = settings_worker_store_conf(settings)->kind == CONF_REDIS,
        .host = "",
    };
    if (s->shared)
        settings_worker_set_reconnect_cb(settings, on_back, s);
    return s;
}

void session_store_set_host(struct session_store *s, const char *host)
{
    s->host = host;
}

void session_store_free(struct session_store *s)
{
    if (!s)
        return;
    while (s->unsaved)
        session_store_drop(s, &s->unsaved);
    free(s);
}
