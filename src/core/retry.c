/* SPDX-License-Identifier: MIT
 * Owns the rules. */
#include "core/retry.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

#define SAME_LINE ((size_t)-1)

/* `first`, then within `gap` characters `then`; in any case. */
struct rule {
    const char *name, *first, *then;
    size_t gap;
};

static const struct rule rules[] = {
    {"token limit", "token limit", "", 0},
    {"token limit", "context", "limit", SAME_LINE},
    {"token limit", "context", "window", SAME_LINE},
    {"token limit", "context", "exceeded", SAME_LINE},
    {"token limit", "context", "too long", SAME_LINE},
    {"rate limit", "rate", "limit", 1},
    {"rate limit", "429", "", 0},
    {"rate limit", "too many requests", "", 0},
    {"rate limit", "overloaded", "", 0},
    {"network", "connection", "refused", 1},
    {"network", "connection", "reset", 1},
    {"network", "connection", "timeout", 1},
    {"network", "econnrefused", "", 0},
    {"network", "network error", "", 0},
};

static const char *const lost_sessions[] = {
    "no conversation found",
    "session not found",
    "unknown session",
};

static bool follows(const char *p, const struct rule *r)
{
    const size_t len = strlen(r->then);
    for (size_t i = 0; i <= r->gap && p[i] && p[i] != '\n'; i++)
        if (strncasecmp(p + i, r->then, len) == 0)
            return true;
    return !len;
}

static bool matches(const char *text, const struct rule *r)
{
    for (const char *p = text; (p = strcasestr(p, r->first));) {
        p += strlen(r->first);
        if (follows(p, r))
            return true;
        if (r->gap == SAME_LINE)
            p += strcspn(p, "\n"); /* the rest of this line has been looked through */
    }
    return false;
}

const char *retry_reason(const char *text)
{
    for (size_t i = 0; text && i < sizeof rules / sizeof *rules; i++)
        if (matches(text, &rules[i]))
            return rules[i].name;
    return NULL;
}

bool retry_is_session_lost(const char *text)
{
    for (size_t i = 0; text && i < sizeof lost_sessions / sizeof *lost_sessions; i++)
        if (strcasestr(text, lost_sessions[i]))
            return true;
    return false;
}

int64_t retry_delay_ms(unsigned attempt)
{
    const unsigned doublings = attempt - 1 < 4 ? attempt - 1 : 4;
    const int64_t seconds = (int64_t)1 << doublings;
    return (seconds < 10 ? seconds : 10) * 1000;
}
