/* SPDX-License-Identifier: MIT
 * Signatures of services: HMAC-SHA-256, Ed25519, comparison in constant time. Neither keys nor
 * signatures are logged. */
#include <nettle/eddsa.h>
#include <nettle/hmac.h>
#include <nettle/memops.h>

#include <string.h>

#include "base/bytes/buf.h"
#include "base/versioned.h"
#include "plugin/instance/services_internal.h"

#define HEX_SIZE(bytes) (2 * (bytes) + 1)

static char *hex_text(struct arena *arena, const uint8_t *bytes, size_t n)
{
    static const char digits[] = "0123456789abcdef";
    char *const hex = arena_alloc(arena, HEX_SIZE(n));
    for (size_t i = 0; i < n; i++) {
        hex[2 * i] = digits[bytes[i] >> 4];
        hex[2 * i + 1] = digits[bytes[i] & 15];
    }
    hex[2 * n] = '\0';
    return hex;
}

char *service_hmac_sha256(struct tc_turn *turn, const char *key, size_t key_len, const char *data,
                          size_t len)
{
    struct arena *const arena =
        services_get_scratch(turn, HEX_SIZE(SHA256_DIGEST_SIZE), "tc_hmac_sha256");
    if (!arena)
        return NULL;
    if ((!key && key_len) || (!data && len)) {
        services_refuse(instance_check(turn->inst), "tc_hmac_sha256",
                        "the key or the data is NULL");
        return NULL;
    }
    struct hmac_sha256_ctx hmac;
    uint8_t digest[SHA256_DIGEST_SIZE];
    hmac_sha256_set_key(&hmac, key_len, (const uint8_t *)(key ? key : ""));
    hmac_sha256_update(&hmac, len, (const uint8_t *)(data ? data : ""));
    hmac_sha256_digest(&hmac, sizeof digest, digest);
    explicit_bzero(&hmac, sizeof hmac);
    return hex_text(arena, digest, sizeof digest);
}

bool service_same(struct tc_turn *turn, const char *a, const char *b)
{
    (void)turn;
    return a && b && strlen(a) == strlen(b) && memeql_sec(a, b, strlen(a));
}

static int hex_value(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* Whether the text has exactly that many bytes. */
static bool read_hex(uint8_t *out, size_t n, const char *text)
{
    if (!text || strlen(text) != 2 * n)
        return false;
    for (size_t i = 0; i < n; i++) {
        const int high = hex_value(text[2 * i]), low = hex_value(text[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        out[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

/* The key is from the configuration; an invalid signature is not logged, because anybody may send
 * one. */
bool service_ed25519_verify(struct tc_turn *turn, const char *public_key, const char *signature,
                            const char *data, size_t len)
{
    uint8_t key[ED25519_KEY_SIZE], sign[ED25519_SIGNATURE_SIZE];
    if (!services_get_scratch(turn, 0, "tc_ed25519_verify"))
        return false;
    if (!read_hex(key, sizeof key, public_key)) {
        services_refuse(instance_check(turn->inst), "tc_ed25519_verify",
                        "the public key must have 64 hexadecimal digits");
        return false;
    }
    return read_hex(sign, sizeof sign, signature) && (data || !len) &&
           ed25519_sha512_verify(key, len, (const uint8_t *)(data ? data : ""), sign);
}

char *service_ed25519_sign(struct tc_turn *turn, const char *private_key, const char *data,
                           size_t len)
{
    uint8_t key[ED25519_KEY_SIZE], public_key[ED25519_KEY_SIZE], sign[ED25519_SIGNATURE_SIZE];
    const uint8_t *const bytes = (const uint8_t *)(data ? data : "");
    struct arena *const arena =
        services_get_scratch(turn, HEX_SIZE(sizeof sign), "tc_ed25519_sign");
    if (!arena)
        return NULL;
    if (!read_hex(key, sizeof key, private_key) || (!data && len)) {
        services_refuse(instance_check(turn->inst), "tc_ed25519_sign",
                        "the private key must have 64 hexadecimal digits, and data must be given");
        return NULL;
    }
    ed25519_sha512_public_key(public_key, key);
    ed25519_sha512_sign(public_key, key, len, bytes, sign);
    explicit_bzero(key, sizeof key);
    return hex_text(arena, sign, sizeof sign);
}

/* ---- signed requests ---- */

#define SIGNED_WINDOW_S 300 /* an older request is one that somebody repeats */

static bool is_right_signature(struct tc_turn *turn, const struct tc_signature *s, const char *key,
                               const char *given, const struct buf *text)
{
    const size_t prefix = s->prefix ? strlen(s->prefix) : 0;
    if (prefix && strncmp(given, s->prefix, prefix) != 0)
        return false;
    if (s->ed25519)
        return service_ed25519_verify(turn, key, given + prefix, text->p, text->len);
    const char *const right = service_hmac_sha256(turn, key, strlen(key), text->p, text->len);
    return right && service_same(turn, right, given + prefix);
}

bool service_is_signed(struct tc_turn *turn, const struct tc_hit *hit,
                       const struct tc_signature *signature)
{
    struct instance_turn *const t = instance_check_turn(turn, "tc_is_signed");
    struct tc_signature s;
    versioned_copy(&s, sizeof s, signature);
    const char *const key = t && s.key ? instance_chat_read_option(t->in, s.key) : NULL;
    if (!key || !hit || !s.time || !s.value)
        return false;
    const char *const time = service_header_value(hit->headers, hit->header_count, s.time);
    const char *const given = service_header_value(hit->headers, hit->header_count, s.value);
    if (!given || !service_is_recent(turn, time, SIGNED_WINDOW_S))
        return false;
    CLEANUP_BUF struct buf text = {0};
    buf_printf(&text, "%s%s%s", s.before ? s.before : "", time, s.between ? s.between : "");
    buf_add(&text, hit->body, hit->body_len);
    return is_right_signature(turn, &s, key, given, &text);
}
