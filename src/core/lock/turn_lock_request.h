/* SPDX-License-Identifier: MIT
 * Requests for locks of conversations, to where they are kept: Redis or the bus. */
#ifndef CORE_LOCK_TURN_LOCK_REQUEST_H
#define CORE_LOCK_TURN_LOCK_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

/* Session of the agent, kept in an entry of the bus. agent NULL: not known; id NULL: a new session
 * begins. Owns its strings. */
struct turn_lock_session {
    char *agent, *id;
};

struct turn_lock_request {
    enum turn_lock_verb {
        TURN_LOCK_ACQUIRE, /* also if an earlier process of this host holds it */
        TURN_LOCK_RENEW,   /* also after it expired, if no other host has acquired it */
        TURN_LOCK_RELEASE,
    } verb;
    const char *conversation;
    int64_t fence; /* number of the lock: input of RENEW, result of ACQUIRE */
    /* filled by the call */
    bool done;  /* false: another host has the lock */
    bool moved; /* ACQUIRE: another host has had it since this host had it before */
    /* Only on the bus. */
    bool is_begun;                    /* this host has the lock already */
    struct turn_lock_session session; /* ACQUIRE: the session to go on with */
    /* Revision of another host's entry and when it was read first; kept between attempts. */
    uint64_t rival;
    int64_t rival_since_ms;
};

#endif
