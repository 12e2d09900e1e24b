/* SPDX-License-Identifier: MIT
 * What is asked of the place where the locks of conversations are: Redis or the bus. */
#ifndef CORE_LOCK_TURN_LOCK_REQUEST_H
#define CORE_LOCK_TURN_LOCK_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

/* Of the bus. agent NULL: nothing is known; id NULL: a new one begins. Owned. */
struct turn_lock_session {
    char *agent, *id;
};

struct turn_lock_request {
    enum turn_lock_verb {
        TURN_LOCK_TAKE,  /* also from an earlier life of this host */
        TURN_LOCK_RENEW, /* also one that has expired, if nobody has taken it since */
        TURN_LOCK_DROP,
    } verb;
    const char *conversation;
    int64_t fence; /* the number of the lock: of RENEW before, of TAKE behind the call */
    /* filled by the call */
    bool done;  /* false: it is another host's */
    bool moved; /* TAKE: another host had it since this one */
    /* Of the bus. */
    bool is_begun;                    /* this host acts for it already */
    struct turn_lock_session session; /* TAKE: to go on with */
    /* Another host's entry that has been met, kept from one TAKE to the next. */
    uint64_t rival;
    int64_t rival_since_ms;
};

#endif
