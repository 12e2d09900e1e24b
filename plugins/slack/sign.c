/* SPDX-License-Identifier: MIT
 * Slack's signature of a request over HTTP. */
#include "sign.h"

#include <stdlib.h>
#include <string.h>

#define DIGITS_MAX 12
#define SIGN_VERSION "v0"

static bool sign_is_recent(const char *timestamp, int64_t now)
{
    const size_t digits = strspn(timestamp, "0123456789");
    if (digits == 0 || digits > DIGITS_MAX || timestamp[digits])
        return false;
    const int64_t age = now - strtoll(timestamp, NULL, 10);
    return age <= SIGN_WINDOW_S && age >= -SIGN_WINDOW_S;
}

/* What Slack signs, "v0:TIME:BODY"; the caller frees it. The body may contain NUL. */
static char *sign_message(const char *timestamp, const char *body, size_t len, size_t *total)
{
    const size_t prefix = strlen(SIGN_VERSION ":") + strlen(timestamp) + 1;
    char *const message = malloc(prefix + len + 1);
    if (!message)
        return NULL;
    strcat(strcat(strcpy(message, SIGN_VERSION ":"), timestamp), ":");
    memcpy(message + prefix, body, len);
    *total = prefix + len;
    return message;
}

bool sign_check(struct tc_turn *lobby, const char *secret, const struct sign_request *r,
                int64_t now)
{
    size_t len;
    if (!r->timestamp || !r->signature || !sign_is_recent(r->timestamp, now))
        return false;
    char *const message = sign_message(r->timestamp, r->body, r->len, &len);
    const char *const digest =
        message ? tc_hmac_sha256(lobby, secret, strlen(secret), message, len) : NULL;
    free(message);
    return digest && tc_same(lobby, r->signature, tc_sprint(lobby, SIGN_VERSION "=%s", digest));
}
