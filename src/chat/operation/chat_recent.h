/* SPDX-License-Identifier: MIT
 * Hashes of recent events, each with a time. Bounded: the oldest one is forgotten. Pure. */
#ifndef CHAT_OPERATION_CHAT_RECENT_H
#define CHAT_OPERATION_CHAT_RECENT_H

#include <stdbool.h>
#include <stdint.h>

#define CHAT_RECENT_MAX 128

/* All-zero: nothing yet. */
struct chat_recent {
    struct {
        uint64_t what; /* 0: none */
        int64_t at_ms;
    } list[CHAT_RECENT_MAX];
    unsigned next;
};

/* Hash of one text, or of two if b is not NULL. Never 0. */
uint64_t chat_recent_hash(const char *a, const char *b);
/* Seen at `since_ms` or later, on the clock of `at_ms`. */
bool chat_recent_has(const struct chat_recent *r, uint64_t what, int64_t since_ms);
/* A hash that is known already only gets a new time. */
void chat_recent_note(struct chat_recent *r, uint64_t what, int64_t at_ms);
/* The hashes without their times as text, oldest first; owned by the caller (free). */
char *chat_recent_write(const struct chat_recent *r);
/* Notes the hashes of such a text at the time 0; NULL: none. */
void chat_recent_read(struct chat_recent *r, const char *text);

#endif
