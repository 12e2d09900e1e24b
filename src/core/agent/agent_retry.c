/* SPDX-License-Identifier: MIT
 * The tables of error codes and phrases, and how they are matched.
 * Sources of the wording: recordings of the published CLIs, tests/core/agent/t_agent_retry.c. */
#include "core/agent/agent_retry.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

enum retry_class {
    RETRY_UNKNOWN,
    RETRY_NEVER, /* the same request would fail again */
    RETRY_RATE_LIMIT,
    RETRY_SERVER,
    RETRY_NETWORK,
};

struct retry_rule {
    const char *pattern;
    enum retry_class class;
};

/* Compared with the whole code; ignores case. */
static const struct retry_rule code_rules[] = {
    /* Anthropic API, Claude Code */
    {"rate_limit", RETRY_RATE_LIMIT},
    {"rate_limit_error", RETRY_RATE_LIMIT},
    {"overloaded", RETRY_RATE_LIMIT},
    {"overloaded_error", RETRY_RATE_LIMIT},
    {"api_error", RETRY_SERVER},
    {"server_error", RETRY_SERVER},
    {"connection_failed", RETRY_NETWORK},
    {"authentication_error", RETRY_NEVER},
    {"authentication_failed", RETRY_NEVER},
    {"billing_error", RETRY_NEVER},
    {"invalid_request", RETRY_NEVER},
    {"invalid_request_error", RETRY_NEVER},
    {"model_not_found", RETRY_NEVER},
    {"not_found_error", RETRY_NEVER},
    {"permission_error", RETRY_NEVER},
    {"request_too_large", RETRY_NEVER},
    {"tls_untrusted_ca", RETRY_NEVER},
    {"error_max_turns", RETRY_NEVER},
    {"error_max_budget_usd", RETRY_NEVER},
    /* codexErrorInfo of codex app-server */
    {"rateLimitExceeded", RETRY_RATE_LIMIT},
    {"serverOverloaded", RETRY_RATE_LIMIT},
    {"flexUnavailable", RETRY_SERVER},
    {"internalServerError", RETRY_SERVER},
    {"policyCapacityUnavailable", RETRY_SERVER},
    {"responseStreamConnectionFailed", RETRY_NETWORK},
    {"responseStreamDisconnected", RETRY_NETWORK},
    {"badRequest", RETRY_NEVER},
    {"contextWindowExceeded", RETRY_NEVER},
    {"cyberPolicy", RETRY_NEVER},
    {"misalignmentPolicyViolation", RETRY_NEVER},
    {"modelNotFound", RETRY_NEVER},
    {"sandboxError", RETRY_NEVER},
    {"sessionBudgetExceeded", RETRY_NEVER},
    {"tooManyDenials", RETRY_NEVER},
    {"unauthorized", RETRY_NEVER},
    {"usageLimitExceeded", RETRY_NEVER},
    /* turncast-remote has already retried */
    {"remote_invalid", RETRY_NEVER},
    {"remote_lost", RETRY_NEVER},
    {"remote_refused", RETRY_NEVER},
    {"remote_unreachable", RETRY_NEVER},
    /* OpenCode, OpenAI */
    {"ContextOverflowError", RETRY_NEVER},
    {"ContentFilterError", RETRY_NEVER},
    {"insufficient_quota", RETRY_NEVER},
};

/* Searched anywhere in the text at word boundaries (neighbours are neither letters nor digits);
 * ignores case; a blank matches one blank, '-' or '_', or nothing. In each class the first match
 * counts; RETRY_NEVER is searched first. */
static const struct retry_rule text_rules[] = {
    {"token limit", RETRY_NEVER},
    {"context limit", RETRY_NEVER},
    {"context window", RETRY_NEVER},
    {"context length", RETRY_NEVER},
    {"context too long", RETRY_NEVER},
    {"context is too long", RETRY_NEVER},
    {"prompt is too long", RETRY_NEVER},
    {"maximum context", RETRY_NEVER},
    {"invalid api key", RETRY_NEVER},
    {"incorrect api key", RETRY_NEVER},
    {"authentication failed", RETRY_NEVER},
    {"failed to authenticate", RETRY_NEVER},
    {"credit balance", RETRY_NEVER},
    {"insufficient quota", RETRY_NEVER},
    {"self signed certificate", RETRY_NEVER},
    {"certificate has expired", RETRY_NEVER},
    {"certificate verify failed", RETRY_NEVER},
    {"rate limit", RETRY_RATE_LIMIT},
    {"rate limited", RETRY_RATE_LIMIT},
    {"too many requests", RETRY_RATE_LIMIT},
    {"overloaded", RETRY_RATE_LIMIT},
    {"internal server error", RETRY_SERVER},
    {"bad gateway", RETRY_SERVER},
    {"service unavailable", RETRY_SERVER},
    {"gateway timeout", RETRY_SERVER},
    {"experiencing high demand", RETRY_SERVER},
    {"connection refused", RETRY_NETWORK},
    {"connection reset", RETRY_NETWORK},
    {"connection timeout", RETRY_NETWORK},
    {"connection timed out", RETRY_NETWORK},
    {"connection closed", RETRY_NETWORK},
    {"connection lost", RETRY_NETWORK},
    {"connection error", RETRY_NETWORK},
    {"connection failed", RETRY_NETWORK},
    {"could not connect", RETRY_NETWORK},
    {"network error", RETRY_NETWORK},
    {"fetch failed", RETRY_NETWORK},
    {"socket hang up", RETRY_NETWORK},
    {"stream disconnected", RETRY_NETWORK},
    {"ended without a finish reason", RETRY_NETWORK},
    {"econnrefused", RETRY_NETWORK},
    {"econnreset", RETRY_NETWORK},
    {"etimedout", RETRY_NETWORK},
    {"enotfound", RETRY_NETWORK},
    {"eai again", RETRY_NETWORK},
    {"epipe", RETRY_NETWORK},
};

/* Words before a number that mean it is a status; so do words that begin with "http". */
static const char *const status_words[] = {
    "status", "code", "error", "rejected", "statuscode", "status_code", "api_error_status",
};

static const char *const lost_sessions[] = {
    "no conversation found",
    "session not found",
    "unknown session",
};

static enum retry_class class_of_status(int status)
{
    if (status == 429 || status == 529)
        return RETRY_RATE_LIMIT;
    if (status == 408 || status >= 500)
        return RETRY_SERVER;
    return RETRY_NEVER;
}

static bool is_word_char(char c)
{
    return isalnum((unsigned char)c);
}

/* A number from 400 to 599 at p, or 0. */
static int status_at(const char *p)
{
    if ((p[0] != '4' && p[0] != '5') || !isdigit((unsigned char)p[1]) ||
        !isdigit((unsigned char)p[2]) || is_word_char(p[3]))
        return 0;
    return (p[0] - '0') * 100 + (p[1] - '0') * 10 + (p[2] - '0');
}

/* --- codes ------------------------------------------------------------------------------------ */

static enum retry_class class_of_code(const char *code)
{
    const int status = status_at(code);
    if (status && !code[3])
        return class_of_status(status);
    for (size_t i = 0; i < sizeof code_rules / sizeof *code_rules; i++)
        if (strcasecmp(code, code_rules[i].pattern) == 0)
            return code_rules[i].class;
    return RETRY_UNKNOWN;
}

/* --- phrases ---------------------------------------------------------------------------------- */

static bool phrase_is_at(const char *p, const char *phrase)
{
    for (; *phrase; phrase++) {
        if (*phrase == ' ')
            p += *p == ' ' || *p == '-' || *p == '_';
        else if (tolower((unsigned char)*p) == *phrase)
            p++;
        else
            return false;
    }
    return !is_word_char(*p);
}

static bool has_phrase(const char *text, const char *phrase)
{
    for (const char *p = text; *p; p++)
        if ((p == text || !is_word_char(p[-1])) && phrase_is_at(p, phrase))
            return true;
    return false;
}

/* With `never`, searches the class RETRY_NEVER only, otherwise all other classes. */
static enum retry_class class_of_phrases(const char *text, bool never)
{
    for (size_t i = 0; i < sizeof text_rules / sizeof *text_rules; i++)
        if ((text_rules[i].class == RETRY_NEVER) == never &&
            has_phrase(text, text_rules[i].pattern))
            return text_rules[i].class;
    return RETRY_UNKNOWN;
}

/* --- statuses in a text ----------------------------------------------------------------------- */

static bool is_status_word(const char *word, size_t len)
{
    if (len >= 4 && strncasecmp(word, "http", 4) == 0)
        return true;
    for (size_t i = 0; i < sizeof status_words / sizeof *status_words; i++)
        if (strlen(status_words[i]) == len && strncasecmp(word, status_words[i], len) == 0)
            return true;
    return false;
}

/* Whether the word before p, across blanks and punctuation, announces a status. */
static bool follows_status_word(const char *text, const char *p)
{
    while (p > text && p[-1] != '\n' && strchr(" \t:=\"'([", p[-1]))
        p--;
    const char *const end = p;
    while (p > text && (is_word_char(p[-1]) || p[-1] == '_' || p[-1] == '/' || p[-1] == '.'))
        p--;
    return is_status_word(p, (size_t)(end - p));
}

/* Whether the number at p is alone in its line. */
static bool is_alone_in_line(const char *text, const char *p)
{
    return (p == text || p[-1] == '\n') && (!p[3] || p[3] == '\n');
}

/* The class of the first status in the text. */
static enum retry_class class_of_statuses(const char *text)
{
    for (const char *p = text; *p; p++) {
        if (p > text && is_word_char(p[-1]))
            continue;
        const int status = status_at(p);
        if (status && (is_alone_in_line(text, p) || follows_status_word(text, p)))
            return class_of_status(status);
    }
    return RETRY_UNKNOWN;
}

/* --- classification --------------------------------------------------------------------------- */

static enum retry_class classify_error(const char *code, const char *text)
{
    if (text && class_of_phrases(text, true) == RETRY_NEVER)
        return RETRY_NEVER; /* some codes are too general: a bad certificate is a server_error, too
                             */
    enum retry_class class = code ? class_of_code(code) : RETRY_UNKNOWN;
    if (class == RETRY_UNKNOWN && text)
        class = class_of_statuses(text);
    if (class == RETRY_UNKNOWN && text)
        class = class_of_phrases(text, false);
    return class;
}

const char *agent_retry_find_cause(const char *code, const char *text)
{
    switch (classify_error(code, text)) {
    case RETRY_RATE_LIMIT:
        return "rate limit";
    case RETRY_SERVER:
        return "server error";
    case RETRY_NETWORK:
        return "network";
    case RETRY_NEVER:
    case RETRY_UNKNOWN:
        break;
    }
    return NULL;
}

bool agent_retry_is_session_lost(const char *text)
{
    for (size_t i = 0; text && i < sizeof lost_sessions / sizeof *lost_sessions; i++)
        if (strcasestr(text, lost_sessions[i]))
            return true;
    return false;
}

int64_t agent_retry_delay_ms(unsigned attempt)
{
    const unsigned doublings = attempt - 1 < 4 ? attempt - 1 : 4;
    const int64_t seconds = (int64_t)1 << doublings;
    return (seconds < 10 ? seconds : 10) * 1000;
}
