/* SPDX-License-Identifier: MIT
 * JSON Web Tokens with which the service signs its requests (RFC 7519): RS256 only. What is not
 * exactly as expected is refused. */
#include <nettle/base64.h>
#include <nettle/rsa.h>
#include <nettle/sha2.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "teams.h"

#define TOKEN_MAX ((size_t)16 << 10)
#define MODULUS_MIN ((size_t)256) /* bytes: 2048 bits */
#define MODULUS_MAX ((size_t)1024)
#define EXPONENT_MAX ((size_t)8)
#define LEEWAY_S 300
#define ISSUER "https://api.botframework.com"

/* The three parts of a token. */
struct teams_jwt {
    const char *header, *claims, *signature;
    size_t header_len, claims_len, signature_len;
};

/* ---- decoding ---- */

/* To be released; *len: of it. NULL: not base64url, or no memory. */
static uint8_t *jwt_decode(const char *text, size_t text_len, size_t *len)
{
    struct base64_decode_ctx ctx;
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    uint8_t *const out = text && strspn(text, digits) >= text_len
                             ? malloc(BASE64_DECODE_LENGTH(text_len) + 1)
                             : NULL;
    *len = BASE64_DECODE_LENGTH(text_len);
    base64url_decode_init(&ctx);
    if (out && !base64_decode_update(&ctx, len, out, text_len, text))
        *len = 0;
    return out;
}

static json_t *jwt_decode_json(const char *text, size_t text_len)
{
    size_t len;
    uint8_t *const raw = jwt_decode(text, text_len, &len);
    json_t *const json =
        raw ? json_loadb((const char *)raw, len, JSON_REJECT_DUPLICATES, NULL) : NULL;
    free(raw);
    return json;
}

static bool jwt_split(const char *authorization, struct teams_jwt *t)
{
    static const char scheme[] = "Bearer ";
    if (!authorization || strncasecmp(authorization, scheme, strlen(scheme)) != 0 ||
        strlen(authorization) > TOKEN_MAX)
        return false;
    t->header = authorization + strlen(scheme);
    t->header_len = strcspn(t->header, ".");
    if (t->header[t->header_len] != '.')
        return false;
    t->claims = t->header + t->header_len + 1;
    t->claims_len = strcspn(t->claims, ".");
    if (t->claims[t->claims_len] != '.')
        return false;
    t->signature = t->claims + t->claims_len + 1;
    t->signature_len = strlen(t->signature);
    return true;
}

/* ---- signature ---- */

/* A member of a key as a number. */
static bool jwt_read_number(mpz_t out, const json_t *key, const char *member, size_t least,
                            size_t most)
{
    size_t len;
    const char *const text = teams_text(key, member);
    uint8_t *const raw = text ? jwt_decode(text, strlen(text), &len) : NULL;
    const bool fits = raw && len >= least && len <= most;
    if (fits)
        nettle_mpz_set_str_256_u(out, len, raw);
    free(raw);
    return fits;
}

static bool jwt_is_signed(const struct teams_jwt *t, const json_t *key)
{
    struct rsa_public_key rsa;
    struct sha256_ctx hash;
    mpz_t signature;
    size_t len;
    uint8_t *const raw = jwt_decode(t->signature, t->signature_len, &len);
    rsa_public_key_init(&rsa);
    mpz_init(signature);
    sha256_init(&hash);
    sha256_update(&hash, t->header_len + 1 + t->claims_len, (const uint8_t *)t->header);
    bool good = raw && jwt_read_number(rsa.n, key, "n", MODULUS_MIN, MODULUS_MAX) &&
                jwt_read_number(rsa.e, key, "e", 1, EXPONENT_MAX) && rsa_public_key_prepare(&rsa) &&
                len == rsa.size;
    if (good)
        nettle_mpz_set_str_256_u(signature, len, raw);
    good = good && rsa_sha256_verify(&rsa, &hash, signature);
    mpz_clear(signature);
    rsa_public_key_clear(&rsa);
    free(raw);
    return good;
}

/* ---- claims ---- */

static bool jwt_is(const json_t *object, const char *member, const char *value)
{
    const char *const text = teams_text(object, member);
    return text && strcmp(text, value) == 0;
}

/* What is wrong with the claims, or NULL. */
static const char *jwt_find_fault(const struct tc_turn *lobby, const json_t *claims)
{
    const json_int_t now = (json_int_t)time(NULL);
    const json_t *const exp = json_object_get(claims, "exp"), *const nbf =
                                                                  json_object_get(claims, "nbf");
    if (!jwt_is(claims, "iss", ISSUER))
        return "it is of another issuer (iss)";
    if (!jwt_is(claims, "aud", teams_conf(lobby)->app_id))
        return "it is meant for another bot (aud is not app_id)";
    if (!json_is_integer(exp) || json_integer_value(exp) < now - LEEWAY_S)
        return "it has expired (exp)";
    if (nbf && (!json_is_integer(nbf) || json_integer_value(nbf) > now + LEEWAY_S))
        return "it is not valid yet (nbf)";
    return NULL;
}

static const json_t *jwt_find_key(struct tc_turn *lobby, const json_t *header, const char **why)
{
    bool later = false;
    const char *const kid = teams_text(header, "kid");
    *why = "its algorithm is not RS256";
    if (!jwt_is(header, "alg", "RS256"))
        return NULL;
    *why = "it names no key";
    const json_t *const key = kid ? teams_keys_find(lobby, kid, &later) : NULL;
    if (kid && !key)
        *why = later ? NULL : "its key is not known";
    return key;
}

json_t *teams_jwt_read(struct tc_turn *lobby, const char *authorization, const json_t **key,
                       const char **why)
{
    struct teams_jwt t;
    *why = "it has none";
    if (!jwt_split(authorization, &t))
        return NULL;
    json_t *const header = jwt_decode_json(t.header, t.header_len);
    *key = jwt_find_key(lobby, header, why);
    json_decref(header);
    if (!*key)
        return NULL;
    *why = "its signature is wrong";
    json_t *const claims = jwt_is_signed(&t, *key) ? jwt_decode_json(t.claims, t.claims_len) : NULL;
    *why = claims ? jwt_find_fault(lobby, claims) : *why;
    if (!*why)
        return claims;
    json_decref(claims);
    return NULL;
}
