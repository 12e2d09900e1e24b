/* SPDX-License-Identifier: MIT
 * The rules for another attempt, as a table. */
#include "core/agent/agent_retry.h"

#include <stddef.h>

#include "tap/tap.h"

static const struct {
    const char *code, *text, *cause;
} cases[] = {
    {NULL, NULL, NULL},
    {NULL, "", NULL},
    {NULL, "agent error", NULL},
    /* what cannot pass by itself */
    {NULL, "Token Limit reached", NULL},
    {NULL, "context window exceeded", NULL},
    {NULL, "CONTEXT length EXCEEDED", NULL},
    {NULL, "connection reset: context limit exceeded, HTTP 429", NULL},
    {NULL, "HTTP 401 Unauthorized", NULL},
    {NULL, "HTTP 404", NULL},
    {NULL, "connection error: certificate has expired", NULL},
    /* rate limits */
    {NULL, "rate limit", "rate limit"},
    {NULL, "ratelimit", "rate limit"},
    {NULL, "Rate_Limit_error", "rate limit"},
    {NULL, "rate  limit", NULL},
    {NULL, "corporate limit", NULL},
    {NULL, "HTTP 429", "rate limit"},
    {NULL, "429", "rate limit"},
    {NULL, "first line\n429\nlast line", "rate limit"},
    {NULL, "Too Many Requests", "rate limit"},
    {NULL, "overloaded_error", "rate limit"},
    {NULL, "overloaded: connection reset", "rate limit"},
    /* numbers that are no status */
    {NULL, "see issue 14290", NULL},
    {NULL, "see issue 429", NULL},
    {NULL, "5000 lines, 503 of them new", NULL},
    {NULL, "code 5030", NULL},
    {NULL, "code 503a", NULL},
    {NULL, "code 50", NULL},
    {NULL, "status 200", NULL},
    /* server errors */
    {NULL, "HTTP 503 service unavailable", "server error"},
    {NULL, "HTTP/1.1 502", "server error"},
    {NULL, "http status: 500", "server error"},
    {NULL, "{\"code\":504}", "server error"},
    {NULL, "{\"statusCode\": 599}", "server error"},
    {NULL, "status_code=408", "server error"},
    {NULL, "code 600", NULL},
    {NULL, "Bad Gateway", "server error"},
    /* the network */
    {NULL, "connection refused", "network"},
    {NULL, "connection-timeout", "network"},
    {NULL, "ConnectionReset", "network"},
    {NULL, "connection was refused", NULL},
    {NULL, "disconnection refused", NULL},
    {NULL, "connection resetting", NULL},
    {NULL, "connect ECONNREFUSED 127.0.0.1:1", "network"},
    {NULL, "connect ETIMEDOUT 10.0.0.1:443", "network"},
    {NULL, "TypeError: fetch failed", "network"},
    {NULL, "Network Error", "network"},
    {NULL, "stream disconnected before completion", "network"},
    /* the code of the stream decides before the text */
    {"rate_limit", "whatever", "rate limit"},
    {"OVERLOADED_ERROR", "", "rate limit"},
    {"529", NULL, "rate limit"},
    {"503", "status 404", "server error"},
    {"server_error", "Self-signed certificate detected", NULL},
    {"400", "connection reset", NULL},
    {"authentication_failed", "HTTP 503", NULL},
    {"serverOverloaded", "", "rate limit"},
    {"responseStreamDisconnected", "", "network"},
    {"contextWindowExceeded", "connection reset", NULL},
    {"of another program", "HTTP 503", "server error"},
    /* as the published CLIs word them: Claude Code 2.1.330 */
    {"authentication_failed", "Invalid API key \u00b7 Fix external API key", NULL},
    {NULL, "Failed to authenticate. API Error: 403 Your account does not have access", NULL},
    {NULL, "There's an issue with the selected model (claude-opus-5-5).", NULL},
    {NULL, "API Error: Request rejected (429) \u00b7 This request would exceed your rate limit",
     "rate limit"},
    {NULL, "API Error: 500 Internal server error. This is a server-side issue, usually temporary",
     "server error"},
    {NULL, "API Error: 503 Service unavailable. This is a server-side issue, usually temporary",
     "server error"},
    {"connection_failed",
     "API Error: Connection refused \u2014 a firewall or proxy may be blocking it (ECONNREFUSED)",
     "network"},
    {NULL, "API Error: Can't reach the API server \u2014 check your internet or DNS (ENOTFOUND)",
     "network"},
    {NULL, "API Error: Connection lost mid-response. The response above may be incomplete.",
     "network"},
    {NULL,
     "API Error: Unable to connect to API: Self-signed certificate detected "
     "(DEPTH_ZERO_SELF_SIGNED_CERT).",
     NULL},
    {NULL, "Prompt is too long \u00b7 the request is ~210000 tokens (limit 200000)", NULL},
    /* Codex 0.169.0 */
    {"httpConnectionFailed",
     "unexpected status 401 Unauthorized: invalid x-api-key, url: http://127.0.0.1:8080/v1", NULL},
    {NULL, "unexpected status 404 Not Found: model: nope-1", NULL},
    {NULL, "exceeded retry limit, last status: 429 Too Many Requests", "rate limit"},
    {NULL, "We\u2019re currently experiencing high demand, which may cause temporary errors.",
     "server error"},
    {NULL, "unexpected status 503 Service Unavailable: Service unavailable", "server error"},
    {NULL, "stream disconnected before completion: stream closed before response.completed",
     "network"},
    {NULL,
     "Codex ran out of room in the model's context window. Start a new thread or clear earlier "
     "history before retrying.",
     NULL},
    /* Gemini CLI 0.61.0 */
    {NULL, "[API Error: {\"error\":{\"code\":401,\"message\":\"no\"}}]", NULL},
    {NULL, "[API Error: model: nope-1]", NULL},
    {NULL, "Model stream ended without a finish reason.", "network"},
    /* OpenCode 1.18.33 */
    {"APIError", "invalid x-api-key", NULL},
    {"ContextOverflowError", "This model's maximum context length is 200000 tokens.", NULL},
    {"APIError", "Slow down (HTTP 429)", "rate limit"},
    /* Copilot 1.0.102 */
    {"query", "Could not connect to local model provider at http://127.0.0.1:18080/v1.", "network"},
    /* Qwen Code 0.15.10 */
    {NULL, "[API Error: 404 model: nope-1]", NULL},
    {NULL, "[API Error: 400 This model's maximum context length is 200000 tokens.]", NULL},
    {NULL, "[API Error: Connection error. (cause: fetch failed)]", "network"},
};

int main(void)
{
    plan_lazy();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        is_str(agent_retry_find_cause(cases[i].code, cases[i].text), cases[i].cause,
               "code %s, text %s", cases[i].code ? cases[i].code : "no code",
               cases[i].text ? cases[i].text : "no text");
    ok(agent_retry_is_session_lost("No conversation found with session ID: x"),
       "the text of a lost session");
    ok(!agent_retry_is_session_lost("conversation found"), "another text is not a lost session");
    ok(!agent_retry_is_session_lost(NULL), "without a text no session is lost");
    static const long long seconds[] = {1, 2, 4, 8, 10, 10, 10};
    for (unsigned i = 0; i < 7; i++)
        is_int(agent_retry_delay_ms(i + 1), seconds[i] * 1000, "pause after attempt %u", i + 1);
    return 0;
}
