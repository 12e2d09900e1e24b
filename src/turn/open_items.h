/* SPDX-License-Identifier: MIT
 * A book of named things that open and close during a turn: calls, requests, steps. It knows
 * what is open, in order, and remembers what was, within fixed bounds. */
#ifndef TURN_OPEN_ITEMS_H
#define TURN_OPEN_ITEMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/event.h"

#define BOOK_MAX 4096                    /* entries of each list */
#define BOOK_MAX_BYTES ((size_t)1 << 20) /* of all entries, unless one alone is larger */

struct book_entry {
    struct book_entry *chain;       /* next in the bucket */
    struct book_entry *prev, *next; /* in its list, oldest first */
    uint32_t hash;
    bool open;
    bool nameless; /* its id was made by the guard */
    size_t bytes;
    int64_t index;                           /* of a step, else -1 */
    const char *id;                          /* what it is found by */
    const char *name, *kind;                 /* each or NULL */
    const char *step_id, *agent, *parent_id; /* each or NULL */
};

struct book_list {
    struct book_entry *oldest, *newest;
    size_t count;
};

/* All zero is empty; `forgets` is set by the owner. */
struct book {
    struct book_entry **buckets; /* owned; a power of two */
    size_t bucket_count, bytes;
    struct book_list open, closed;
    bool forgets; /* closing removes: the id may open again */
};

/* What to remember of a thing besides its id; strings are borrowed and copied. */
struct book_note {
    const char *name, *kind, *step_id;
    int64_t index;
    bool nameless;
    const struct tc_meta *meta; /* agent and parent_id */
};

void book_fini(struct book *b);
/* NULL: never seen, or forgotten. */
struct book_entry *book_find(const struct book *b, const char *id);
/* Adds an open entry; the id is not in the book. Closed ones may be forgotten for it, open
 * ones never: see book_is_full. */
struct book_entry *book_open(struct book *b, const char *id, const struct book_note *note);
/* The entry may be forgotten at any later call. */
void book_close(struct book *b, struct book_entry *e);
/* What is open takes all the room there is: close the oldest before opening more. */
bool book_is_full(const struct book *b);

#endif
