/* SPDX-License-Identifier: MIT
 * JSON Web Tokens: their parts, their signature, their claims. */
#include "plugin/signature/jwt.h"

#include <nettle/base64.h>
#include <nettle/rsa.h>
#include <nettle/sha2.h>
#include <string.h>
#include <strings.h>

#include "event/json/json_reader.h"

#define TOKEN_MAX ((size_t)16 << 10)
#define MODULUS_MIN ((size_t)256) /* bytes: 2048 bits */
#define MODULUS_MAX ((size_t)1024)
#define EXPONENT_MAX ((size_t)8)
#define LEEWAY_S 300 /* permitted difference between the clocks */

/* ---- decoding ---- */

/* p NULL: not base64url. nettle skips white space, which is invalid in a token. */
static struct str jwt_decode(struct arena *arena, struct str text)
{
    struct base64_decode_ctx ctx;
    size_t len = BASE64_DECODE_LENGTH(text.len);
    uint8_t *const out = arena_alloc(arena, len + 1);
    for (size_t i = 0; i < text.len; i++)
        if (strchr(" \t\r\n=", text.p[i]))
            return (struct str){NULL, 0};
    base64url_decode_init(&ctx);
    if (!base64_decode_update(&ctx, &len, out, text.len, text.p))
        return (struct str){NULL, 0};
    return (struct str){(const char *)out, len};
}

static struct str jwt_decode_json(struct arena *arena, struct str text)
{
    const struct str json = jwt_decode(arena, text);
    return json.p && json_reader_is_valid(json) ? json : (struct str){NULL, 0};
}

/* A string member of valid JSON, or NULL. */
static const char *jwt_member_text(struct arena *arena, struct str json, const char *pointer)
{
    const struct str value = json.p ? json_reader_pointer(json, pointer) : json;
    struct json j;
    struct str raw;
    json_init(&j, value.p, value.len);
    return value.p && json_reader_read_string(&j, &raw) ? json_reader_unescape(arena, raw, NULL)
                                                        : NULL;
}

static bool jwt_member_is(struct arena *arena, struct str json, const char *pointer,
                          const char *wanted)
{
    const char *const text = jwt_member_text(arena, json, pointer);
    return text && strcmp(text, wanted) == 0;
}

/* Cuts off the part before the first dot; p NULL: none. */
static struct str jwt_split_part(struct str *rest)
{
    const char *const dot = memchr(rest->p, '.', rest->len);
    const struct str part = {dot ? rest->p : NULL, dot ? (size_t)(dot - rest->p) : 0};
    if (dot)
        *rest = (struct str){dot + 1, rest->len - part.len - 1};
    return part;
}

const char *jwt_read(struct jwt *token, struct arena *arena, const char *authorization)
{
    static const char scheme[] = "Bearer ";
    *token = (struct jwt){0};
    if (!authorization || strncasecmp(authorization, scheme, strlen(scheme)) != 0)
        return "it has none";
    struct str rest = {authorization + strlen(scheme), strlen(authorization) - strlen(scheme)};
    if (rest.len > TOKEN_MAX)
        return "it is too long";
    token->header = jwt_split_part(&rest);
    token->claims = token->header.p ? jwt_split_part(&rest) : (struct str){NULL, 0};
    token->signature = rest;
    if (!token->claims.p)
        return "it has none";
    const struct str header = jwt_decode_json(arena, token->header);
    if (!jwt_member_is(arena, header, "/alg", "RS256"))
        return "its algorithm is not RS256";
    token->key = jwt_member_text(arena, header, "/kid");
    return token->key ? NULL : "it names no key";
}

/* ---- keys ---- */

struct str jwt_find_key(struct str keys, const char *id)
{
    struct json j;
    struct str key = {NULL, 0};
    struct arena arena = {0};
    bool found = false;
    if (json_reader_open_array(&j, json_reader_pointer(keys, "/keys")))
        while (!found && json_reader_next_value(&j, &key))
            found = jwt_member_is(&arena, key, "/kid", id);
    arena_fini(&arena);
    return found ? key : (struct str){NULL, 0};
}

size_t jwt_count_keys(struct str keys)
{
    struct json j;
    struct str key;
    size_t count = 0;
    if (json_reader_open_array(&j, json_reader_pointer(keys, "/keys")))
        while (json_reader_next_value(&j, &key))
            count++;
    return count;
}

/* ---- signature ---- */

/* A member of a key as a number. */
static bool jwt_read_number(struct arena *arena, mpz_t out, struct str key, const char *pointer,
                            size_t least, size_t most)
{
    const char *const text = jwt_member_text(arena, key, pointer);
    const struct str raw =
        text ? jwt_decode(arena, (struct str){text, strlen(text)}) : (struct str){NULL, 0};
    if (!raw.p || raw.len < least || raw.len > most)
        return false;
    nettle_mpz_set_str_256_u(out, raw.len, (const uint8_t *)raw.p);
    return true;
}

static bool jwt_is_signed(const struct jwt *token, struct str key, struct arena *arena)
{
    const struct str raw = jwt_decode(arena, token->signature);
    struct rsa_public_key rsa;
    struct sha256_ctx hash;
    mpz_t signature;
    rsa_public_key_init(&rsa);
    mpz_init(signature);
    sha256_init(&hash);
    sha256_update(&hash, token->header.len + 1 + token->claims.len,
                  (const uint8_t *)token->header.p);
    bool good = raw.p && jwt_read_number(arena, rsa.n, key, "/n", MODULUS_MIN, MODULUS_MAX) &&
                jwt_read_number(arena, rsa.e, key, "/e", 1, EXPONENT_MAX) &&
                rsa_public_key_prepare(&rsa) && raw.len == rsa.size;
    if (good)
        nettle_mpz_set_str_256_u(signature, raw.len, (const uint8_t *)raw.p);
    good = good && rsa_sha256_verify(&rsa, &hash, signature);
    mpz_clear(signature);
    rsa_public_key_clear(&rsa);
    return good;
}

/* ---- claims ---- */

/* An integer member; false: absent, or another type. */
static bool jwt_read_time(struct str json, const char *pointer, int64_t *out)
{
    const struct str value = json_reader_pointer(json, pointer);
    struct json j;
    json_init(&j, value.p, value.len);
    return value.p && json_reader_read_int(&j, out);
}

static const char *jwt_find_fault(struct arena *arena, struct str claims,
                                  const struct jwt_rules *rules)
{
    int64_t at;
    if (!jwt_member_is(arena, claims, "/iss", rules->issuer))
        return "it is of another issuer (iss)";
    if (!jwt_member_is(arena, claims, "/aud", rules->audience))
        return arena_sprintf(arena, "it is meant for another audience than %s (aud)",
                             rules->audience);
    if (!jwt_read_time(claims, "/exp", &at) || at < rules->now_s - LEEWAY_S)
        return "it has expired (exp)";
    if (json_reader_pointer(claims, "/nbf").p &&
        (!jwt_read_time(claims, "/nbf", &at) || at > rules->now_s + LEEWAY_S))
        return "it is not valid yet (nbf)";
    return NULL;
}

const char *jwt_check(const struct jwt *token, struct str key, const struct jwt_rules *rules,
                      struct arena *arena, const char **claims)
{
    if (!jwt_is_signed(token, key, arena))
        return "its signature is wrong";
    const struct str json = jwt_decode_json(arena, token->claims);
    if (!json.p)
        return "its signature is wrong";
    const char *const fault = jwt_find_fault(arena, json, rules);
    if (!fault)
        *claims = arena_strndup(arena, json.p, json.len);
    return fault;
}
