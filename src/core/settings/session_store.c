/* SPDX-License-Identifier: MIT
 * Owns which of the two answers counts, and what Redis has still to be told. */
#include "core/settings/session_store.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "core/settings/session_redis.h"

#define UNSAVED_MAX 1000

/* Of a conversation; also what Redis could not be told. */
struct note {
    struct note *next;
    struct sessions *sessions;
    char *agent, *conversation;
    char *id; /* NULL: it is over */
    bool failed;
};

struct sessions {
    struct ledger *ledger;
    struct shelf *shelf;
    const struct conf_store *store;
    bool shared;          /* Redis has them too */
    struct note *unsaved; /* at most one of a conversation; the newest first */
    size_t n_unsaved;
};

static char *key_of(const char *agent, const char *conversation)
{
    return xasprintf("session:%s:%s", agent, conversation);
}

static struct note **find_unsaved(struct sessions *s, const char *agent, const char *conversation)
{
    struct note **at = &s->unsaved;
    while (*at &&
           (strcmp((*at)->agent, agent) != 0 || strcmp((*at)->conversation, conversation) != 0))
        at = &(*at)->next;
    return at;
}

static void free_note(struct note *n)
{
    free(n->agent);
    free(n->conversation);
    free(n->id);
    free(n);
}

/* ---- finding ---- */

struct search {
    struct sessions *sessions;
    char *agent, *conversation;
    void (*done)(void *ctx, const char *id);
    void *ctx;
    char *kept;                   /* what the ledger says */
    bool ledger_said, redis_said; /* redis_said: or it is too late */
    bool told;
    bool works;                /* the shelf has not given it back */
    enum session_found answer; /* of Redis, when it came in time */
    /* the shelf's thread, until it is done */
    enum session_found found;
    struct buf there;
};

static void free_search(struct search *q)
{
    free(q->agent);
    free(q->conversation);
    free(q->kept);
    buf_fini(&q->there);
    free(q);
}

/* When both have said what they know. */
static void conclude(struct search *q)
{
    if (!q->told && q->ledger_said && q->redis_said) {
        q->told = true;
        q->done(q->ctx, q->answer == SESSION_ACTIVE ? q->there.p
                        : q->answer == SESSION_OVER ? NULL
                                                    : q->kept);
    }
    if (q->told && !q->works)
        free_search(q);
}

static void on_ledger(void *ctx, enum record_status status, const char *text)
{
    struct search *const q = ctx;
    q->ledger_said = true;
    if (status == RECORD_DONE)
        q->kept = xstrdup(text);
    conclude(q);
}

static void work_find(void *arg)
{
    struct search *const q = arg;
    const struct sessions *const s = q->sessions;
    q->found =
        session_redis_read(shelf_redis(s->shelf), s->store, q->agent, q->conversation, &q->there);
}

static void late_find(void *arg)
{
    struct search *const q = arg;
    q->redis_said = true;
    conclude(q);
}

static void done_find(void *arg)
{
    struct search *const q = arg;
    q->works = false;
    if (!q->redis_said)
        q->answer = q->found;
    q->redis_said = true;
    conclude(q);
}

void sessions_find(struct sessions *s, const char *agent, const char *conversation,
                   void (*done)(void *ctx, const char *id), void *ctx)
{
    struct search *const q = xcalloc(1, sizeof *q);
    CLEANUP_FREE char *key = key_of(agent, conversation);
    q->sessions = s;
    q->agent = xstrdup(agent);
    q->conversation = xstrdup(conversation);
    q->done = done;
    q->ctx = ctx;
    q->answer = SESSION_AWAY;
    q->works = s->shared && !*find_unsaved(s, agent, conversation);
    q->redis_said = !q->works;
    if (q->works)
        shelf_do(s->shelf, work_find, late_find, done_find, q);
    ledger_get(s->ledger, key, on_ledger, q);
}

/* ---- keeping ---- */

static void work_keep(void *arg)
{
    struct note *const n = arg;
    const struct sessions *const s = n->sessions;
    n->failed =
        session_redis_write(shelf_redis(s->shelf), s->store, n->agent, n->conversation, n->id) < 0;
}

static void late_keep(void *arg)
{
    (void)arg; /* nobody waits for it */
}

static void drop(struct sessions *s, struct note **at)
{
    struct note *const n = *at;
    *at = n->next;
    s->n_unsaved--;
    free_note(n);
}

/* A note of the same conversation is older: what is to be done is done in order. */
static void keep_for_later(struct sessions *s, struct note *n)
{
    struct note **const older = find_unsaved(s, n->agent, n->conversation);
    if (*older)
        drop(s, older);
    n->next = s->unsaved;
    s->unsaved = n;
    struct note **last = &s->unsaved;
    while ((*last)->next)
        last = &(*last)->next;
    if (++s->n_unsaved > UNSAVED_MAX)
        drop(s, last);
}

static void done_keep(void *arg)
{
    struct note *const n = arg;
    if (n->failed)
        keep_for_later(n->sessions, n);
    else
        free_note(n);
}

static void on_back(void *ctx)
{
    struct sessions *const s = ctx;
    for (struct note *n; (n = s->unsaved);) {
        s->unsaved = n->next;
        s->n_unsaved--;
        shelf_do(s->shelf, work_keep, late_keep, done_keep, n);
    }
}

static void share(struct sessions *s, const char *agent, const char *conversation, const char *id)
{
    if (!s->shared)
        return;
    struct note *const n = xcalloc(1, sizeof *n);
    n->sessions = s;
    n->agent = xstrdup(agent);
    n->conversation = xstrdup(conversation);
    n->id = xstrdup(id);
    shelf_do(s->shelf, work_keep, late_keep, done_keep, n);
}

void sessions_keep(struct sessions *s, const char *agent, const char *conversation, const char *id,
                   bool changed)
{
    CLEANUP_FREE char *key = key_of(agent, conversation);
    if (changed)
        ledger_put(s->ledger, key, id, NULL, NULL);
    share(s, agent, conversation, id);
}

static char *spent_key_of(const char *agent, const char *conversation)
{
    return xasprintf("spent:%s:%s", agent, conversation);
}

void sessions_find_spent(struct sessions *s, const char *agent, const char *conversation,
                         ledger_done *done, void *ctx)
{
    CLEANUP_FREE char *key = spent_key_of(agent, conversation);
    ledger_get(s->ledger, key, done, ctx);
}

void sessions_keep_spent(struct sessions *s, const char *agent, const char *conversation,
                         const char *text)
{
    CLEANUP_FREE char *key = spent_key_of(agent, conversation);
    ledger_put(s->ledger, key, text, NULL, NULL);
}

void sessions_forget(struct sessions *s, const char *agent, const char *conversation)
{
    CLEANUP_FREE char *key = key_of(agent, conversation);
    ledger_put(s->ledger, key, NULL, NULL, NULL);
    sessions_keep_spent(s, agent, conversation, NULL);
    share(s, agent, conversation, NULL);
}

/* ---- its life ---- */

struct sessions *sessions_new(struct ledger *ledger, struct shelf *shelf)
{
    struct sessions *const s = xcalloc(1, sizeof *s);
    *s = (struct sessions){
        .ledger = ledger,
        .shelf = shelf,
        .store = shelf_store(shelf),
        .shared = shelf_store(shelf)->kind == CONF_REDIS,
    };
    if (s->shared)
        shelf_on_back(shelf, on_back, s);
    return s;
}

void sessions_free(struct sessions *s)
{
    if (!s)
        return;
    while (s->unsaved)
        drop(s, &s->unsaved);
    free(s);
}
