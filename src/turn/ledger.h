/* SPDX-License-Identifier: MIT
 * A book of named things that open and close during a turn: calls, requests, steps. It knows
 * what is open, in order, and remembers what was, within fixed bounds. */
#ifndef TURN_LEDGER_H
#define TURN_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/event.h"

#define LEDGER_MAX 4096                    /* entries of each list */
#define LEDGER_MAX_BYTES ((size_t)1 << 20) /* of all entries, unless one alone is larger */

struct ledger_entry {
    struct ledger_entry *chain;       /* next in the bucket */
    struct ledger_entry *prev, *next; /* in its list, oldest first */
    uint32_t hash;
    bool open;
    bool nameless; /* its id was made by the guard */
    size_t bytes;
    int64_t index;                           /* of a step, else -1 */
    const char *id;                          /* what it is found by */
    const char *name, *kind;                 /* each or NULL */
    const char *step_id, *agent, *parent_id; /* each or NULL */
};

struct ledger_list {
    struct ledger_entry *oldest, *newest;
    size_t count;
};

/* All zero is empty; `forgets` is set by the owner. */
struct ledger {
    struct ledger_entry **buckets; /* owned; a power of two */
    size_t bucket_count, bytes;
    struct ledger_list open, closed;
    bool forgets; /* closing removes: the id may open again */
};

/* What to remember of a thing besides its id; strings are borrowed and copied. */
struct ledger_note {
    const char *name, *kind, *step_id;
    int64_t index;
    bool nameless;
    const struct tc_meta *meta; /* agent and parent_id */
};

void ledger_fini(struct ledger *l);
/* NULL: never seen, or forgotten. */
struct ledger_entry *ledger_find(const struct ledger *l, const char *id);
/* Adds an open entry; the id is not in the ledger. Closed ones may be forgotten for it, open
 * ones never: see ledger_is_full. */
struct ledger_entry *ledger_open(struct ledger *l, const char *id, const struct ledger_note *note);
/* The entry may be forgotten at any later call. */
void ledger_close(struct ledger *l, struct ledger_entry *e);
/* What is open takes all the room there is: close the oldest before opening more. */
bool ledger_is_full(const struct ledger *l);

#endif
