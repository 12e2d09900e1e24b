/* SPDX-License-Identifier: MIT
 * Owns the last revision of each shared setting, and what is still to be stored. */
#include "core/bus/bus_conf.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/invariant.h"
#include "base/sys/log.h"
#include "core/bus/bus_internal.h"
#include "core/bus/bus_kv.h"
#include "event/json/json_reader.h"
#include "event/json/json_writer.h"

#define RETRY_MS 2000

struct bus_conf_key {
    LIST_ENTRY(bus_conf_key) next;
    struct bus_conf *conf;
    char *key;
    uint64_t revision; /* the last that is known; 0: none */
    uint64_t base;     /* the last that was known when `value` was put */
    char *value;       /* that is to be stored, or was last; or NULL */
    bool is_pending, is_asked;
    bool is_changed; /* put again since it was sent */
    bool has_met;    /* another host's value since it was put */
};

struct bus_conf {
    struct bus *bus;
    struct bus_conf_spec spec;
    LIST_HEAD(, bus_conf_key) keys;
    size_t n;
    struct nats_client_subscription *stored;
    struct loop_timer *retry;
    uint64_t position; /* of the values that are read one after the other */
    bool is_reading, is_asked, is_known;
};

static void bus_conf_store(struct bus_conf_key *k);
static void bus_conf_read_on(struct bus_conf *c);

/* ---- what is stored ---- */

static struct bus_conf_key *bus_conf_find(const struct bus_conf *c, const char *key)
{
    struct bus_conf_key *k;
    LIST_FOREACH (k, &c->keys, next)
        if (strcmp(k->key, key) == 0)
            return k;
    return NULL;
}

/* NULL: there are too many. */
static struct bus_conf_key *bus_conf_find_or_add(struct bus_conf *c, const char *key)
{
    struct bus_conf_key *k = bus_conf_find(c, key);
    if (k || c->n >= BUS_CONF_KEYS_MAX)
        return k;
    k = xcalloc(1, sizeof *k);
    k->conf = c;
    k->key = xstrdup(key);
    LIST_INSERT_HEAD(&c->keys, k, next);
    c->n++;
    return k;
}

static bool bus_conf_is_same(const struct bus_conf_key *k, struct str value)
{
    return json_reader_is_valid(value) && str_is(json_reader_pointer(value, "/value"), k->value);
}

/* A value that this host is about to replace does not count here any more; the same value need not
 * be stored again. */
static void bus_conf_take(struct bus_conf *c, const char *key, uint64_t revision, struct str value)
{
    struct bus_origin from;
    struct bus_conf_key *const k = *key ? bus_conf_find_or_add(c, key) : NULL;
    if (!k || revision < k->revision || (revision == k->revision && !c->is_reading))
        return;
    k->revision = revision;
    if (bus_origin_read(value, &from) < 0 || strcmp(from.boot, c->bus->link.boot) == 0)
        return;
    if (k->is_pending && bus_conf_is_same(k, value))
        k->is_pending = k->has_met = false;
    else if (k->is_pending)
        k->has_met |= revision > k->base;
    else if (json_reader_is_valid(value))
        c->spec.changed(c->spec.ctx, key, from.host, json_reader_pointer(value, "/value"));
}

static void bus_conf_on_stored(void *ctx, const struct nats_client_message *m)
{
    struct bus_conf *const c = ctx;
    CLEANUP_BUF struct buf root = {0};
    bus_stream_stored_subject(&root, &c->bus->link.names, BUS_CONF, "", NULL);
    if (strncmp(m->subject, root.p, root.len) == 0 && m->data.len)
        bus_conf_take(c, m->subject + root.len, m->sequence, m->data);
}

/* ---- reading all ---- */

static void bus_conf_finish_reading(struct bus_conf *c)
{
    struct bus_conf_key *k;
    c->is_reading = false;
    c->is_known = true;
    c->spec.known(c->spec.ctx);
    LIST_FOREACH (k, &c->keys, next)
        bus_conf_store(k);
}

static void bus_conf_on_read(void *ctx, enum nats_client_result result,
                             const struct nats_client_message *m)
{
    struct bus_conf *const c = ctx;
    struct bus_kv_entry entry;
    c->is_asked = false;
    bus_kv_read_entry(&c->bus->link, BUS_CONF, result, m, &entry);
    if (entry.result == BUS_KV_DONE)
        bus_conf_take(c, entry.key, entry.revision, entry.value);
    if (entry.result == BUS_KV_NONE && !entry.revision) {
        bus_conf_finish_reading(c);
    } else if (entry.result == BUS_KV_DONE || entry.result == BUS_KV_NONE) {
        c->position = entry.revision;
        bus_conf_read_on(c);
    } else {
        loop_timer_set(c->retry, RETRY_MS);
    }
}

static void bus_conf_read_on(struct bus_conf *c)
{
    if (c->is_asked || !c->bus->link.is_active)
        return;
    c->is_asked = true;
    bus_kv_next(&c->bus->link, BUS_CONF, ">", c->position, bus_conf_on_read, c);
}

/* Servers that have lost their data count from the beginning again. */
void bus_conf_read(struct bus_conf *c)
{
    struct bus_conf_key *k;
    LIST_FOREACH (k, &c->keys, next)
        k->revision = 0;
    c->position = 0;
    c->is_reading = true;
    c->is_known = false;
    bus_conf_read_on(c);
}

/* ---- storing ---- */

static void bus_conf_on_looked(void *ctx, enum nats_client_result result,
                               const struct nats_client_message *m)
{
    struct bus_conf_key *const k = ctx;
    struct bus_kv_entry entry;
    k->is_asked = false;
    bus_kv_read_entry(&k->conf->bus->link, BUS_CONF, result, m, &entry);
    if (entry.result != BUS_KV_DONE && entry.result != BUS_KV_NONE) {
        loop_timer_set(k->conf->retry, RETRY_MS);
        return;
    }
    bus_conf_take(k->conf, k->key, entry.revision, entry.value);
    k->revision = entry.revision;
    bus_conf_store(k);
}

static void bus_conf_look(struct bus_conf_key *k)
{
    k->is_asked = true;
    bus_kv_get(&k->conf->bus->link, BUS_CONF, k->key, bus_conf_on_looked, k);
}

/* The value of this host is stored. Another one that is known already may have been stored behind
 * it, and is told then. */
static void bus_conf_finish_put(struct bus_conf_key *k, uint64_t revision)
{
    const bool is_last = revision >= k->revision; /* equal: it has been republished already */
    if (is_last && k->has_met)
        log_write(LOG_WARN, "bus",
                  "shared setting %s: the value of another host was replaced by that of this one, "
                  "which was stored later",
                  k->key);
    k->revision = revision;
    k->has_met = false;
    k->is_pending = k->is_changed;
    if (is_last)
        bus_conf_store(k);
    else
        bus_conf_look(k);
}

static void bus_conf_on_put(void *ctx, enum nats_client_result result,
                            const struct nats_client_message *m)
{
    struct bus_conf_key *const k = ctx;
    struct bus_kv_entry entry;
    k->is_asked = false;
    bus_kv_read_written(result, m, &entry);
    if (entry.result == BUS_KV_CONFLICT)
        bus_conf_look(k);
    else if (entry.result == BUS_KV_DONE)
        bus_conf_finish_put(k, entry.revision);
    else
        loop_timer_set(k->conf->retry, RETRY_MS);
}

static void bus_conf_store(struct bus_conf_key *k)
{
    struct bus_link *const link = &k->conf->bus->link;
    CLEANUP_BUF struct buf value = {0};
    if (!k->is_pending || k->is_asked || !link->is_active || !k->conf->is_known)
        return;
    const struct bus_origin from = bus_link_next_origin(link);
    buf_add_char(&value, '{');
    bus_origin_write(&value, &from);
    jsonw_member_json(&value, "value", k->value);
    buf_add_char(&value, '}');
    k->is_asked = true;
    k->is_changed = false;
    bus_kv_put(link, BUS_CONF, k->key, (struct str){value.p, value.len}, k->revision,
               bus_conf_on_put, k);
}

static void bus_conf_on_retry(void *arg)
{
    struct bus_conf *const c = arg;
    struct bus_conf_key *k;
    if (c->is_reading)
        bus_conf_read_on(c);
    LIST_FOREACH (k, &c->keys, next)
        bus_conf_store(k);
}

bool bus_conf_has(const struct bus_conf *c, const char *key)
{
    const struct bus_conf_key *const k = bus_conf_find(c, key);
    return k && (k->revision || k->is_pending);
}

void bus_conf_put(struct bus_conf *c, const char *key, const char *json)
{
    struct bus_conf_key *const k = bus_conf_find_or_add(c, key);
    if (!k)
        return;
    free(k->value);
    k->value = xstrdup(json);
    if (!k->is_pending)
        k->base = k->revision;
    k->is_pending = k->is_changed = true;
    bus_conf_store(k);
}

/* ---- its life ---- */

void bus_conf_resume(struct bus_conf *c)
{
    if (c)
        bus_conf_read(c);
}

struct bus_conf *bus_conf_join(struct bus *b, const struct bus_conf_spec *spec)
{
    struct bus_conf *const c = xcalloc(1, sizeof *c);
    CLEANUP_BUF struct buf subject = {0};
    ASSERT(!b->conf);
    c->bus = b;
    c->spec = *spec;
    LIST_INIT(&c->keys);
    c->retry = loop_timer_new(b->link.loop, bus_conf_on_retry, c);
    bus_stream_stored_subject(&subject, &b->link.names, BUS_CONF, ">", NULL);
    c->stored = nats_client_subscribe(b->link.client, subject.p, bus_conf_on_stored, c);
    b->conf = c;
    if (b->link.is_active)
        bus_conf_read(c);
    return c;
}

void bus_conf_leave(struct bus_conf *c)
{
    if (!c)
        return;
    struct nats_client *const client = c->bus->link.client;
    c->bus->conf = NULL;
    nats_client_unsubscribe(c->stored);
    nats_client_forget(client, c);
    for (struct bus_conf_key *k; (k = LIST_FIRST(&c->keys));) {
        LIST_REMOVE(k, next);
        nats_client_forget(client, k);
        free(k->value);
        free(k->key);
        free(k);
    }
    loop_timer_free(c->retry);
    free(c);
}
