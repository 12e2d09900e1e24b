/* SPDX-License-Identifier: MIT
 * Owns the choices of all conversations, and their text in the journal: one line each for agent,
 * model and working directory. */
#include "core/settings/bindings.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes/buf.h"
#include "base/cleanup.h"
#include "core/bus/bus_stream.h"
#include "event/json/json_writer.h"

#define CONVERSATIONS_MAX 10000
#define KEY "binding:"
#define SHARED_KEY "bind."

struct bindings_entry {
    char *key;
    char *values[BINDINGS_KINDS]; /* or NULL */
};

struct bindings {
    struct journal_async *journal;
    struct shared_user *shared; /* NULL: no other hosts */
    void *tree;                 /* of search.h */
    size_t n;
};

static int bindings_compare(const void *a, const void *b)
{
    return strcmp(((const struct bindings_entry *)a)->key, ((const struct bindings_entry *)b)->key);
}

static struct bindings_entry *bindings_find(const struct bindings *b, const char *key)
{
    const struct bindings_entry wanted = {.key = (char *)(uintptr_t)key};
    struct bindings_entry *const *const found =
        b ? tfind(&wanted, &b->tree, bindings_compare) : NULL;
    return found ? *found : NULL;
}

static void bindings_free_entry(void *entry)
{
    struct bindings_entry *const e = entry;
    for (size_t i = 0; i < BINDINGS_KINDS; i++)
        free(e->values[i]);
    free(e->key);
    free(e);
}

/* NULL: too many. */
static struct bindings_entry *bindings_make(struct bindings *b, const char *key)
{
    struct bindings_entry *e = bindings_find(b, key);
    if (e || b->n >= CONVERSATIONS_MAX)
        return e;
    e = xcalloc(1, sizeof *e);
    e->key = xstrdup(key);
    alloc_check(tsearch(e, &b->tree, bindings_compare), sizeof(void *));
    b->n++;
    return e;
}

static void bindings_read(void *ctx, const char *key, const char *value)
{
    struct bindings_entry *const e = bindings_make(ctx, key + strlen(KEY));
    for (size_t i = 0; e && i < BINDINGS_KINDS; i++) {
        const size_t len = strcspn(value, "\n");
        free(e->values[i]);
        e->values[i] = len ? xstrndup(value, len) : NULL;
        value += len + (value[len] == '\n');
    }
}

struct bindings *bindings_new(struct journal_async *journal)
{
    struct bindings *const b = xcalloc(1, sizeof *b);
    b->journal = journal;
    /* A read error is logged by the journal; conversations use their defaults. */
    (void)journal_async_kv_each(journal, KEY, bindings_read, b);
    return b;
}

void bindings_free(struct bindings *b)
{
    if (b)
        tdestroy(b->tree, bindings_free_entry);
    free(b);
}

/* ---- current values ---- */

/* NULL: the conversation may not choose that name. */
static const struct conf_agent *
find_allowed_agent(const struct conf *conf, const struct conf_instance *inst, const char *name)
{
    const struct conf_agent *const agent = name ? conf_agent_find(conf, name) : NULL;
    return agent && conf_chat_allows_agent(conf, inst, agent) ? agent : NULL;
}

/* The first of both that is in the agent's list. */
static const char *find_listed(char *const *list, const char *first, const char *second)
{
    const char *const wanted[] = {first, second};
    for (size_t i = 0; i < 2; i++)
        for (char *const *at = list; at && wanted[i] && *at; at++)
            if (strcmp(*at, wanted[i]) == 0)
                return *at;
    return NULL;
}

const struct conf_agent *bindings_find_agent(const struct bindings *b, const struct conf *conf,
                                             const struct conf_instance *inst, const char *key)
{
    static const struct bindings_entry nothing;
    const struct bindings_entry *e = bindings_find(b, key);
    const struct conf_binding *const bound = conf_binding_find(inst, key);
    e = e ? e : &nothing;
    const struct conf_agent *own = conf_agent_find(conf, inst->agent), *agent;
    if (bound && bound->agent)
        own = conf_agent_find(conf, bound->agent);
    agent = find_allowed_agent(conf, inst, e->values[BINDING_AGENT]);
    agent = agent ? agent : own;
    if (!agent)
        return NULL;
    const bool is_bound = bound && agent == own;
    return conf_agent_choose(
        conf, agent,
        find_listed(agent->choices.models, e->values[BINDING_MODEL],
                    is_bound ? bound->model : NULL),
        find_listed(agent->choices.cwds, e->values[BINDING_CWD], is_bound ? bound->cwd : NULL));
}

/* ---- choices ---- */

static bool bindings_is_empty(const struct bindings_entry *e)
{
    for (size_t i = 0; i < BINDINGS_KINDS; i++)
        if (e->values[i])
            return false;
    return true;
}

static void bindings_write(const struct bindings *b, const struct bindings_entry *e)
{
    CLEANUP_FREE char *key = xasprintf(KEY "%s", e->key);
    CLEANUP_BUF struct buf text = {0};
    for (size_t i = 0; i < BINDINGS_KINDS; i++)
        buf_printf(&text, "%s\n", e->values[i] ? e->values[i] : "");
    journal_async_kv_put(b->journal, key, bindings_is_empty(e) ? NULL : text.p, NULL, NULL);
}

/* Call it after a change of its values. */
static void bindings_store(struct bindings *b, struct bindings_entry *e)
{
    bindings_write(b, e);
    if (!bindings_is_empty(e))
        return;
    tdelete(e, &b->tree, bindings_compare);
    b->n--;
    bindings_free_entry(e);
}

/* ---- other hosts ---- */

static const char *const bindings_members[BINDINGS_KINDS] = {
    [BINDING_AGENT] = "agent", [BINDING_MODEL] = "model", [BINDING_CWD] = "cwd"};

static void bindings_add_shared_key(struct buf *out, const char *key)
{
    buf_add_str(out, SHARED_KEY);
    bus_stream_add_token(out, key);
}

/* The shared value of a conversation. */
static void bindings_publish(const struct bindings *b, const struct bindings_entry *e)
{
    CLEANUP_BUF struct buf key = {0}, value = {0};
    if (!b->shared)
        return;
    bindings_add_shared_key(&key, e->key);
    buf_add_char(&value, '{');
    jsonw_member_str(&value, "conversation", e->key);
    for (size_t i = 0; i < BINDINGS_KINDS; i++)
        jsonw_member_str(&value, bindings_members[i], e->values[i]);
    buf_add_char(&value, '}');
    shared_put(b->shared, key.p, bindings_is_empty(e) ? NULL : value.p);
}

struct bindings_search {
    const char *shared_key;
    struct bindings_entry *found;
};

static void bindings_check_entry(const void *node, VISIT visit, void *search)
{
    struct bindings_search *const q = search;
    struct bindings_entry *const e = *(struct bindings_entry *const *)node;
    CLEANUP_BUF struct buf key = {0};
    if (visit != postorder && visit != leaf)
        return;
    bindings_add_shared_key(&key, e->key);
    if (strcmp(key.p, q->shared_key) == 0)
        q->found = e;
}

static struct bindings_entry *bindings_find_shared(const struct bindings *b, const char *key)
{
    struct bindings_search search = {.shared_key = key};
    twalk_r(b->tree, bindings_check_entry, &search);
    return search.found;
}

static void bindings_on_shared(void *ctx, const char *key, const char *host, const char *value)
{
    struct bindings *const b = ctx;
    CLEANUP_FREE char *conversation = value ? shared_read_text(value, "/conversation") : NULL;
    struct bindings_entry *const e =
        conversation ? bindings_make(b, conversation) : bindings_find_shared(b, key);
    (void)host;
    if (!e)
        return;
    for (size_t i = 0; i < BINDINGS_KINDS; i++) {
        CLEANUP_FREE char *pointer = xasprintf("/%s", bindings_members[i]);
        free(e->values[i]);
        e->values[i] = value ? shared_read_text(value, pointer) : NULL;
    }
    bindings_store(b, e);
}

/* Reset here while the bus was unavailable. */
static void bindings_compare_shared(void *ctx, const char *key, const char *value)
{
    CLEANUP_FREE char *conversation = shared_read_text(value, "/conversation");
    struct bindings *const b = ctx;
    if (b->n < CONVERSATIONS_MAX && conversation && !bindings_find(b, conversation))
        shared_put(b->shared, key, NULL);
}

static void bindings_publish_one(const void *node, VISIT visit, void *b)
{
    if (visit == postorder || visit == leaf)
        bindings_publish(b, *(struct bindings_entry *const *)node);
}

void bindings_join(struct bindings *b, struct shared_settings *shared)
{
    b->shared = shared_user_join(
        shared,
        &(struct shared_user_spec){.prefix = SHARED_KEY, .changed = bindings_on_shared, .ctx = b});
    shared_each(b->shared, bindings_compare_shared, b);
    twalk_r(b->tree, bindings_publish_one, b);
}

/* ---- choices of people ---- */

int bindings_set(struct bindings *b, const char *key, enum bindings_kind kind, const char *value)
{
    struct bindings_entry *const e = bindings_make(b, key);
    if (!e)
        return -1;
    char *const before = e->values[kind];
    e->values[kind] = xstrdup(value);
    free(before);
    bindings_publish(b, e);
    bindings_store(b, e);
    return 0;
}
