/* SPDX-License-Identifier: MIT
 * Retry policy: maps an HTTP outcome to "done" or "retry", with the delay and the scope of the
 * hold; exponential back-off with full jitter. Pure. */
#ifndef IO_SEND_RETRY_POLICY_H
#define IO_SEND_RETRY_POLICY_H

#include <stdbool.h>
#include <stdint.h>

struct httpc_reply;

/* Scope of a hold: the conversation; the rates towards which the request counts, i.e. every
 * conversation of the instance that uses them; the whole instance. */
enum retry_scope { RETRY_CONVERSATION, RETRY_RATES, RETRY_INSTANCE };

struct retry_decision {
    bool again;
    int64_t hold_ms; /* delay requested by the service; 0: if `again`, back off */
    enum retry_scope scope;
};

/* Decides by outcome and status: repeats a request that was certainly not executed; one that may
 * have been, only if it is idempotent. 429 holds the conversation for the time in its header. */
struct retry_decision retry_policy_decide(const struct httpc_reply *reply, bool idempotent);
/* Full jitter: between 1 ms and 1 s, 2 s, 4 s… 5 min after failed attempt 1, 2, 3…, from 64 random
 * bits. */
int64_t retry_policy_backoff_ms(unsigned attempt, uint64_t random);

#endif
