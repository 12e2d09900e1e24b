/* SPDX-License-Identifier: MIT
 * Cache of recent requests by fingerprint, so that a retry of a client gets the same turn. Pure
 * except for the clock. */
#ifndef API_SHARED_CHAT_DEDUP_H
#define API_SHARED_CHAT_DEDUP_H

#include <stdint.h>

#include "base/str.h"

struct chat_dedup;

/* Fingerprint by which a repeated request is recognised. */
struct chat_dedup_fingerprint {
    uint8_t bytes[32];
};

struct chat_dedup_fingerprint chat_dedup_make_fingerprint(const struct str *parts, size_t n);

struct chat_dedup *chat_dedup_new(void);
void chat_dedup_free(struct chat_dedup *s); /* NULL is allowed */
/* turn: 36 characters. The newest turn of a fingerprint counts. */
void chat_dedup_add(struct chat_dedup *s, const struct chat_dedup_fingerprint *print,
                    const char *turn);
/* NULL: unknown or expired. Borrowed until the next request is added. */
const char *chat_dedup_find(const struct chat_dedup *s, const struct chat_dedup_fingerprint *print);
/* Forgets the turn: a repeated request gets a new turn. */
void chat_dedup_forget(struct chat_dedup *s, const char *turn);
/* How often a turn of that request was forgotten. */
unsigned chat_dedup_forgotten(const struct chat_dedup *s,
                              const struct chat_dedup_fingerprint *print);

#endif
