/* SPDX-License-Identifier: MIT
 * Rules for retries. */
#include "io/send/retry_policy.h"

#include "io/http/client/httpc.h"

#define BACKOFF_FIRST_MS 1000
#define BACKOFF_LAST_MS (5 * 60 * 1000)

/* Statuses that are independent of the request itself. */
static bool retry_policy_is_transient_status(int status)
{
    return status == 408 || status == 425 || status == 429;
}

static bool retry_policy_is_retryable(const struct httpc_reply *reply, bool idempotent)
{
    switch (reply->outcome) {
    case HTTPC_OK:
        return false;
    case HTTPC_REJECTED:
        return reply->is_passing || retry_policy_is_transient_status(reply->status);
    case HTTPC_NOT_SENT:
        return true;
    case HTTPC_AMBIGUOUS:
        return idempotent;
    }
    return false;
}

struct retry_decision retry_policy_decide(const struct httpc_reply *reply, bool idempotent)
{
    const bool again = retry_policy_is_retryable(reply, idempotent);
    const int64_t asked = reply->retry_after_ms > 0 ? reply->retry_after_ms : 0;
    return (struct retry_decision){
        .again = again, .hold_ms = again ? asked : 0, .scope = RETRY_CONVERSATION};
}

int64_t retry_policy_backoff_ms(unsigned attempt, uint64_t random)
{
    const unsigned doublings = attempt > 1 ? attempt - 1 : 0;
    const uint64_t ceiling =
        doublings < 9 ? (uint64_t)BACKOFF_FIRST_MS << doublings : BACKOFF_LAST_MS;
    const uint64_t most = ceiling < BACKOFF_LAST_MS ? ceiling : BACKOFF_LAST_MS;
    return (int64_t)(random % most) + 1;
}
