/* SPDX-License-Identifier: MIT
 * Slack's signature of a request over HTTP. Pure. */
#include <nettle/hmac.h>
#include <nettle/memops.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sign.h"

#define DIGITS_MAX 12

static bool sign_is_recent(const char *timestamp, int64_t now)
{
    const size_t digits = strspn(timestamp, "0123456789");
    if (digits == 0 || digits > DIGITS_MAX || timestamp[digits])
        return false;
    const int64_t age = now - strtoll(timestamp, NULL, 10);
    return age <= SIGN_WINDOW_S && age >= -SIGN_WINDOW_S;
}

bool sign_check(const char *secret, const char *timestamp, const char *signature, const char *body,
                size_t len, int64_t now)
{
    struct hmac_sha256_ctx hmac;
    uint8_t digest[SHA256_DIGEST_SIZE];
    char wanted[3 + 2 * SHA256_DIGEST_SIZE + 1] = "v0=";
    if (!timestamp || !signature || !sign_is_recent(timestamp, now))
        return false;
    hmac_sha256_set_key(&hmac, strlen(secret), (const uint8_t *)secret);
    hmac_sha256_update(&hmac, 3, (const uint8_t *)"v0:");
    hmac_sha256_update(&hmac, strlen(timestamp), (const uint8_t *)timestamp);
    hmac_sha256_update(&hmac, 1, (const uint8_t *)":");
    hmac_sha256_update(&hmac, len, (const uint8_t *)body);
    hmac_sha256_digest(&hmac, sizeof digest, digest);
    for (size_t i = 0; i < sizeof digest; i++)
        snprintf(wanted + 3 + 2 * i, 3, "%02x", digest[i]);
    return strlen(signature) == sizeof wanted - 1 &&
           memeql_sec(signature, wanted, sizeof wanted - 1);
}
