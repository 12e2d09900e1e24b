/* SPDX-License-Identifier: MIT
 * Implements chat_key.h with SHA-256. */
#include "chat/operation/chat_key.h"

#include <nettle/sha2.h>
#include <stdio.h>
#include <string.h>

#define KEY_BYTES 15 /* 24 characters of five bits */

static void write_base32(char *out, const uint8_t *bytes)
{
    static const char digits[] = "abcdefghijklmnopqrstuvwxyz234567";
    unsigned have = 0, bits = 0;
    for (size_t i = 0; i < KEY_BYTES; i++) {
        bits = bits << 8 | bytes[i];
        for (have += 8; have >= 5; have -= 5)
            *out++ = digits[bits >> (have - 5) & 31];
        bits &= 255;
    }
    *out = '\0';
}

/* Includes the NUL, so that "ab" and "c" differ from "a" and "bc". */
static void add_text(struct sha256_ctx *ctx, const char *text)
{
    sha256_update(ctx, strlen(text) + 1, (const uint8_t *)text);
}

void chat_key_write(char out[CHAT_KEY_LENGTH + 1], const char *instance, const char *turn,
                    const struct chat_record *r)
{
    struct sha256_ctx ctx;
    uint8_t digest[SHA256_DIGEST_SIZE];
    char numbers[32];
    snprintf(numbers, sizeof numbers, "%u.%u", r->part, r->generation);
    sha256_init(&ctx);
    add_text(&ctx, instance);
    add_text(&ctx, turn);
    add_text(&ctx, r->slot);
    add_text(&ctx, numbers);
    sha256_digest(&ctx, sizeof digest, digest);
    write_base32(out, digest);
}
