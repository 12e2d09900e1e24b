/* SPDX-License-Identifier: MIT
 * Keys and signatures of Standard Webhooks. */
#include "plugin/signature/webhook_keys.h"

#include <nettle/base64.h>
#include <nettle/eddsa.h>
#include <nettle/hmac.h>
#include <nettle/memops.h>
#include <string.h>

#define TEXT_MAX 128 /* limit of a key, without its prefix */
#define SHARED_MIN 24
#define SIGNATURES_MAX 16
#define SIGNATURE_MAX ((size_t)ED25519_SIGNATURE_SIZE)

static const char blanks[] = " \t\r\n";

/* Each kind of key has a prefix and a signature version. */
static const struct {
    const char *prefix, *version;
} kinds[] = {
    [WEBHOOK_SHARED] = {"whsec_", "v1,"},
    [WEBHOOK_PRIVATE] = {"whsk_", "v1a,"},
    [WEBHOOK_PUBLIC] = {"whpk_", "v1a,"},
};

/* ---- keys ---- */

/* The length of the decoded key, at most cap; 0: not Base64, or too long. */
static size_t webhook_key_decode(const char *text, size_t len, uint8_t *out, size_t cap)
{
    uint8_t raw[BASE64_DECODE_LENGTH(TEXT_MAX)];
    struct base64_decode_ctx ctx;
    size_t n = sizeof raw;
    base64_decode_init(&ctx);
    if (len > TEXT_MAX || !base64_decode_update(&ctx, &n, raw, len, text) ||
        !base64_decode_final(&ctx) || n > cap)
        n = 0;
    memcpy(out, raw, n);
    explicit_bzero(raw, sizeof raw);
    return n;
}

/* A private key is stored with its public key. A text with a different public key is damaged. */
static bool webhook_key_complete(struct webhook_key *key)
{
    uint8_t own[ED25519_KEY_SIZE];
    if (key->len != ED25519_KEY_SIZE && key->len != sizeof own + ED25519_KEY_SIZE)
        return false;
    ed25519_sha512_public_key(own, key->bytes);
    if (key->len == ED25519_KEY_SIZE)
        memcpy(key->bytes + ED25519_KEY_SIZE, own, sizeof own);
    key->len = ED25519_KEY_SIZE;
    return memcmp(key->bytes + ED25519_KEY_SIZE, own, sizeof own) == 0;
}

static bool webhook_key_is_valid(struct webhook_key *key)
{
    switch (key->kind) {
    case WEBHOOK_SHARED:
        return key->len >= SHARED_MIN;
    case WEBHOOK_PRIVATE:
        return webhook_key_complete(key);
    case WEBHOOK_PUBLIC:
        return key->len == ED25519_KEY_SIZE;
    }
    return false;
}

bool webhook_keys_add(struct webhook_keys *keys, struct str text)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && keys->count < WEBHOOK_KEYS; i++) {
        const size_t n = strlen(kinds[i].prefix);
        struct webhook_key *const key = &keys->key[keys->count];
        if (text.len <= n || memcmp(text.p, kinds[i].prefix, n) != 0)
            continue;
        *key = (struct webhook_key){.kind = (enum webhook_key_kind)i};
        key->len = webhook_key_decode(text.p + n, text.len - n, key->bytes, sizeof key->bytes);
        if (!webhook_key_is_valid(key))
            return false;
        keys->count++;
        return true;
    }
    return false;
}

size_t webhook_keys_read(struct webhook_keys *keys, const char *text)
{
    size_t number = 0, len;
    for (const char *at = text + strspn(text, blanks); *at; at += len, at += strspn(at, blanks)) {
        len = strcspn(at, blanks);
        number++;
        if (!webhook_keys_add(keys, (struct str){at, len}))
            return number;
    }
    return 0;
}

bool webhook_keys_can_sign(const struct webhook_keys *keys)
{
    for (size_t i = 0; i < keys->count; i++)
        if (keys->key[i].kind == WEBHOOK_PUBLIC)
            return false;
    return keys->count > 0;
}

void webhook_keys_fini(struct webhook_keys *keys)
{
    explicit_bzero(keys, sizeof *keys);
}

/* ---- signatures ---- */

static void webhook_message_write(const struct webhook_message *m, struct buf *out)
{
    buf_printf(out, "%s.%s.", m->id, m->timestamp);
    buf_add(out, m->body, m->len);
}

/* The signature by a key that is not public; its length. */
static size_t webhook_key_sign(const struct webhook_key *key, const struct buf *signed_,
                               uint8_t out[SIGNATURE_MAX])
{
    const uint8_t *const data = (const uint8_t *)signed_->p;
    struct hmac_sha256_ctx ctx;
    if (key->kind == WEBHOOK_PRIVATE) {
        ed25519_sha512_sign(key->bytes + ED25519_KEY_SIZE, key->bytes, signed_->len, data, out);
        return ED25519_SIGNATURE_SIZE;
    }
    hmac_sha256_set_key(&ctx, key->len, key->bytes);
    hmac_sha256_update(&ctx, signed_->len, data);
    hmac_sha256_digest(&ctx, SHA256_DIGEST_SIZE, out);
    explicit_bzero(&ctx, sizeof ctx);
    return SHA256_DIGEST_SIZE;
}

void webhook_keys_sign(const struct webhook_keys *keys, const struct webhook_message *message,
                       struct buf *out)
{
    CLEANUP_BUF struct buf signed_ = {0};
    webhook_message_write(message, &signed_);
    for (size_t i = 0; i < keys->count; i++) {
        uint8_t raw[SIGNATURE_MAX];
        const size_t len = webhook_key_sign(&keys->key[i], &signed_, raw);
        buf_printf(out, "%s%s", i ? " " : "", kinds[keys->key[i].kind].version);
        char *const text = buf_reserve(out, BASE64_ENCODE_RAW_LENGTH(len));
        base64_encode_raw(text, len, raw);
        out->len += BASE64_ENCODE_RAW_LENGTH(len);
        out->p[out->len] = '\0';
    }
}

/* Whether one of the signatures is by this key. Skips those of other versions. */
static bool webhook_key_verify(const struct webhook_key *key, const struct buf *signed_,
                               const char *signatures)
{
    const char *const version = kinds[key->kind].version;
    const size_t skip = strlen(version);
    const bool shared = key->kind == WEBHOOK_SHARED;
    const uint8_t *const public_key =
        key->bytes + (key->kind == WEBHOOK_PRIVATE ? ED25519_KEY_SIZE : 0);
    uint8_t expected[SIGNATURE_MAX], given[SIGNATURE_MAX];
    const size_t wanted =
        shared ? webhook_key_sign(key, signed_, expected) : ED25519_SIGNATURE_SIZE;
    const char *at = signatures;
    size_t len;
    for (unsigned n = 0; *at && n < SIGNATURES_MAX; n++, at += len, at += strspn(at, " ")) {
        len = strcspn(at, " ");
        if (len <= skip || strncmp(at, version, skip) != 0 ||
            webhook_key_decode(at + skip, len - skip, given, sizeof given) != wanted)
            continue;
        if (shared ? memeql_sec(expected, given, wanted)
                   : ed25519_sha512_verify(public_key, signed_->len, (const uint8_t *)signed_->p,
                                           given))
            return true;
    }
    return false;
}

bool webhook_keys_verify(const struct webhook_keys *keys, const struct webhook_message *message,
                         const char *signatures)
{
    CLEANUP_BUF struct buf signed_ = {0};
    webhook_message_write(message, &signed_);
    for (size_t i = 0; i < keys->count; i++)
        if (webhook_key_verify(&keys->key[i], &signed_, signatures))
            return true;
    return false;
}
