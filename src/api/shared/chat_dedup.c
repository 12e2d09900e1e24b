/* SPDX-License-Identifier: MIT
 * Owns the list of recent requests. */
#include "api/shared/chat_dedup.h"

#include <nettle/sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sys/clock.h"

#define SEEN_MAX 1024 /* above this number, the oldest request is removed */
#define SEEN_MS ((int64_t)15 * 60 * 1000)

struct recently_logged {
    struct chat_dedup_fingerprint print;
    char turn[37];
    int64_t until_ms;
    bool forgotten;
};

struct chat_dedup {
    struct recently_logged list[SEEN_MAX]; /* ring buffer */
    size_t n;                              /* number of added requests */
};

struct chat_dedup_fingerprint chat_dedup_make_fingerprint(const struct str *parts, size_t n)
{
    struct sha256_ctx ctx;
    struct chat_dedup_fingerprint print;
    sha256_init(&ctx);
    for (size_t i = 0; i < n; i++) {
        sha256_update(&ctx, sizeof parts[i].len, (const uint8_t *)&parts[i].len);
        sha256_update(&ctx, parts[i].len, (const uint8_t *)parts[i].p);
    }
    sha256_digest(&ctx, sizeof print.bytes, print.bytes);
    return print;
}

struct chat_dedup *chat_dedup_new(void)
{
    return xcalloc(1, sizeof(struct chat_dedup));
}

void chat_dedup_free(struct chat_dedup *s)
{
    free(s);
}

void chat_dedup_add(struct chat_dedup *s, const struct chat_dedup_fingerprint *print,
                    const char *turn)
{
    struct recently_logged *const seen = &s->list[s->n++ % SEEN_MAX];
    *seen = (struct recently_logged){.print = *print, .until_ms = clock_mono_ms() + SEEN_MS};
    snprintf(seen->turn, sizeof seen->turn, "%s", turn);
}

static bool chat_dedup_is_of(const struct recently_logged *seen,
                             const struct chat_dedup_fingerprint *print)
{
    return seen->until_ms > clock_mono_ms() && memcmp(&seen->print, print, sizeof *print) == 0;
}

const char *chat_dedup_find(const struct chat_dedup *s, const struct chat_dedup_fingerprint *print)
{
    for (size_t i = s->n, left = SEEN_MAX; i > 0 && left > 0; i--, left--) {
        const struct recently_logged *const seen = &s->list[(i - 1) % SEEN_MAX];
        if (chat_dedup_is_of(seen, print))
            return seen->forgotten ? NULL : seen->turn;
    }
    return NULL;
}

void chat_dedup_forget(struct chat_dedup *s, const char *turn)
{
    for (size_t i = 0; i < SEEN_MAX; i++)
        s->list[i].forgotten |= strcmp(s->list[i].turn, turn) == 0;
}

unsigned chat_dedup_forgotten(const struct chat_dedup *s,
                              const struct chat_dedup_fingerprint *print)
{
    unsigned n = 0;
    for (size_t i = 0; i < SEEN_MAX; i++)
        n += s->list[i].forgotten && chat_dedup_is_of(&s->list[i], print);
    return n;
}
