/* SPDX-License-Identifier: MIT
 * Open-item table: named items that open and close during a turn (calls, requests, steps). It keeps
 * the open items in order, and remembers closed ones within fixed bounds. */
#ifndef TURN_OPEN_ITEMS_H
#define TURN_OPEN_ITEMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/event.h"

#define BOOK_MAX 4096                    /* entries of each list */
#define BOOK_MAX_BYTES ((size_t)1 << 20) /* of all entries, unless one alone is larger */

struct open_items_entry {
    struct open_items_entry *chain;       /* next in the bucket */
    struct open_items_entry *prev, *next; /* in its list, oldest first */
    uint64_t hash;
    bool open;
    bool nameless; /* its id was made by the guard */
    size_t bytes;
    int64_t index;                           /* of a step, else -1 */
    const char *id;                          /* what it is found by */
    const char *name, *kind;                 /* each or NULL */
    const char *step_id, *agent, *parent_id; /* each or NULL */
};

struct open_item_list {
    struct open_items_entry *oldest, *newest;
    size_t count;
};

/* All zero is empty; `forgets` is set by the owner. */
struct open_items {
    struct open_items_entry **buckets; /* owned; a power of two */
    size_t bucket_count, bytes;
    struct open_item_list open, closed;
    bool forgets; /* closing removes: the id may open again */
};

/* What to store of an item besides its id; the strings are copied. */
struct open_item_info {
    const char *name, *kind, *step_id;
    int64_t index;
    bool nameless;
    const struct tc_meta *meta; /* agent and parent_id */
};

void open_items_fini(struct open_items *b);
/* NULL: never seen, or forgotten. */
struct open_items_entry *open_items_find(const struct open_items *b, const char *id);
/* Adds an open entry; the id must not be in the table. Closed entries may be forgotten to make
 * room, open ones never: see open_items_is_full. */
struct open_items_entry *open_items_open(struct open_items *b, const char *id,
                                         const struct open_item_info *note);
/* The entry may be forgotten at any later call. */
void open_items_close(struct open_items *b, struct open_items_entry *e);
/* Whether open items fill the table: close the oldest one before opening another. */
bool open_items_is_full(const struct open_items *b);

#endif
