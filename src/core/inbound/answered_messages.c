/* SPDX-License-Identifier: MIT
 * A ring of hashes per instance, and its encoding in the journal. */
#include "core/inbound/answered_messages.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes/buf.h"
#include "base/cleanup.h"
#include "base/hash.h"

#define IDS_MAX 512       /* hashes of one instance; a message has up to two */
#define INSTANCES_MAX 100 /* above this number, the least recently used ring is reused */
#define KEY "answered:"
#define DIGITS 16 /* hexadecimal digits of a hash */

struct answered_ring {
    struct answered_ring *next;
    char *instance;
    uint64_t ids[IDS_MAX]; /* 0: empty */
    size_t n;              /* number of added ids */
};

struct answered_messages {
    struct journal_async *journal;
    struct answered_ring *first; /* most recently used first */
};

static struct answered_ring **answered_messages_find(struct answered_messages *m,
                                                     const char *instance)
{
    struct answered_ring **at = &m->first;
    while (*at && strcmp((*at)->instance, instance) != 0)
        at = &(*at)->next;
    return at;
}

static void answered_ring_free(struct answered_ring *r)
{
    free(r->instance);
    free(r);
}

/* Moves it to the front; drops the last if there are too many. */
static struct answered_ring *answered_messages_use(struct answered_messages *m,
                                                   const char *instance)
{
    struct answered_ring **at = answered_messages_find(m, instance), *r = *at;
    if (r) {
        *at = r->next;
    } else {
        r = xcalloc(1, sizeof *r);
        r->instance = xstrdup(instance);
    }
    r->next = m->first;
    m->first = r;
    size_t n = 0;
    for (at = &m->first; *at && n < INSTANCES_MAX; at = &(*at)->next)
        n++;
    if (*at) {
        answered_ring_free(*at);
        *at = NULL;
    }
    return r;
}

/* Hash of an id; the two kinds of ids never match each other. 0: no id. */
static uint64_t answered_messages_hash(const char *kind, const char *id)
{
    if (!id)
        return 0;
    const uint64_t hash = hash_string(hash_string(HASH_START, kind), id);
    return hash ? hash : 1;
}

static bool answered_ring_has(const struct answered_ring *r, uint64_t id)
{
    for (size_t i = 0; id && i < IDS_MAX; i++)
        if (r->ids[i] == id)
            return true;
    return false;
}

static void answered_ring_add(struct answered_ring *r, uint64_t id)
{
    if (id)
        r->ids[r->n++ % IDS_MAX] = id;
}

/* Encodes the oldest first. */
static void answered_ring_format(const struct answered_ring *r, struct buf *out)
{
    for (size_t i = r->n > IDS_MAX ? r->n - IDS_MAX : 0; i < r->n; i++)
        buf_printf(out, "%016" PRIx64, r->ids[i % IDS_MAX]);
}

static void answered_messages_read(void *ctx, const char *key, const char *value)
{
    struct answered_ring *const r = answered_messages_use(ctx, key + strlen(KEY));
    unsigned digits = 0;
    uint64_t id = 0;
    for (; *value; value++) {
        const char *const hex = "0123456789abcdef", *const digit = strchr(hex, *value);
        if (!digit)
            return; /* not written by turncast */
        id = id << 4 | (uint64_t)(digit - hex);
        if (++digits % DIGITS == 0)
            answered_ring_add(r, id);
    }
}

struct answered_messages *answered_messages_new(struct journal_async *journal)
{
    struct answered_messages *const m = xcalloc(1, sizeof *m);
    m->journal = journal;
    /* A read error is logged by the journal; the host continues without the entries. */
    (void)journal_async_kv_each(journal, KEY, answered_messages_read, m);
    return m;
}

void answered_messages_free(struct answered_messages *m)
{
    for (struct answered_ring *r = m ? m->first : NULL, *next; r; r = next) {
        next = r->next;
        answered_ring_free(r);
    }
    free(m);
}

bool answered_messages_has(const struct answered_messages *m, const char *instance,
                           const struct tc_inbound *in)
{
    const struct answered_ring *r = m->first;
    while (r && strcmp(r->instance, instance) != 0)
        r = r->next;
    return r && (answered_ring_has(r, answered_messages_hash("id:", in->id)) ||
                 answered_ring_has(r, answered_messages_hash("also:", in->also)));
}

void answered_messages_add(struct answered_messages *m, const char *instance,
                           const struct tc_inbound *in, journal_done_fn *done, void *ctx)
{
    struct answered_ring *const r = answered_messages_use(m, instance);
    CLEANUP_BUF struct buf text = {0};
    CLEANUP_FREE char *key = xasprintf(KEY "%s", instance);
    answered_ring_add(r, answered_messages_hash("id:", in->id));
    answered_ring_add(r, answered_messages_hash("also:", in->also));
    answered_ring_format(r, &text);
    journal_async_kv_put(m->journal, key, text.p ? text.p : "", done, ctx);
}
