/* SPDX-License-Identifier: MIT
 * Owns the last known visibility of each agent, and pending lookups. */
#include "core/settings/visibility_cache.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sys/log.h"

struct visibility_cache_entry {
    struct visibility_cache_entry *next;
    char *agent;
    struct visibility v;
    size_t changing;     /* until these complete, a lookup may return an older value */
    unsigned generation; /* configured value at the last lookup */
};

struct visibility_cache {
    struct settings_worker *settings;
    struct visibility_cache_entry *all;
    void (*changed)(void *ctx, const char *agent, struct visibility v); /* or NULL */
    void *changed_ctx;
    unsigned generation; /* configured value */
};

struct visibility_cache_lookup {
    struct visibility_cache *switches;
    struct visibility_cache_entry *known;
    bool reported; /* timed out */
    bool shared;   /* another host has changed it */
    void (*got)(void *ctx, struct visibility v);
    void (*set)(void *ctx, enum visibility_store_result saved, const char *why);
    struct visibility before;
    void *ctx;
    /* owned by the settings worker's thread until it is done */
    struct visibility v;
    bool failed;
    enum visibility_store_result saved;
    struct tc_err err;
};

static struct visibility_cache_entry *visibility_cache_add(struct visibility_cache *s,
                                                           const char *agent)
{
    struct visibility_cache_entry *const k = xcalloc(1, sizeof *k);
    struct tc_err err = {0};
    k->agent = xstrdup(agent);
    k->generation = s->generation;
    k->next = s->all;
    s->all = k;
    if (visibility_store_load_local(settings_worker_visibility(s->settings), agent, &k->v, &err) <
        0)
        log_write(LOG_WARN, "host", "cannot read stored visibility: %s; using the configured one",
                  err_format(&err));
    return k;
}

/* An agent that is not in the configuration is read on the loop, once. */
static struct visibility_cache_entry *visibility_cache_find(struct visibility_cache *s,
                                                            const char *agent)
{
    for (struct visibility_cache_entry *k = s->all; k; k = k->next)
        if (strcmp(k->agent, agent) == 0)
            return k;
    return visibility_cache_add(s, agent);
}

/* ---- lookup ---- */

static void work_get(void *arg)
{
    struct visibility_cache_lookup *const q = arg;
    struct visibility_store *const store = settings_worker_visibility(q->switches->settings);
    q->failed = visibility_store_load(store, q->known->agent, &q->v, &q->err) < 0;
}

static void late_get(void *arg)
{
    struct visibility_cache_lookup *const q = arg;
    q->reported = true;
    q->got(q->ctx, q->known->v);
}

static void visibility_cache_report(const struct visibility_cache *s, const char *agent,
                                    struct visibility v)
{
    if (s->changed)
        s->changed(s->changed_ctx, agent, v);
}

/* Whether a command, or agenticore, has changed the stored value. A change of the configured
 * default does not count. */
static void visibility_cache_learn(struct visibility_cache_lookup *q)
{
    const bool is_new =
        q->known->generation == q->switches->generation && !visibility_equal(&q->known->v, &q->v);
    q->known->v = q->v;
    q->known->generation = q->switches->generation;
    if (is_new && !q->failed)
        visibility_cache_report(q->switches, q->known->agent, q->v);
}

static void done_get(void *arg)
{
    struct visibility_cache_lookup *const q = arg;
    if (q->failed)
        log_write(LOG_WARN, "host", "cannot read stored visibility: %s; using the configured one",
                  err_format(&q->err));
    if (!q->known->changing)
        visibility_cache_learn(q);
    if (!q->reported)
        q->got(q->ctx, q->known->v);
    free(q);
}

void visibility_cache_get(struct visibility_cache *s, const char *agent,
                          void (*done)(void *ctx, struct visibility v), void *ctx)
{
    struct visibility_cache_lookup *const q = xcalloc(1, sizeof *q);
    q->switches = s;
    q->known = visibility_cache_find(s, agent);
    q->got = done;
    q->ctx = ctx;
    settings_worker_submit(s->settings, work_get, late_get, done_get, q);
}

/* ---- changing ---- */

static void work_set(void *arg)
{
    struct visibility_cache_lookup *const q = arg;
    struct visibility_store *const store = settings_worker_visibility(q->switches->settings);
    q->saved = visibility_store_save(store, q->known->agent, q->v, &q->err);
}

/* Records that the value may not be stored. */
static void late_set(void *arg)
{
    struct visibility_cache_lookup *const q = arg;
    q->reported = true;
    q->set(q->ctx, VISIBILITY_STORE_SAVED_LOCALLY, NULL);
}

static void done_set(void *arg)
{
    struct visibility_cache_lookup *const q = arg;
    if (q->saved == STICKY_FAILED)
        log_write(LOG_WARN, "host", "cannot store visibility: %s", err_format(&q->err));
    q->known->changing--;
    if (q->saved == STICKY_FAILED && !q->known->changing)
        q->known->v = q->before;
    if (q->saved != STICKY_FAILED && !q->shared)
        visibility_cache_report(q->switches, q->known->agent, q->v);
    if (!q->reported)
        q->set(q->ctx, q->saved, q->saved == STICKY_FAILED ? err_format(&q->err) : NULL);
    free(q);
}

static void visibility_cache_change(
    struct visibility_cache *s, const char *agent, struct visibility v, bool shared,
    void (*done)(void *ctx, enum visibility_store_result saved, const char *why), void *ctx)
{
    struct visibility_cache_lookup *const q = xcalloc(1, sizeof *q);
    q->switches = s;
    q->known = visibility_cache_find(s, agent);
    q->set = done;
    q->ctx = ctx;
    q->v = v;
    q->shared = shared;
    q->before = q->known->v;
    q->known->v = v;
    q->known->changing++;
    settings_worker_submit(s->settings, work_set, late_set, done_set, q);
}

void visibility_cache_set(struct visibility_cache *s, const char *agent, struct visibility v,
                          void (*done)(void *ctx, enum visibility_store_result saved,
                                       const char *why),
                          void *ctx)
{
    visibility_cache_change(s, agent, v, false, done, ctx);
}

/* ---- other hosts ---- */

static void visibility_cache_ignore(void *ctx, enum visibility_store_result saved, const char *why)
{
    (void)ctx, (void)saved, (void)why; /* it was logged */
}

void visibility_cache_set_shared(struct visibility_cache *s, const char *agent, struct visibility v)
{
    visibility_cache_change(s, agent, v, true, visibility_cache_ignore, NULL);
}

void visibility_cache_set_conf(struct visibility_cache *s)
{
    s->generation++;
}

struct visibility visibility_cache_peek(struct visibility_cache *s, const char *agent)
{
    return visibility_cache_find(s, agent)->v;
}

void visibility_cache_set_watch(struct visibility_cache *s,
                                void (*changed)(void *ctx, const char *agent, struct visibility v),
                                void *ctx)
{
    s->changed = changed;
    s->changed_ctx = ctx;
}

/* ---- create and free ---- */

struct visibility_cache *visibility_cache_new(struct settings_worker *settings,
                                              const struct conf *conf)
{
    struct visibility_cache *const s = xcalloc(1, sizeof *s);
    s->settings = settings;
    for (size_t i = 0; i < conf->n_agents; i++)
        visibility_cache_find(s, conf->agents[i].name);
    return s;
}

void visibility_cache_free(struct visibility_cache *s)
{
    if (!s)
        return;
    for (struct visibility_cache_entry *k; (k = s->all);) {
        s->all = k->next;
        free(k->agent);
        free(k);
    }
    free(s);
}
