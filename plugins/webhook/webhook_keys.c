/* SPDX-License-Identifier: MIT
 * Keys and signatures of Standard Webhooks: version v1, HMAC-SHA-256. */
#include <stdio.h>
#include <string.h>

#include <nettle/base64.h>
#include <nettle/hmac.h>

#include "webhook.h"

#define PREFIX "whsec_"
#define KEY_MIN 24   /* bytes */
#define TEXT_MAX 128 /* of one key, with its prefix */
#define SIGNATURES_MAX 16

static bool key_decode(const char *text, struct webhook_key *key)
{
    uint8_t raw[BASE64_DECODE_LENGTH(TEXT_MAX)];
    struct base64_decode_ctx ctx;
    size_t len = sizeof raw;
    base64_decode_init(&ctx);
    if (strncmp(text, PREFIX, strlen(PREFIX)) != 0 ||
        !base64_decode_update(&ctx, &len, raw, strlen(text + strlen(PREFIX)),
                              text + strlen(PREFIX)) ||
        !base64_decode_final(&ctx) || len < KEY_MIN || len > WEBHOOK_KEY_BYTES)
        return false;
    key->len = len;
    memcpy(key->bytes, raw, len);
    return true;
}

int webhook_keys_read(struct tc_instance *inst, const char *option, const char *text,
                      struct webhook_keys *keys)
{
    static const char blank[] = " \t\r\n";
    for (const char *at = text + strspn(text, blank); *at; at += strspn(at, blank)) {
        char one[TEXT_MAX + 1] = "", name[64];
        const size_t len = strcspn(at, blank);
        if (len < sizeof one)
            memcpy(one, at, len);
        if (keys->count == WEBHOOK_KEYS || !key_decode(one, &keys->key[keys->count])) {
            tc_log(inst, TC_ERR,
                   "option %s: key %zu is not valid; expected at most 8 keys, each " PREFIX
                   " and 24 to 64 bytes in Base64",
                   option, keys->count + 1);
            return -1;
        }
        snprintf(name, sizeof name, "%s.%zu", option, ++keys->count);
        if (len < strlen(text) && tc_secret(inst, name, one) < 0)
            return -1;
        at += len;
    }
    return 0;
}

static const char *key_sign(struct tc_turn *turn, const struct webhook_key *key,
                            const struct webhook_message *m)
{
    struct hmac_sha256_ctx ctx;
    uint8_t digest[SHA256_DIGEST_SIZE];
    char text[BASE64_ENCODE_RAW_LENGTH(SHA256_DIGEST_SIZE) + 1] = "";
    hmac_sha256_set_key(&ctx, key->len, key->bytes);
    hmac_sha256_update(&ctx, strlen(m->id), (const uint8_t *)m->id);
    hmac_sha256_update(&ctx, 1, (const uint8_t *)".");
    hmac_sha256_update(&ctx, strlen(m->timestamp), (const uint8_t *)m->timestamp);
    hmac_sha256_update(&ctx, 1, (const uint8_t *)".");
    hmac_sha256_update(&ctx, m->len, (const uint8_t *)m->body);
    hmac_sha256_digest(&ctx, sizeof digest, digest);
    base64_encode_raw(text, sizeof digest, digest);
    return tc_sprint(turn, "v1,%s", text);
}

const char *webhook_keys_sign(struct tc_turn *turn, const struct webhook_keys *keys,
                              const struct webhook_message *message)
{
    const char *all = "";
    for (size_t i = 0; i < keys->count && all; i++) {
        const char *const one = key_sign(turn, &keys->key[i], message);
        all = one ? tc_sprint(turn, "%s%s%s", all, *all ? " " : "", one) : NULL;
    }
    return all;
}

bool webhook_keys_verify(struct tc_turn *turn, const struct webhook_keys *keys,
                         const struct webhook_message *message, const char *signatures)
{
    for (size_t i = 0; i < keys->count; i++) {
        const char *const expected = key_sign(turn, &keys->key[i], message), *at = signatures;
        for (unsigned n = 0; *at && n < SIGNATURES_MAX; n++) {
            const size_t len = strcspn(at, " ");
            if (tc_same(turn, tc_sprint(turn, "%.*s", (int)len, at), expected))
                return true;
            at += len;
            at += strspn(at, " ");
        }
    }
    return false;
}
