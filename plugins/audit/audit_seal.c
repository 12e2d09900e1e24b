/* SPDX-License-Identifier: MIT
 * Writes and reads the end of an audit record. */
#include "audit_seal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <nettle/sha2.h>

static const char hash_key[] = ",\"hash\":\"";
#define HASH_LEN (sizeof hash_key - 1 + 64 + 2) /* with the quote and brace behind it */

static void hash_hex(const char *p, size_t n, char hex[65])
{
    struct sha256_ctx ctx;
    uint8_t digest[SHA256_DIGEST_SIZE];
    sha256_init(&ctx);
    sha256_update(&ctx, n, (const uint8_t *)p);
    sha256_digest(&ctx, sizeof digest, digest);
    for (size_t i = 0; i < sizeof digest; i++)
        snprintf(hex + 2 * i, 3, "%02x", digest[i]);
}

void seal_add(struct out *rec, uint64_t seq, const char *prev, char head[65])
{
    char own[65];
    out_printf(rec, ",\"seq\":%" PRIu64 ",\"prev\":", seq);
    out_string(rec, *prev ? prev : NULL);
    if (rec->failed)
        return;
    hash_hex(rec->p, rec->len, own);
    out_printf(rec, "%s%s\"}", hash_key, own);
    if (rec->failed)
        return;
    hash_hex(rec->p, rec->len, head);
    out_add(rec, "\n", 1);
}

int seal_read(const char *line, size_t len, uint64_t *seq, char head[65])
{
    static const char seq_key[] = ",\"seq\":";
    char own[65];
    if (len < HASH_LEN || memcmp(line + len - HASH_LEN, hash_key, sizeof hash_key - 1) != 0)
        return -1;
    const size_t covered = len - HASH_LEN;
    hash_hex(line, covered, own);
    if (memcmp(own, line + covered + sizeof hash_key - 1, 64) != 0)
        return -1;
    /* The last one belongs to the record: one of the event is inside of its braces, further
     * left. */
    const char *at = line + covered;
    do {
        at = memrchr(line, ',', (size_t)(at - line));
        if (!at)
            return -1;
    } while (strncmp(at, seq_key, sizeof seq_key - 1) != 0);
    *seq = strtoull(at + sizeof seq_key - 1, NULL, 10);
    hash_hex(line, len, head);
    return 0;
}
