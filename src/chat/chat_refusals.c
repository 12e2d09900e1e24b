/* SPDX-License-Identifier: MIT
 * Counts requests that the service refuses. Services ban the IP address of a program that continues
 * to send such requests, Discord after 10,000 in 10 minutes; then the service rejects every bot
 * with this address. Before that, all requests of the instance pause. */
#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "base/sys/clock.h"
#include "chat/chat_internal.h"

#define REFUSALS_MS 600000

/* Whether the refusal is due to a limit that is shared with other programs; such a refusal does not
 * count. */
static bool chat_refusals_is_shared_limit(const struct tc_reply *reply)
{
    for (size_t i = 0; i < reply->header_count; i++)
        if (strcasecmp(reply->headers[i].name, "x-ratelimit-scope") == 0)
            return strcmp(reply->headers[i].value, "shared") == 0;
    return false;
}

static bool chat_refusals_is_refusal(const struct tc_reply *reply)
{
    return reply->status == 401 || reply->status == 403 ||
           (reply->status == 429 && !chat_refusals_is_shared_limit(reply));
}

bool chat_refusals_count(struct chat *c, const struct tc_reply *reply, struct tc_verdict *v)
{
    struct chat_refusals *const r = &c->refusals;
    const int64_t now = clock_mono_ms();
    if (!chat_refusals_is_refusal(reply))
        return false;
    if (now - r->since_ms >= REFUSALS_MS)
        *r = (struct chat_refusals){.since_ms = now};
    if (++r->count < c->options.refusals_max || !c->options.refusals_max)
        return false;
    r->count = 0; /* the service forgets them during the pause */
    v->next = TC_NEXT_AGAIN;
    v->hold_ms = REFUSALS_MS;
    v->scope = TC_HOLD_INSTANCE;
    v->reason =
        arena_sprintf(&c->scratch,
                      "requests that the service refused within 10 minutes (HTTP 401, 403 or "
                      "429): %" PRId64 " (refusals_max); no requests for 10 minutes, because "
                      "a service bans addresses that go on",
                      c->options.refusals_max);
    tc_log(c->inst, TC_ERR, "%s", v->reason);
    return true;
}
