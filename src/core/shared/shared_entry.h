/* SPDX-License-Identifier: MIT
 * A shared setting: its encoding on the bus and in the journal, and the rule that decides between
 * two versions. Pure.
 *
 * Each change increments the setting's number. A deletion is a version without a value; it is kept,
 * so that a host that missed it does not restore the value. */
#ifndef CORE_SHARED_SHARED_ENTRY_H
#define CORE_SHARED_SHARED_ENTRY_H

#include "core/bus/bus_message.h"

/* The version on the servers. */
struct shared_entry {
    struct bus_origin from;
    int64_t n;        /* number of changes */
    struct str value; /* JSON; p NULL: deleted */
};

/* The version of this host. */
struct shared_copy {
    int64_t n;   /* 0: unknown setting */
    char *value; /* JSON, owned; NULL: deleted */
    /* The last seen version of the servers. */
    struct bus_origin base;
    bool is_changed; /* changed here, and not known to be stored by the servers */
};

enum shared_choice {
    SHARED_SAME, /* both have the same value */
    SHARED_TAKE, /* the servers' version counts */
    SHARED_KEEP, /* this host's version counts, and replaces the other */
};

/* Of concurrent changes, the one stored last counts; but a deletion has precedence over a value, so
 * that a revoked permission is not restored by a host that did not know of the revocation. Of
 * unchanged versions, the one with more changes counts. */
enum shared_choice shared_entry_choose(const struct shared_copy *own,
                                       const struct shared_entry *other);

void shared_entry_write(struct buf *out, const struct bus_origin *from,
                        const struct shared_copy *own);
/* Borrows from the message. -1: invalid. */
int shared_entry_read(struct str message, struct shared_entry *e) MUST_CHECK;

void shared_copy_write(struct buf *out, const struct shared_copy *own);
/* Fills own, to be freed. -1: invalid. */
int shared_copy_read(struct str text, struct shared_copy *own) MUST_CHECK;

#endif
