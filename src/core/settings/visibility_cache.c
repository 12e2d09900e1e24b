/* SPDX-License-Identifier: MIT
 * Owns the last known switches of each agent, and the questions that are under way. */
#include "core/settings/visibility_cache.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sys/log.h"

struct known {
    struct known *next;
    char *agent;
    struct visibility v;
    size_t changing; /* until these are done, what is read may be older */
};

struct switches {
    struct shelf *shelf;
    struct known *all;
};

struct question {
    struct switches *switches;
    struct known *known;
    bool told; /* it took too long */
    void (*got)(void *ctx, struct visibility v);
    void (*set)(void *ctx, enum sticky_saved saved, const char *why);
    struct visibility before;
    void *ctx;
    /* the shelf's thread, until it is done */
    struct visibility v;
    bool failed;
    enum sticky_saved saved;
    struct tc_err err;
};

static struct known *add(struct switches *s, const char *agent)
{
    struct known *const k = xcalloc(1, sizeof *k);
    struct tc_err err = {0};
    k->agent = xstrdup(agent);
    k->next = s->all;
    s->all = k;
    if (sticky_load_copy(shelf_sticky(s->shelf), agent, &k->v, &err) < 0)
        log_line(LOG_WARN, "host", "%s; the configured visibility is used", err_str(&err));
    return k;
}

/* An agent that the configuration does not have is looked up on the loop, once. */
static struct known *find(struct switches *s, const char *agent)
{
    for (struct known *k = s->all; k; k = k->next)
        if (strcmp(k->agent, agent) == 0)
            return k;
    return add(s, agent);
}

/* ---- asking ---- */

static void work_get(void *arg)
{
    struct question *const q = arg;
    struct sticky *const sticky = shelf_sticky(q->switches->shelf);
    q->failed = sticky_load(sticky, q->known->agent, &q->v, &q->err) < 0;
}

static void late_get(void *arg)
{
    struct question *const q = arg;
    q->told = true;
    q->got(q->ctx, q->known->v);
}

static void done_get(void *arg)
{
    struct question *const q = arg;
    if (q->failed)
        log_line(LOG_WARN, "host", "%s; the configured visibility is used", err_str(&q->err));
    if (!q->known->changing)
        q->known->v = q->v;
    if (!q->told)
        q->got(q->ctx, q->known->v);
    free(q);
}

void switches_get(struct switches *s, const char *agent,
                  void (*done)(void *ctx, struct visibility v), void *ctx)
{
    struct question *const q = xcalloc(1, sizeof *q);
    q->switches = s;
    q->known = find(s, agent);
    q->got = done;
    q->ctx = ctx;
    shelf_do(s->shelf, work_get, late_get, done_get, q);
}

/* ---- changing ---- */

static void work_set(void *arg)
{
    struct question *const q = arg;
    struct sticky *const sticky = shelf_sticky(q->switches->shelf);
    q->saved = sticky_save(sticky, q->known->agent, q->v, &q->err);
}

/* It is not known to be stored. */
static void late_set(void *arg)
{
    struct question *const q = arg;
    q->told = true;
    q->set(q->ctx, STICKY_KEPT, NULL);
}

static void done_set(void *arg)
{
    struct question *const q = arg;
    if (q->saved == STICKY_FAILED)
        log_line(LOG_WARN, "host", "visibility is not stored: %s", err_str(&q->err));
    q->known->changing--;
    if (q->saved == STICKY_FAILED && !q->known->changing)
        q->known->v = q->before;
    if (!q->told)
        q->set(q->ctx, q->saved, q->saved == STICKY_FAILED ? err_str(&q->err) : NULL);
    free(q);
}

void switches_set(struct switches *s, const char *agent, struct visibility v,
                  void (*done)(void *ctx, enum sticky_saved saved, const char *why), void *ctx)
{
    struct question *const q = xcalloc(1, sizeof *q);
    q->switches = s;
    q->known = find(s, agent);
    q->set = done;
    q->ctx = ctx;
    q->v = v;
    q->before = q->known->v;
    q->known->v = v;
    q->known->changing++;
    shelf_do(s->shelf, work_set, late_set, done_set, q);
}

/* ---- its life ---- */

struct switches *switches_new(struct shelf *shelf, const struct conf *conf)
{
    struct switches *const s = xcalloc(1, sizeof *s);
    s->shelf = shelf;
    for (size_t i = 0; i < conf->n_agents; i++)
        find(s, conf->agents[i].name);
    return s;
}

void switches_free(struct switches *s)
{
    if (!s)
        return;
    for (struct known *k; (k = s->all);) {
        s->all = k->next;
        free(k->agent);
        free(k);
    }
    free(s);
}
