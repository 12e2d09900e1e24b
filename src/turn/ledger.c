/* SPDX-License-Identifier: MIT
 * Owns the entries of a ledger: a hash table over two lists, open and closed. */
#include "turn/ledger.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define BUCKETS_MIN 16

static uint32_t hash_id(const char *id)
{
    uint32_t h = 2166136261u; /* FNV-1a */
    for (; *id; id++)
        h = (h ^ (unsigned char)*id) * 16777619u;
    return h;
}

static void list_append(struct ledger_list *list, struct ledger_entry *e)
{
    e->prev = list->newest;
    e->next = NULL;
    if (list->newest)
        list->newest->next = e;
    else
        list->oldest = e;
    list->newest = e;
    list->count++;
}

static void list_remove(struct ledger_list *list, struct ledger_entry *e)
{
    if (e->prev)
        e->prev->next = e->next;
    else
        list->oldest = e->next;
    if (e->next)
        e->next->prev = e->prev;
    else
        list->newest = e->prev;
    list->count--;
}

static struct ledger_entry **bucket_of(const struct ledger *l, uint32_t hash)
{
    return &l->buckets[hash & (l->bucket_count - 1)];
}

static void chain_list(struct ledger *l, const struct ledger_list *list)
{
    for (struct ledger_entry *e = list->oldest; e; e = e->next) {
        struct ledger_entry **const bucket = bucket_of(l, e->hash);
        e->chain = *bucket;
        *bucket = e;
    }
}

static void grow(struct ledger *l)
{
    free(l->buckets);
    l->bucket_count = l->bucket_count ? l->bucket_count * 2 : BUCKETS_MIN;
    l->buckets = xcalloc(l->bucket_count, sizeof(struct ledger_entry *));
    chain_list(l, &l->open);
    chain_list(l, &l->closed);
}

static void forget(struct ledger *l, struct ledger_entry *e)
{
    struct ledger_entry **link = bucket_of(l, e->hash);
    while (*link != e)
        link = &(*link)->chain;
    *link = e->chain;
    list_remove(e->open ? &l->open : &l->closed, e);
    l->bytes -= e->bytes;
    free(e);
}

static void free_list(const struct ledger_list *list)
{
    for (struct ledger_entry *e = list->oldest; e;) {
        struct ledger_entry *const next = e->next;
        free(e);
        e = next;
    }
}

void ledger_fini(struct ledger *l)
{
    free_list(&l->open);
    free_list(&l->closed);
    free(l->buckets);
    *l = (struct ledger){.forgets = l->forgets};
}

struct ledger_entry *ledger_find(const struct ledger *l, const char *id)
{
    if (l->bucket_count == 0)
        return NULL;
    const uint32_t hash = hash_id(id);
    for (struct ledger_entry *e = *bucket_of(l, hash); e; e = e->chain)
        if (e->hash == hash && strcmp(e->id, id) == 0)
            return e;
    return NULL;
}

static size_t text_size(const char *s)
{
    return s ? strlen(s) + 1 : 0;
}

static const char *copy(char **at, const char *s)
{
    const size_t n = text_size(s);
    if (n == 0)
        return NULL;
    char *const here = memcpy(*at, s, n);
    *at += n;
    return here;
}

static struct ledger_entry *entry_new(const char *id, const struct ledger_note *note)
{
    const char *const agent = note->meta->agent, *const parent_id = note->meta->parent_id;
    const size_t bytes = sizeof(struct ledger_entry) + text_size(id) + text_size(note->name) +
                         text_size(note->kind) + text_size(note->step_id) + text_size(agent) +
                         text_size(parent_id);
    struct ledger_entry *const e = xmalloc(bytes);
    char *at = (char *)(e + 1);
    *e = (struct ledger_entry){
        .hash = hash_id(id),
        .open = true,
        .nameless = note->nameless,
        .bytes = bytes,
        .index = note->index,
        .id = copy(&at, id),
        .name = copy(&at, note->name),
        .kind = copy(&at, note->kind),
        .step_id = copy(&at, note->step_id),
        .agent = copy(&at, agent),
        .parent_id = copy(&at, parent_id),
    };
    return e;
}

static void trim(struct ledger *l)
{
    while (l->closed.count > LEDGER_MAX || (l->closed.count > 0 && l->bytes > LEDGER_MAX_BYTES))
        forget(l, l->closed.oldest);
}

struct ledger_entry *ledger_open(struct ledger *l, const char *id, const struct ledger_note *note)
{
    if (l->open.count + l->closed.count >= l->bucket_count)
        grow(l);
    struct ledger_entry *const e = entry_new(id, note);
    struct ledger_entry **const bucket = bucket_of(l, e->hash);
    e->chain = *bucket;
    *bucket = e;
    list_append(&l->open, e);
    l->bytes += e->bytes;
    trim(l);
    return e;
}

void ledger_close(struct ledger *l, struct ledger_entry *e)
{
    if (l->forgets) {
        forget(l, e);
        return;
    }
    list_remove(&l->open, e);
    e->open = false;
    list_append(&l->closed, e);
    trim(l);
}

bool ledger_is_full(const struct ledger *l)
{
    return l->open.count >= LEDGER_MAX ||
           (l->open.count > 0 && l->closed.count == 0 && l->bytes >= LEDGER_MAX_BYTES);
}
