/* SPDX-License-Identifier: MIT
 * Keys and signatures of Standard Webhooks 1.0: version v1 is HMAC-SHA-256 with a shared key, v1a
 * is Ed25519. Used by tc_webhook_keys, tc_webhook_sign and tc_webhook_check, which the connector
 * webhook uses. Pure; neither keys nor signatures are logged. */
#ifndef PLUGIN_SIGNATURE_WEBHOOK_KEYS_H
#define PLUGIN_SIGNATURE_WEBHOOK_KEYS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes/buf.h"

#define WEBHOOK_KEYS 8       /* limit of keys in one direction */
#define WEBHOOK_KEY_BYTES 64 /* size of the longest */

enum webhook_key_kind {
    WEBHOOK_SHARED,  /* whsec_: 24 to 64 bytes */
    WEBHOOK_PRIVATE, /* whsk_: 32 bytes, or 64 with the public key behind them */
    WEBHOOK_PUBLIC,  /* whpk_: 32 bytes; cannot sign */
};

struct webhook_key {
    enum webhook_key_kind kind;
    size_t len;
    uint8_t bytes[WEBHOOK_KEY_BYTES];
};

struct webhook_keys {
    size_t count;
    struct webhook_key key[WEBHOOK_KEYS];
};

/* Signed content: id.timestamp.body */
struct webhook_message {
    const char *id, *timestamp, *body;
    size_t len; /* length of body */
};

/* Adds a Base64 key with its prefix. False: invalid, or too many. */
bool webhook_keys_add(struct webhook_keys *keys, struct str text);
/* Adds the keys in a text, separated by white space. 0, or the index of the first invalid one, from
 * 1. */
size_t webhook_keys_read(struct webhook_keys *keys, const char *text);
/* Whether there are keys and all of them can sign. */
bool webhook_keys_can_sign(const struct webhook_keys *keys);
/* Appends the value of the header webhook-signature: a signature by each key. */
void webhook_keys_sign(const struct webhook_keys *keys, const struct webhook_message *message,
                       struct buf *out);
/* Whether one of the first 16 signatures in that header is by one of the keys. A key matches only
 * signatures of its version. */
bool webhook_keys_verify(const struct webhook_keys *keys, const struct webhook_message *message,
                         const char *signatures);
/* Overwrites the keys. */
void webhook_keys_fini(struct webhook_keys *keys);

#endif
