/* SPDX-License-Identifier: MIT
 * Secret redaction: a registry of secrets, masked in plain, percent-encoded and base64 form, and
 * patterns of common token formats. Every text that leaves the host as log, error or audit line
 * passes log_redact(). */
#include <pthread.h>
#include <stdlib.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/bytes/buf.h"
#include "base/cleanup.h"
#include "base/sys/log.h"

#define MASK "***"
#define SECRET_MIN 8
#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#define DIGITS "0123456789"

/* One form of a secret. */
struct redact_needle {
    char *text; /* owned */
    unsigned uses;
};

/* All forms of all secrets. Written rarely, read by every log line. */
static struct {
    pthread_rwlock_t lock;
    struct redact_needle *needles;
    size_t count;
    bool starts[256]; /* whether a secret starts with this byte */
} secrets = {.lock = PTHREAD_RWLOCK_INITIALIZER};

static struct redact_needle *log_redact_find(const char *text)
{
    for (size_t i = 0; i < secrets.count; i++)
        if (strcmp(secrets.needles[i].text, text) == 0)
            return &secrets.needles[i];
    return NULL;
}

/* Operation on each form of a secret; the caller owns the text. Lock: write. */
typedef void needle_fn(const char *text);

static void log_redact_add_needle(const char *text)
{
    struct redact_needle *const known = log_redact_find(text);
    if (known) {
        known->uses++;
        return;
    }
    secrets.needles = xrealloc(secrets.needles, (secrets.count + 1) * sizeof *secrets.needles);
    secrets.starts[(unsigned char)*text] = true;
    secrets.needles[secrets.count++] = (struct redact_needle){xstrdup(text), 1};
}

static void free_needle(struct redact_needle *n)
{
    explicit_bzero(n->text, strlen(n->text));
    free(n->text);
}

static void remove_needle(const char *text)
{
    struct redact_needle *const n = log_redact_find(text);
    if (!n || --n->uses)
        return;
    free_needle(n);
    *n = secrets.needles[--secrets.count];
    memset(secrets.starts, 0, sizeof secrets.starts);
    for (size_t i = 0; i < secrets.count; i++)
        secrets.starts[(unsigned char)*secrets.needles[i].text] = true;
}

/* Empties the buffer. */
static void visit_needle(struct buf *needle, needle_fn *act)
{
    CLEANUP_FREE char *text = buf_steal(needle);
    act(text);
    explicit_bzero(text, strlen(text));
}

/* Form in a JSON string. */
static void visit_quoted(const char *secret, needle_fn *act)
{
    struct buf needle = {0};
    for (const char *p = secret; *p; p++) {
        if (*p == '"' || *p == '\\')
            buf_add_char(&needle, '\\');
        buf_add_char(&needle, *p);
    }
    visit_needle(&needle, act);
}

/* Form in a URL. */
static void visit_percent(const char *secret, const char *hex, needle_fn *act)
{
    struct buf needle = {0};
    for (const char *p = secret; *p; p++) {
        const unsigned char c = (unsigned char)*p;
        if (strchr(LETTERS DIGITS "-._~", *p))
            buf_add_char(&needle, *p);
        else
            buf_add(&needle, (const char[]){'%', hex[c >> 4], hex[c & 15]}, 3);
    }
    visit_needle(&needle, act);
}

/* Form in a base64 text if `before` bytes (0 to 2) of other text share its first group of three:
 * the characters that depend only on the secret. */
static void visit_base64(const char *secret, size_t before, const char *alphabet, needle_fn *act)
{
    struct buf needle = {0};
    const size_t bits = strlen(secret) * 8;
    const size_t first = (6 - before * 8 % 6) % 6;
    for (size_t bit = first; bit + 6 <= bits; bit += 6) {
        const unsigned high = (unsigned char)secret[bit / 8];
        const unsigned low = (unsigned char)secret[bit / 8 + 1];
        buf_add_char(&needle, alphabet[(high << 8 | low) >> (10 - bit % 8) & 63]);
    }
    visit_needle(&needle, act);
}

static void log_redact_visit_spellings(const char *secret, needle_fn *act)
{
    if (strlen(secret) < SECRET_MIN)
        return;
    pthread_rwlock_wrlock(&secrets.lock);
    act(secret);
    visit_quoted(secret, act);
    visit_percent(secret, "0123456789ABCDEF", act);
    visit_percent(secret, "0123456789abcdef", act);
    for (size_t before = 0; before < 3; before++) {
        visit_base64(secret, before, LETTERS DIGITS "+/", act);
        visit_base64(secret, before, LETTERS DIGITS "-_", act);
    }
    pthread_rwlock_unlock(&secrets.lock);
}

void log_add_secret(const char *secret)
{
    log_redact_visit_spellings(secret, log_redact_add_needle);
}

void log_remove_secret(const char *secret)
{
    log_redact_visit_spellings(secret, remove_needle);
}

void log_forget_secrets(void)
{
    pthread_rwlock_wrlock(&secrets.lock);
    for (size_t i = 0; i < secrets.count; i++)
        free_needle(&secrets.needles[i]);
    free(secrets.needles);
    secrets.needles = NULL;
    secrets.count = 0;
    memset(secrets.starts, 0, sizeof secrets.starts);
    pthread_rwlock_unlock(&secrets.lock);
}

static bool log_redact_is_in_set(char c, const char *set)
{
    return c && strchr(set, c);
}

/* Length of the run of bytes of the set from byte `from` on. */
static size_t log_redact_span(struct str s, size_t from, const char *set)
{
    size_t n = from;
    while (n < s.len && log_redact_is_in_set(s.p[n], set))
        n++;
    return n - from;
}

/* A range of bytes in the text, relative to the current position. */
struct redact_match {
    size_t skip, len; /* len 0: none */
};

/* Prefixes of services' tokens. '?' matches one letter. */
static struct redact_match match_prefixed(struct str s)
{
    static const struct {
        const char *prefix;
        size_t least; /* minimum number of bytes behind it */
    } tokens[] = {{"sk-", 10}, {"xox?-", 10}, {"xapp-", 10}, {"ghp_", 20}, {"github_pat_", 20}};
    for (size_t i = 0; i < sizeof tokens / sizeof tokens[0]; i++) {
        const char *const prefix = tokens[i].prefix;
        size_t n = 0;
        while (n < s.len && prefix[n] && (prefix[n] == '?' || prefix[n] == s.p[n]))
            n++;
        const size_t rest = prefix[n] ? 0 : log_redact_span(s, n, LETTERS DIGITS "-_");
        if (rest >= tokens[i].least)
            return (struct redact_match){0, n + rest};
    }
    return (struct redact_match){0};
}

/* bot<digits>:<secret>, as in Telegram's URLs. */
static struct redact_match match_bot(struct str s)
{
    if (!str_has_prefix(s, STR("bot")))
        return (struct redact_match){0};
    const size_t colon = 3 + log_redact_span(s, 3, DIGITS);
    if (colon == 3 || colon == s.len || s.p[colon] != ':')
        return (struct redact_match){0};
    const size_t rest = log_redact_span(s, colon + 1, LETTERS DIGITS "-_");
    return (struct redact_match){0, rest ? colon + 1 + rest : 0};
}

static bool has_word(struct str s, struct str word)
{
    return s.len >= word.len && strncasecmp(s.p, word.p, word.len) == 0;
}

/* "Bearer <token>": the token, if it is long enough. */
static struct redact_match match_bearer(struct str s)
{
    const struct str word = STR("bearer ");
    if (!has_word(s, word))
        return (struct redact_match){0};
    const size_t start = word.len + log_redact_span(s, word.len, " ");
    const size_t len = log_redact_span(s, start, LETTERS DIGITS "-._~+/=");
    return (struct redact_match){start, len >= SECRET_MIN ? len : 0};
}

/* "Authorization: <value>", to the end of the line or of the quoted string. */
static struct redact_match match_authorization(struct str s)
{
    const struct str word = STR("authorization");
    if (!has_word(s, word))
        return (struct redact_match){0};
    size_t start = word.len + log_redact_span(s, word.len, "\"' ");
    if (start == s.len || (s.p[start] != ':' && s.p[start] != '='))
        return (struct redact_match){0};
    start++;
    start += log_redact_span(s, start, "\"' ");
    size_t end = start;
    while (end < s.len && !log_redact_is_in_set(s.p[end], "\r\n\"'"))
        end++;
    return (struct redact_match){start, end - start};
}

static bool is_inside_word(struct str text, size_t at)
{
    const char before = at > 0 ? text.p[at - 1] : ' ';
    const char lower = before | 0x20;
    return (lower >= 'a' && lower <= 'z') || (before >= '0' && before <= '9') || before == '_';
}

static struct redact_match match_token(struct str text, size_t at)
{
    static struct redact_match (*const matchers[])(struct str) = {
        match_prefixed, match_bot, match_bearer, match_authorization};
    struct redact_match m = {0};
    if (is_inside_word(text, at))
        return m;
    const struct str rest = {text.p + at, text.len - at};
    for (size_t i = 0; i < sizeof matchers / sizeof matchers[0] && !m.len; i++)
        m = matchers[i](rest);
    return m;
}

/* Length of the longest secret at the start of s. Lock: read. */
static size_t match_secret(struct str s)
{
    size_t longest = 0;
    for (size_t i = 0; i < secrets.count; i++) {
        const char *const needle = secrets.needles[i].text;
        if (*needle != *s.p)
            continue;
        const size_t len = strlen(needle);
        if (len > longest && len <= s.len && memcmp(s.p, needle, len) == 0)
            longest = len;
    }
    return longest;
}

/* First bytes of the patterns of match_token. */
static const bool token_starts[256] = {
    ['s'] = true, ['x'] = true, ['g'] = true, ['b'] = true,
    ['B'] = true, ['a'] = true, ['A'] = true,
};

/* Fast path: most bytes start neither. Lock: read. */
static struct redact_match match_at(struct str text, size_t at)
{
    const unsigned char first = (unsigned char)text.p[at];
    const struct str rest = {text.p + at, text.len - at};
    const size_t len = secrets.starts[first] ? match_secret(rest) : 0;
    if (len)
        return (struct redact_match){0, len};
    return token_starts[first] ? match_token(text, at) : (struct redact_match){0};
}

/* Pending range to be masked, and position of the output. */
struct redact_state {
    struct buf *out;
    struct str text;
    size_t from, to, done; /* to > done: the range is pending */
};

static void log_redact_flush_mask(struct redact_state *m)
{
    if (m->to <= m->done)
        return;
    buf_add(m->out, m->text.p + m->done, m->from - m->done);
    buf_add_str(m->out, MASK);
    m->done = m->to;
}

/* Merges ranges that overlap or touch. */
static void mask_range(struct redact_state *m, size_t from, size_t to)
{
    if (from > m->to) {
        log_redact_flush_mask(m);
        m->from = from;
    }
    if (from < m->from)
        m->from = from;
    if (to > m->to)
        m->to = to;
}

void log_redact(struct buf *out, struct str text)
{
    struct redact_state m = {.out = out, .text = text};
    pthread_rwlock_rdlock(&secrets.lock);
    for (size_t at = 0; at < text.len; at++) {
        const struct redact_match found = match_at(text, at);
        if (found.len)
            mask_range(&m, at + found.skip, at + found.skip + found.len);
    }
    pthread_rwlock_unlock(&secrets.lock);
    log_redact_flush_mask(&m);
    if (text.len > m.done)
        buf_add(out, text.p + m.done, text.len - m.done);
}
