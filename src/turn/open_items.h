/* SPDX-License-Identifier: MIT
 * Open-item table: named items that open and close during a turn (calls, requests, steps). It keeps
 * the open items in order, and remembers closed ones within fixed bounds. */
#ifndef TURN_OPEN_ITEMS_H
#define TURN_OPEN_ITEMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/event.h"

#define BOOK_MAX 4096 /* limit of items in each list */
/* Limit of bytes of all items, unless a single one is larger. */
#define BOOK_MAX_BYTES ((size_t)1 << 20)

struct open_items_entry {
    struct open_items_entry *chain;       /* next in the bucket */
    struct open_items_entry *prev, *next; /* in its list, oldest first */
    uint64_t hash;
    bool open;
    bool nameless; /* the guard made the id */
    size_t bytes;
    int64_t index;                           /* index of a step, otherwise -1 */
    const char *id;                          /* lookup key */
    const char *name, *kind;                 /* each or NULL */
    const char *step_id, *agent, *parent_id; /* each or NULL */
};

struct open_item_list {
    struct open_items_entry *oldest, *newest;
    size_t count;
};

/* A struct of zeros is empty; the owner sets `forgets`. */
struct open_items {
    struct open_items_entry **buckets; /* owned; a power of two */
    size_t bucket_count, bytes;
    struct open_item_list open, closed;
    bool forgets; /* closing removes the item: its id may open again */
};

/* Data to store of an item besides its id; strings are copied. */
struct open_item_info {
    const char *name, *kind, *step_id;
    int64_t index;
    bool nameless;
    const struct tc_meta *meta; /* agent and parent_id */
};

void open_items_fini(struct open_items *b);
/* NULL: unknown, or forgotten. */
struct open_items_entry *open_items_find(const struct open_items *b, const char *id);
/* Adds an open item; the id must not be in the table. May forget closed items to make room, but
 * never open ones: see open_items_is_full. */
struct open_items_entry *open_items_open(struct open_items *b, const char *id,
                                         const struct open_item_info *note);
/* Closes the item, which any later call may forget. */
void open_items_close(struct open_items *b, struct open_items_entry *e);
/* Whether open items fill the table: close the oldest one before opening another. */
bool open_items_is_full(const struct open_items *b);

#endif
