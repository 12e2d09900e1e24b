/* SPDX-License-Identifier: MIT
 * A ring of hashes with times. */
#include "chat/operation/chat_recent.h"

#include <stddef.h>

#include "base/hash.h"

uint64_t chat_recent_hash(const char *a, const char *b)
{
    const uint64_t first = hash_string(HASH_START, a), hash = b ? hash_string(first, b) : first;
    return hash ? hash : 1;
}

static size_t chat_recent_find(const struct chat_recent *r, uint64_t what)
{
    size_t i = 0;
    while (i < CHAT_RECENT_MAX && r->list[i].what != what)
        i++;
    return i;
}

bool chat_recent_has(const struct chat_recent *r, uint64_t what, int64_t since_ms)
{
    const size_t i = chat_recent_find(r, what);
    return i < CHAT_RECENT_MAX && r->list[i].at_ms >= since_ms;
}

void chat_recent_note(struct chat_recent *r, uint64_t what, int64_t at_ms)
{
    size_t i = chat_recent_find(r, what);
    if (i == CHAT_RECENT_MAX)
        i = r->next++ % CHAT_RECENT_MAX;
    r->list[i].what = what;
    r->list[i].at_ms = at_ms;
}
