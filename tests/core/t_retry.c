/* SPDX-License-Identifier: MIT
 * The rules for another attempt, as a table. */
#include "core/retry.h"

#include <stddef.h>

#include "tap/tap.h"

static const struct {
    const char *text, *reason;
} cases[] = {
    {NULL, NULL},
    {"", NULL},
    {"agent error", NULL},
    {"Token Limit reached", "token limit"},
    {"the context window is full", "token limit"},
    {"CONTEXT length EXCEEDED", "token limit"},
    {"context is too long", "token limit"},
    {"context: none\nno limit here", NULL},
    {"context\ncontext limit", "token limit"},
    {"limit of context", NULL},
    {"rate limit", "rate limit"},
    {"ratelimit", "rate limit"},
    {"Rate_Limit_error", "rate limit"},
    {"rate  limit", NULL},
    {"HTTP 429", "rate limit"},
    {"Too Many Requests", "rate limit"},
    {"overloaded_error", "rate limit"},
    {"connection refused", "network"},
    {"ConnectionReset", "network"},
    {"connection-timeout", "network"},
    {"connection was refused", NULL},
    {"connect ECONNREFUSED 127.0.0.1:1", "network"},
    {"Network Error", "network"},
    {"overloaded: connection reset", "rate limit"},
    {"connection reset: context limit exceeded, 429", "token limit"},
};

int main(void)
{
    plan_lazy();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        is_str(retry_reason(cases[i].text), cases[i].reason, "%s",
               cases[i].text ? cases[i].text : "no text");
    ok(retry_is_session_lost("No conversation found with session ID: x"), "a lost session");
    ok(!retry_is_session_lost("conversation found"), "no lost session");
    ok(!retry_is_session_lost(NULL), "no text, no lost session");
    static const long long seconds[] = {1, 2, 4, 8, 10, 10, 10};
    for (unsigned i = 0; i < 7; i++)
        is_int(retry_delay_ms(i + 1), seconds[i] * 1000, "pause behind attempt %u", i + 1);
    return 0;
}
