/* SPDX-License-Identifier: MIT
 * Set of hashes of recent events, each with a time. Bounded: the oldest hash is removed. Pure. */
#ifndef CHAT_OPERATION_CHAT_RECENT_H
#define CHAT_OPERATION_CHAT_RECENT_H

#include <stdbool.h>
#include <stdint.h>

#define CHAT_RECENT_MAX 128

/* An all-zero struct is an empty set. */
struct chat_recent {
    struct {
        uint64_t what; /* 0: none */
        int64_t at_ms;
    } list[CHAT_RECENT_MAX];
    unsigned next;
};

/* Hash of one text, or of two if b is not NULL. Never 0. */
uint64_t chat_recent_hash(const char *a, const char *b);
/* Whether the hash was noted at `since_ms` or later, on the clock of `at_ms`. */
bool chat_recent_has(const struct chat_recent *r, uint64_t what, int64_t since_ms);
/* Notes a hash; a hash that is in the set only gets a new time. */
void chat_recent_add(struct chat_recent *r, uint64_t what, int64_t at_ms);
/* Returns the hashes without their times as text, oldest first; owned by the caller (free). */
char *chat_recent_write(const struct chat_recent *r);
/* Notes the hashes of a text of chat_recent_write at the time 0; NULL: none. */
void chat_recent_read(struct chat_recent *r, const char *text);

#endif
