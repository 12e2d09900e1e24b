/* SPDX-License-Identifier: MIT
 * Open-item table: a hash table over two lists, open and closed. tsearch(3) would be shorter, but
 * translation would take 2 % more instructions. */
#include "turn/open_items.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/invariant.h"

#define BUCKETS_MIN 4

static void open_items_list_append(struct open_item_list *list, struct open_items_entry *e)
{
    ASSERT(!list->newest == !list->oldest);
    ASSERT(!list->newest == !list->count);
    e->prev = list->newest;
    e->next = NULL;
    if (list->newest)
        list->newest->next = e;
    else
        list->oldest = e;
    list->newest = e;
    list->count++;
}

static void open_items_list_remove(struct open_item_list *list, struct open_items_entry *e)
{
    ASSERT(list->count > 0);
    ASSERT((e->prev ? e->prev->next : list->oldest) == e);
    ASSERT((e->next ? e->next->prev : list->newest) == e);
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

static struct open_items_entry **open_items_bucket_of(const struct open_items *b, uint64_t hash)
{
    return &b->buckets[hash & (b->bucket_count - 1)];
}

static void chain_list(struct open_items *b, const struct open_item_list *list)
{
    for (struct open_items_entry *e = list->oldest; e; e = e->next) {
        struct open_items_entry **const bucket = open_items_bucket_of(b, e->hash);
        e->chain = *bucket;
        *bucket = e;
    }
}

static void grow(struct open_items *b)
{
    free(b->buckets);
    b->bucket_count = b->bucket_count ? b->bucket_count * 2 : BUCKETS_MIN;
    ASSERT((b->bucket_count & (b->bucket_count - 1)) == 0);
    b->buckets = xcalloc(b->bucket_count, sizeof(struct open_items_entry *));
    chain_list(b, &b->open);
    chain_list(b, &b->closed);
}

static void open_items_free_entry(struct open_items *b, struct open_items_entry *e)
{
    struct open_items_entry **link = open_items_bucket_of(b, e->hash);
    while (*link && *link != e)
        link = &(*link)->chain;
    ASSERT(*link);
    ASSERT(b->bytes >= e->bytes);
    *link = e->chain;
    open_items_list_remove(e->open ? &b->open : &b->closed, e);
    b->bytes -= e->bytes;
    free(e);
}

static void open_items_free_list(const struct open_item_list *list)
{
    for (struct open_items_entry *e = list->oldest; e;) {
        struct open_items_entry *const next = e->next;
        free(e);
        e = next;
    }
}

void open_items_fini(struct open_items *b)
{
    open_items_free_list(&b->open);
    open_items_free_list(&b->closed);
    free(b->buckets);
    *b = (struct open_items){.forgets = b->forgets};
}

static struct open_items_entry *open_items_find_hashed(const struct open_items *b, const char *id,
                                                       uint64_t hash)
{
    if (b->bucket_count == 0)
        return NULL;
    for (struct open_items_entry *e = *open_items_bucket_of(b, hash); e; e = e->chain)
        if (e->hash == hash && strcmp(e->id, id) == 0)
            return e;
    return NULL;
}

struct open_items_entry *open_items_find(const struct open_items *b, const char *id)
{
    return b->bucket_count ? open_items_find_hashed(b, id, hash_string(HASH_START, id)) : NULL;
}

static size_t text_size(const char *s)
{
    return s ? strlen(s) + 1 : 0;
}

static const char *open_items_copy(char **at, const char *s)
{
    const size_t n = text_size(s);
    if (n == 0)
        return NULL;
    char *const here = memcpy(*at, s, n);
    *at += n;
    return here;
}

static struct open_items_entry *entry_new(const char *id, const struct open_item_info *note)
{
    const char *const agent = note->meta->agent, *const parent_id = note->meta->parent_id;
    const size_t bytes = sizeof(struct open_items_entry) + text_size(id) + text_size(note->name) +
                         text_size(note->kind) + text_size(note->step_id) + text_size(agent) +
                         text_size(parent_id);
    struct open_items_entry *const e = xmalloc(bytes);
    char *at = (char *)(e + 1);
    *e = (struct open_items_entry){
        .hash = hash_string(HASH_START, id),
        .open = true,
        .nameless = note->nameless,
        .bytes = bytes,
        .index = note->index,
        .id = open_items_copy(&at, id),
        .name = open_items_copy(&at, note->name),
        .kind = open_items_copy(&at, note->kind),
        .step_id = open_items_copy(&at, note->step_id),
        .agent = open_items_copy(&at, agent),
        .parent_id = open_items_copy(&at, parent_id),
    };
    return e;
}

static void open_items_trim(struct open_items *b)
{
    while (b->closed.count > BOOK_MAX || (b->closed.count > 0 && b->bytes > BOOK_MAX_BYTES))
        open_items_free_entry(b, b->closed.oldest);
}

struct open_items_entry *open_items_open(struct open_items *b, const char *id,
                                         const struct open_item_info *note)
{
    struct open_items_entry *const e = entry_new(id, note);
    ASSERT(!open_items_find_hashed(b, id, e->hash));
    if (b->open.count + b->closed.count >= b->bucket_count)
        grow(b);
    struct open_items_entry **const bucket = open_items_bucket_of(b, e->hash);
    e->chain = *bucket;
    *bucket = e;
    open_items_list_append(&b->open, e);
    b->bytes += e->bytes;
    open_items_trim(b);
    return e;
}

void open_items_close(struct open_items *b, struct open_items_entry *e)
{
    ASSERT(e->open);
    if (b->forgets) {
        open_items_free_entry(b, e);
        return;
    }
    open_items_list_remove(&b->open, e);
    e->open = false;
    open_items_list_append(&b->closed, e);
    open_items_trim(b);
}

bool open_items_is_full(const struct open_items *b)
{
    return b->open.count >= BOOK_MAX ||
           (b->open.count > 0 && b->closed.count == 0 && b->bytes >= BOOK_MAX_BYTES);
}
