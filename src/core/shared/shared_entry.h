/* SPDX-License-Identifier: MIT
 * One shared setting: its form on the bus and in the journal, and which of two versions counts.
 * Pure.
 *
 * Each change counts the setting's number up. A deletion is a version without a value; it stays, so
 * that a host that missed it does not bring the value back. */
#ifndef CORE_SHARED_SHARED_ENTRY_H
#define CORE_SHARED_SHARED_ENTRY_H

#include "core/bus/bus_message.h"

/* What the servers have. */
struct shared_entry {
    struct bus_origin from;
    int64_t n;        /* changes so far */
    struct str value; /* JSON; p NULL: deleted */
};

/* What this host has. */
struct shared_copy {
    int64_t n;   /* 0: it knows nothing of the setting */
    char *value; /* JSON, owned; NULL: deleted */
    /* The version of the servers that was seen last. */
    struct bus_origin base;
    bool is_changed; /* here, and not known to be stored by the servers */
};

enum shared_choice {
    SHARED_SAME, /* both have the same value */
    SHARED_TAKE, /* that of the servers counts */
    SHARED_KEEP, /* that of this host counts, and is stored in the place of the other */
};

/* Of changes that were made at once, the one that is stored last counts, but a deletion does before
 * a value: what is revoked on one host is not allowed again by another that did not know it. Of
 * versions that nobody has changed, the one with more changes behind it counts. */
enum shared_choice shared_entry_choose(const struct shared_copy *own,
                                       const struct shared_entry *other);

void shared_entry_write(struct buf *out, const struct bus_origin *from,
                        const struct shared_copy *own);
/* Borrows from the message. -1: it is none. */
int shared_entry_read(struct str message, struct shared_entry *e) MUST_CHECK;

void shared_copy_write(struct buf *out, const struct shared_copy *own);
/* own is filled, to be freed. -1: it is none. */
int shared_copy_read(struct str text, struct shared_copy *own) MUST_CHECK;

#endif
