/* SPDX-License-Identifier: MIT
 * The chat completions that were asked for lately, so that one that is asked for again is the same
 * turn: clients repeat what got no answer, and each turn costs. Pure but for the clock. */
#ifndef API_SHARED_CHAT_DEDUP_H
#define API_SHARED_CHAT_DEDUP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct chat_seen;

/* What makes a request the same as another. */
struct chat_print {
    uint8_t bytes[32];
};

struct chat_print chat_print_of(const struct str *parts, size_t n);

struct chat_seen *chat_seen_new(void);
void chat_seen_free(struct chat_seen *s); /* NULL is fine */
/* turn: 36 characters. The newest of the same print counts. */
void chat_seen_add(struct chat_seen *s, const struct chat_print *print, const char *turn);
/* NULL: not asked for, or too long ago. Borrowed, until the next is added. */
const char *chat_seen_find(const struct chat_seen *s, const struct chat_print *print);
/* Whoever asks for it again gets another turn. */
void chat_seen_forget(struct chat_seen *s, const char *turn);
/* How often that has been so. */
unsigned chat_seen_forgotten(const struct chat_seen *s, const struct chat_print *print);

#endif
