/* SPDX-License-Identifier: MIT
 * Owns the digests of keys and cookies, and compares them in constant time. */
#include "api/shared/auth.h"

#include <nettle/memops.h>
#include <nettle/sha2.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

#include "api/shared/api_http.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/sys/clock.h"
#include "base/sys/log.h"

#define COOKIE "turncast"
#define COOKIE_S ((int64_t)12 * 3600)
#define COOKIES_MAX 1000 /* above this number, the oldest cookie is removed */
#define TOKEN_BYTES 32
#define LOG_PER_MINUTE 10 /* logged failures per minute */

struct auth_digest {
    uint8_t bytes[SHA256_DIGEST_SIZE];
};

struct auth_key {
    struct auth_principal principal; /* name: borrowed from the configuration */
    struct auth_digest digest;
};

struct cookie {
    struct auth_digest token, key; /* digest of the key for which it was issued */
    int64_t until_ms;
};

struct auth {
    struct auth_key *keys;
    size_t n_keys;
    struct cookie cookies[COOKIES_MAX]; /* ring buffer */
    size_t n_cookies;                   /* number of issued cookies */
    int64_t minute_ms;
    unsigned logged, failures;
};

static const struct auth_principal local = {
    .name = "local", .grants = CONF_SUBMIT | CONF_CANCEL | CONF_WATCH | CONF_ANSWER};

static struct auth_digest auth_digest_text(const char *text, size_t len)
{
    struct sha256_ctx ctx;
    struct auth_digest d;
    sha256_init(&ctx);
    sha256_update(&ctx, len, (const uint8_t *)text);
    sha256_digest(&ctx, sizeof d.bytes, d.bytes);
    return d;
}

static bool auth_is_same(const struct auth_digest *a, const struct auth_digest *b)
{
    return memeql_sec(a->bytes, b->bytes, sizeof a->bytes);
}

/* Compares all keys, so that the time does not depend on which one matches. */
static const struct auth_key *find_key(const struct auth *a, const struct auth_digest *d)
{
    const struct auth_key *found = NULL;
    for (size_t i = 0; i < a->n_keys; i++)
        if (auth_is_same(&a->keys[i].digest, d))
            found = &a->keys[i];
    return found;
}

static struct cookie *find_cookie(struct auth *a, const struct auth_digest *token)
{
    struct cookie *found = NULL;
    for (size_t i = 0; i < COOKIES_MAX; i++)
        if (auth_is_same(&a->cookies[i].token, token) && a->cookies[i].until_ms > clock_mono_ms())
            found = &a->cookies[i];
    return found;
}

/* ---- the credential of a request: one or none ---- */

enum shown { SHOWN_NOTHING, SHOWN_KEY, SHOWN_COOKIE, SHOWN_TOO_MUCH };

static void auth_add_credential(enum shown *shown, enum shown what, struct str *text,
                                struct str value)
{
    *shown = *shown == SHOWN_NOTHING ? what : SHOWN_TOO_MUCH;
    *text = value;
}

/* Finds the value in "a=1; turncast=…; b=2". */
static struct str cookie_value(const char *header)
{
    static const char name[] = COOKIE "=";
    for (const char *p = header; *p; p += strcspn(p, ";"), p += *p == ';') {
        p += strspn(p, " \t");
        if (strncmp(p, name, sizeof name - 1) == 0)
            return (struct str){p + sizeof name - 1, strcspn(p + sizeof name - 1, "; \t")};
    }
    return (struct str){NULL, 0};
}

static enum shown auth_find_credentials(const struct httpd_request *r, struct str *text)
{
    enum shown shown = SHOWN_NOTHING;
    struct str cookie = {NULL, 0};
    for (size_t i = 0; i < r->header_count; i++) {
        const char *const name = r->headers[i].name, *const value = r->headers[i].value;
        if (strcasecmp(name, "X-API-Key") == 0)
            auth_add_credential(&shown, SHOWN_KEY, text, (struct str){value, strlen(value)});
        else if (strcasecmp(name, "Authorization") == 0 && strncasecmp(value, "Bearer ", 7) == 0)
            auth_add_credential(&shown, SHOWN_KEY, text,
                                (struct str){value + 7, strlen(value + 7)});
        else if (strcasecmp(name, "Authorization") == 0)
            auth_add_credential(&shown, SHOWN_TOO_MUCH, text, cookie);
        else if (strcasecmp(name, "Cookie") == 0 && cookie_value(value).p)
            cookie = cookie_value(value);
    }
    if (shown == SHOWN_NOTHING && cookie.p)
        auth_add_credential(&shown, SHOWN_COOKIE, text, cookie);
    return shown;
}

static const struct auth_principal *auth_find_named(const struct auth *a, const char *name)
{
    for (size_t i = 0; i < a->n_keys; i++)
        if (strcmp(a->keys[i].principal.name, name) == 0)
            return &a->keys[i].principal;
    return NULL;
}

static const struct auth_principal *find_principal(struct auth *a, const struct httpd_request *r)
{
    struct str text = {"", 0};
    const enum shown shown = auth_find_credentials(r, &text);
    if (!a->n_keys)
        return &local;
    if (r->key)
        return auth_find_named(a, r->key);
    if (shown != SHOWN_KEY && shown != SHOWN_COOKIE)
        return NULL;
    const struct auth_digest d = auth_digest_text(text.p, text.len);
    const struct cookie *const cookie = shown == SHOWN_COOKIE ? find_cookie(a, &d) : NULL;
    if (shown == SHOWN_COOKIE && !cookie)
        return NULL;
    const struct auth_key *const key = find_key(a, cookie ? &cookie->key : &d);
    return key ? &key->principal : NULL;
}

/* ---- authorisation ---- */

static void log_failure(struct auth *a, const struct httpd_request *r)
{
    const int64_t now = clock_mono_ms();
    a->failures++;
    if (now - a->minute_ms > 60000) {
        a->minute_ms = now;
        a->logged = 0;
    }
    if (a->logged++ < LOG_PER_MINUTE)
        log_write(LOG_WARN, "http",
                  "%s %s from %s rejected: missing or invalid API key (%u so far)", r->method,
                  r->path, r->peer, a->failures);
}

void auth_refuse_grant(struct httpd_request *r, const struct auth_principal *p, unsigned grant)
{
    CLEANUP_BUF struct buf why = {0};
    buf_printf(&why, "The API key \"%s\" lacks the grant \"%s\" (http.keys.%s.grants).", p->name,
               conf_grant_name(grant), p->name);
    api_http_error(r, 403, "not_granted", why.p);
}

const struct auth_principal *auth_require_grant(struct auth *a, struct httpd_request *r,
                                                unsigned grant)
{
    const struct auth_principal *const p = find_principal(a, r);
    if (!p) {
        log_failure(a, r);
        api_http_error(r, 401, "invalid_api_key",
                       "Missing or invalid API key; send \"Authorization: Bearer KEY\".");
        return NULL;
    }
    if ((p->grants & grant) != grant) {
        auth_refuse_grant(r, p, grant);
        return NULL;
    }
    return p;
}

uint64_t auth_get_key_version(const struct auth *a, const char *principal)
{
    uint64_t version = a->n_keys == 0;
    for (size_t i = 0; i < a->n_keys; i++)
        if (strcmp(a->keys[i].principal.name, principal) == 0) {
            memcpy(&version, a->keys[i].digest.bytes, sizeof version);
            version ^= a->keys[i].principal.grants;
        }
    return version;
}

/* ---- cookies ---- */

static void answer_cookie(struct httpd_request *r, const char *value, int64_t age_s)
{
    CLEANUP_BUF struct buf cookie = {0};
    buf_printf(&cookie, COOKIE "=%s; Path=/; Max-Age=%lld; HttpOnly; SameSite=Strict", value,
               (long long)age_s);
    const struct httpd_header header = {"Set-Cookie", cookie.p};
    httpd_answer_full(r,
                      &(struct httpd_answer){.status = 204, .headers = &header, .header_count = 1});
}

static void auth_create_cookie(struct auth *a, struct httpd_request *r,
                               const struct auth_digest *key)
{
    uint8_t random[TOKEN_BYTES];
    char token[2 * TOKEN_BYTES + 1];
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random) {
        api_http_error(r, 503, "no_random", "Cannot create a session at the moment; try again.");
        return;
    }
    for (size_t i = 0; i < sizeof random; i++)
        snprintf(token + 2 * i, 3, "%02x", random[i]);
    a->cookies[a->n_cookies++ % COOKIES_MAX] = (struct cookie){
        auth_digest_text(token, strlen(token)), *key, clock_mono_ms() + COOKIE_S * 1000};
    answer_cookie(r, token, COOKIE_S);
}

void auth_handle_login(struct auth *a, struct httpd_request *r)
{
    json_t *const body = api_http_parse_body(r);
    if (!body)
        return;
    bool bad = false;
    const char *const text = api_http_get_string(body, "key", &bad);
    const struct auth_digest d = auth_digest_text(text ? text : "", text ? strlen(text) : 0);
    const struct auth_key *const key = text ? find_key(a, &d) : NULL;
    json_decref(body);
    if (key) {
        auth_create_cookie(a, r, &d);
        return;
    }
    log_failure(a, r);
    api_http_error(r, 401, "invalid_api_key", "Invalid API key.");
}

void auth_handle_logout(struct auth *a, struct httpd_request *r)
{
    struct str text = {"", 0};
    if (auth_find_credentials(r, &text) == SHOWN_COOKIE) {
        const struct auth_digest d = auth_digest_text(text.p, text.len);
        struct cookie *const cookie = find_cookie(a, &d);
        if (cookie)
            *cookie = (struct cookie){0};
    }
    answer_cookie(r, "", 0);
}

/* ---- begin and end ---- */

void auth_set_keys(struct auth *a, const struct conf_http *http)
{
    struct auth_key *const keys = xcalloc(http->n_keys + 1, sizeof *keys);
    for (size_t i = 0; i < http->n_keys; i++) {
        const struct conf_http_key *const k = &http->keys[i];
        keys[i].principal = (struct auth_principal){k->name, k->grants, k->shares};
        keys[i].digest = auth_digest_text(k->secret, strlen(k->secret));
    }
    free(a->keys);
    a->keys = keys;
    a->n_keys = http->n_keys;
}

struct auth *auth_new(const struct conf_http *http)
{
    struct auth *const a = xcalloc(1, sizeof *a);
    auth_set_keys(a, http);
    return a;
}

void auth_free(struct auth *a)
{
    if (!a)
        return;
    free(a->keys);
    free(a);
}
