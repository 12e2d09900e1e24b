/* SPDX-License-Identifier: MIT
 * Owns the copies of shared settings, and pending writes. */
#include "core/shared/shared_settings.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/invariant.h"
#include "base/sys/log.h"
#include "core/bus/bus_kv.h"
#include "core/shared/shared_entry.h"
#include "core/shared/shared_texts.h"
#include "event/json/json_reader.h"

#define RETRY_MS 2000
#define ROW "shared:" /* the key follows, in the journal */

struct shared_user {
    LIST_ENTRY(shared_user) next;
    struct shared_settings *all;
    struct shared_user_spec spec;
};

struct shared_key {
    LIST_ENTRY(shared_key) next;
    struct shared_settings *all;
    char *key;
    struct shared_copy local;
    /* A version of the servers that is not compared yet, because not all are read, or a write is
     * pending. */
    struct buf seen;
    uint64_t seen_revision; /* the newest seen version */
    /* The pending write, or one whose reply was lost. */
    struct bus_origin sent;
    uint64_t revision;     /* revision that a write replaces */
    bool is_changed_again; /* seen since that write */
    bool is_unsure;        /* whether it was stored; another version may have replaced it since */
    bool awaits_reply, is_to_look, is_to_store;
};

struct shared_settings {
    struct bus_link *link;
    struct bus_watcher *watcher;
    struct journal_async *journal;
    void (*known)(void *ctx);
    void *ctx;
    LIST_HEAD(, shared_user) users;
    LIST_HEAD(, shared_key) keys;
    void *by_key; /* tree of search.h */
    size_t n;
    struct nats_client_subscription *stored;
    struct loop_timer *retry;
    uint64_t position; /* revision while versions are read one by one */
    bool is_reading, awaits_reply, is_known, is_full;
};

static void shared_run_next_step(struct shared_key *k);

/* ---- keys ---- */

static int shared_order_keys(const void *a, const void *b)
{
    return strcmp(((const struct shared_key *)a)->key, ((const struct shared_key *)b)->key);
}

static struct shared_key *shared_find(const struct shared_settings *s, const char *key)
{
    const struct shared_key wanted = {.key = (char *)(uintptr_t)key};
    struct shared_key *const *const found = tfind(&wanted, &s->by_key, shared_order_keys);
    return found ? *found : NULL;
}

/* The bucket also has the texts of instances, which only the host reads that leads the instance. */
static bool shared_is_setting(const char *key)
{
    return *key && strncmp(key, SHARED_TEXTS_PREFIX, strlen(SHARED_TEXTS_PREFIX)) != 0;
}

/* NULL: too many. */
static struct shared_key *shared_find_or_add(struct shared_settings *s, const char *key)
{
    struct shared_key *k = shared_find(s, key);
    if (k)
        return k;
    if (s->n >= SHARED_SETTINGS_MAX) {
        if (!s->is_full)
            log_write(LOG_ERR, "bus", "more than %d shared settings; others are not shared",
                      SHARED_SETTINGS_MAX);
        s->is_full = true;
        return NULL;
    }
    k = xcalloc(1, sizeof *k);
    k->all = s;
    k->key = xstrdup(key);
    LIST_INSERT_HEAD(&s->keys, k, next);
    alloc_check(tsearch(k, &s->by_key, shared_order_keys), sizeof(void *));
    s->n++;
    return k;
}

static const struct shared_user *shared_user_of(const struct shared_key *k)
{
    const struct shared_user *u;
    LIST_FOREACH (u, &k->all->users, next)
        if (strncmp(k->key, u->spec.prefix, strlen(u->spec.prefix)) == 0)
            return u;
    return NULL;
}

/* ---- the copy in the journal ---- */

static void shared_save(const struct shared_key *k)
{
    CLEANUP_FREE char *row = xasprintf(ROW "%s", k->key);
    CLEANUP_BUF struct buf text = {0};
    shared_copy_write(&text, &k->local);
    journal_async_kv_put(k->all->journal, row, text.p, NULL, NULL);
}

static void shared_on_row(void *ctx, const char *row, const char *text)
{
    struct shared_copy local;
    if (shared_copy_read((struct str){text, strlen(text)}, &local) < 0)
        return;
    struct shared_key *const k = shared_find_or_add(ctx, row + strlen(ROW));
    if (k)
        k->local = local;
    else
        free(local.value);
}

static void shared_set(struct shared_key *k, char *value)
{
    free(k->local.value);
    k->local.value = value;
}

/* ---- versions of the servers ---- */

static void shared_settle(struct shared_key *k, const struct shared_entry *other)
{
    const bool is_news = k->local.is_changed || !bus_origin_equal(&k->local.base, &other->from) ||
                         other->n > k->local.n;
    k->local.is_changed = k->is_to_store = false;
    k->local.base = other->from;
    k->local.n = other->n > k->local.n ? other->n : k->local.n;
    if (is_news)
        shared_save(k);
}

static void shared_adopt(struct shared_key *k, const struct shared_entry *other)
{
    const struct shared_user *const u = shared_user_of(k);
    const bool had = k->local.value;
    shared_set(k, other->value.p ? xstrndup(other->value.p, other->value.len) : NULL);
    k->local.n = other->n > 0 ? other->n : 1;
    k->local.base = other->from;
    k->local.is_changed = k->is_to_store = false;
    if (u && (had || k->local.value))
        u->spec.changed(u->spec.ctx, k->key, other->from.host, k->local.value);
    shared_save(k); /* call it when the user has written its value: see shared_user_spec */
}

static void shared_override_other(struct shared_key *k, const struct shared_entry *other)
{
    if (k->local.is_changed && !bus_origin_equal(&k->local.base, &other->from))
        log_write(LOG_WARN, "bus",
                  "shared setting %s: the value of another host was replaced by that of this one, "
                  "which was stored later",
                  k->key);
    k->local.base = other->from;
    k->local.n = other->n >= k->local.n ? other->n + 1 : k->local.n;
    shared_save(k);
    k->is_to_store = true;
    shared_run_next_step(k);
}

/* A write whose reply was lost. */
static bool shared_is_local_write(const struct shared_key *k, const struct shared_entry *other)
{
    return *k->sent.host && bus_origin_equal(&k->sent, &other->from);
}

static void shared_settle_write(struct shared_key *k)
{
    k->local.base = k->sent;
    k->local.is_changed = k->is_to_store = k->is_changed_again;
    k->is_unsure = false;
    shared_save(k);
    shared_run_next_step(k);
}

static void shared_compare(struct shared_key *k)
{
    CLEANUP_BUF struct buf seen = k->seen;
    struct shared_entry other;
    k->seen = (struct buf){0};
    if (shared_entry_read((struct str){seen.p, seen.len}, &other) < 0)
        return;
    if (shared_is_local_write(k, &other)) {
        shared_settle_write(k);
        return;
    }
    const bool was_read = k->is_unsure && other.n > k->local.n; /* reported by the host that wrote
                                                                 * the other version */
    k->is_unsure = false;
    switch (was_read ? SHARED_TAKE : shared_entry_choose(&k->local, &other)) {
    case SHARED_SAME:
        shared_settle(k, &other);
        break;
    case SHARED_TAKE:
        shared_adopt(k, &other);
        break;
    case SHARED_KEEP:
        shared_override_other(k, &other);
        break;
    }
}

/* False: older than the newest seen version. */
static bool shared_set_seen(struct shared_key *k, uint64_t revision, struct str value)
{
    if (revision <= k->seen_revision)
        return false;
    k->seen_revision = k->revision = revision;
    k->seen.len = 0;
    buf_add(&k->seen, value.p, value.len);
    return true;
}

static void shared_on_stored(void *ctx, const struct nats_client_message *m)
{
    struct shared_settings *const s = ctx;
    CLEANUP_BUF struct buf root = {0};
    bus_stream_stored_subject(&root, &s->link->names, BUS_CONF, "", NULL);
    if (strncmp(m->subject, root.p, root.len) != 0 || !m->data.len ||
        !shared_is_setting(m->subject + root.len))
        return;
    struct shared_key *const k = shared_find_or_add(s, m->subject + root.len);
    if (k && shared_set_seen(k, m->sequence, m->data))
        shared_run_next_step(k);
}

/* ---- reading all ---- */

static void shared_finish_reading(struct shared_settings *s)
{
    struct shared_key *k;
    const struct shared_user *u;
    s->is_reading = false;
    s->is_known = true;
    LIST_FOREACH (k, &s->keys, next) {
        if (k->local.n && !k->seen_revision)
            k->is_to_store = true; /* the servers never had it, or have lost it */
        shared_run_next_step(k);
    }
    LIST_FOREACH (u, &s->users, next)
        if (u->spec.known)
            u->spec.known(u->spec.ctx);
    s->known(s->ctx);
}

static void shared_read_on(struct shared_settings *s);

static void shared_on_read(void *ctx, enum nats_client_result result,
                           const struct nats_client_message *m)
{
    struct shared_settings *const s = ctx;
    struct bus_kv_entry entry;
    s->awaits_reply = false;
    bus_kv_read_entry(s->link, BUS_CONF, result, m, &entry);
    struct shared_key *const k = entry.result == BUS_KV_DONE && shared_is_setting(entry.key)
                                     ? shared_find_or_add(s, entry.key)
                                     : NULL;
    if (k)
        shared_set_seen(k, entry.revision, entry.value);
    if (entry.result == BUS_KV_NONE && !entry.revision) {
        shared_finish_reading(s);
    } else if (entry.result == BUS_KV_DONE || entry.result == BUS_KV_NONE) {
        s->position = entry.revision;
        shared_read_on(s);
    } else {
        loop_timer_set(s->retry, RETRY_MS);
    }
}

static void shared_read_on(struct shared_settings *s)
{
    if (s->awaits_reply || !s->link->is_active)
        return;
    s->awaits_reply = true;
    bus_kv_next(s->link, BUS_CONF, ">", s->position, shared_on_read, s);
}

/* Servers that have lost their data start counting from 1 again. */
static void shared_on_active(void *ctx)
{
    struct shared_settings *const s = ctx;
    struct shared_key *k;
    LIST_FOREACH (k, &s->keys, next) {
        k->revision = k->seen_revision = 0;
        k->seen.len = 0;
    }
    s->position = 0;
    s->is_reading = true;
    s->is_known = false;
    shared_read_on(s);
}

/* ---- storing ---- */

static void shared_on_looked(void *ctx, enum nats_client_result result,
                             const struct nats_client_message *m)
{
    struct shared_key *const k = ctx;
    struct bus_kv_entry entry;
    k->awaits_reply = false;
    bus_kv_read_entry(k->all->link, BUS_CONF, result, m, &entry);
    if (entry.result != BUS_KV_DONE && entry.result != BUS_KV_NONE) {
        loop_timer_set(k->all->retry, RETRY_MS);
        return;
    }
    k->is_to_look = false;
    if (entry.result == BUS_KV_DONE)
        shared_set_seen(k, entry.revision, entry.value);
    else
        k->revision = entry.revision;
    shared_run_next_step(k);
}

static void shared_request_version(struct shared_key *k)
{
    k->awaits_reply = true;
    k->seen_revision = 0;
    bus_kv_get(k->all->link, BUS_CONF, k->key, shared_on_looked, k);
}

static void shared_on_put(void *ctx, enum nats_client_result result,
                          const struct nats_client_message *m)
{
    struct shared_key *const k = ctx;
    struct bus_kv_entry entry;
    k->awaits_reply = false;
    bus_kv_read_written(result, m, &entry);
    if (entry.result == BUS_KV_DONE && entry.revision >= k->seen_revision) {
        k->seen.len = 0;
        k->seen_revision = k->revision = entry.revision;
        shared_settle_write(k);
    } else if (entry.result == BUS_KV_DONE || entry.result == BUS_KV_CONFLICT) {
        k->is_unsure |= entry.result == BUS_KV_DONE;
        k->is_to_look = true;
        shared_run_next_step(k);
    } else {
        k->is_unsure |= entry.result == BUS_KV_UNKNOWN;
        k->is_to_look |= entry.result == BUS_KV_UNKNOWN;
        loop_timer_set(k->all->retry, RETRY_MS);
    }
}

static void shared_store(struct shared_key *k)
{
    struct bus_link *const link = k->all->link;
    CLEANUP_BUF struct buf value = {0};
    if (!k->is_to_store)
        return;
    k->sent = bus_link_next_origin(link);
    shared_entry_write(&value, &k->sent, &k->local);
    k->awaits_reply = true;
    k->is_changed_again = false;
    bus_kv_put(link, BUS_CONF, k->key, (struct str){value.p, value.len}, k->revision, shared_on_put,
               k);
}

/* Next step: read the version on the servers, compare, replace. */
static void shared_run_next_step(struct shared_key *k)
{
    if (k->awaits_reply || !k->all->link->is_active || !k->all->is_known)
        return;
    if (k->is_to_look)
        shared_request_version(k);
    else if (k->seen.len)
        shared_compare(k);
    else
        shared_store(k);
}

static void shared_on_retry(void *arg)
{
    struct shared_settings *const s = arg;
    struct shared_key *k;
    if (s->is_reading)
        shared_read_on(s);
    LIST_FOREACH (k, &s->keys, next)
        shared_run_next_step(k);
}

/* ---- users ---- */

struct shared_user *shared_user_join(struct shared_settings *s, const struct shared_user_spec *spec)
{
    struct shared_user *const u = xcalloc(1, sizeof *u);
    ASSERT(!s->is_known);
    u->all = s;
    u->spec = *spec;
    LIST_INSERT_HEAD(&s->users, u, next);
    return u;
}

const char *shared_get(const struct shared_user *u, const char *key)
{
    const struct shared_key *const k = shared_find(u->all, key);
    return k ? k->local.value : NULL;
}

static bool shared_is_value(const struct shared_key *k, const char *value)
{
    return value && k->local.value ? strcmp(value, k->local.value) == 0 : value == k->local.value;
}

void shared_put(struct shared_user *u, const char *key, const char *value)
{
    struct shared_key *const k = value ? shared_find_or_add(u->all, key) : shared_find(u->all, key);
    if (!k || shared_is_value(k, value))
        return;
    shared_set(k, xstrdup(value));
    k->local.n++;
    k->local.is_changed = k->is_to_store = k->is_changed_again = true;
    shared_save(k);
    shared_run_next_step(k);
}

void shared_each(struct shared_user *u, void (*each)(void *ctx, const char *key, const char *value),
                 void *ctx)
{
    struct shared_key *k;
    LIST_FOREACH (k, &u->all->keys, next)
        if (k->local.value && shared_user_of(k) == u)
            each(ctx, k->key, k->local.value);
}

char *shared_read_text(const char *value, const char *pointer)
{
    struct str raw = bus_message_text((struct str){value, strlen(value)}, pointer);
    struct arena a = {0};
    char *const text = raw.len ? xstrdup(json_reader_unescape(&a, raw, NULL)) : NULL;
    arena_fini(&a);
    return text;
}

/* ---- create and free ---- */

struct shared_settings *shared_settings_new(struct bus *b, struct journal_async *journal,
                                            void (*known)(void *ctx), void *ctx)
{
    struct shared_settings *const s = xcalloc(1, sizeof *s);
    CLEANUP_BUF struct buf subject = {0};
    s->link = bus_get_link(b);
    s->journal = journal;
    s->known = known;
    s->ctx = ctx;
    LIST_INIT(&s->users);
    LIST_INIT(&s->keys);
    /* A read error is logged by the journal; the values come from the servers. */
    (void)journal_async_kv_each(journal, ROW, shared_on_row, s);
    s->retry = loop_timer_new(s->link->loop, shared_on_retry, s);
    bus_stream_stored_subject(&subject, &s->link->names, BUS_CONF, ">", NULL);
    s->stored = nats_client_subscribe(s->link->client, subject.p, shared_on_stored, s);
    s->watcher = bus_watch(b, shared_on_active, s);
    return s;
}

static void shared_free_key(struct shared_key *k)
{
    nats_client_forget(k->all->link->client, k);
    buf_fini(&k->seen);
    free(k->local.value);
    free(k->key);
    free(k);
}

static void shared_ignore(void *key)
{
    (void)key; /* the list frees it */
}

void shared_settings_free(struct shared_settings *s)
{
    struct shared_key *k;
    struct shared_user *u;
    if (!s)
        return;
    bus_watcher_free(s->watcher);
    nats_client_unsubscribe(s->stored);
    nats_client_forget(s->link->client, s);
    tdestroy(s->by_key, shared_ignore);
    while ((k = LIST_FIRST(&s->keys))) {
        LIST_REMOVE(k, next);
        shared_free_key(k);
    }
    while ((u = LIST_FIRST(&s->users))) {
        LIST_REMOVE(u, next);
        free(u);
    }
    loop_timer_free(s->retry);
    free(s);
}

bool shared_settings_is_known(const struct shared_settings *s)
{
    return s->is_known;
}
