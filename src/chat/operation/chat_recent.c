/* SPDX-License-Identifier: MIT
 * Implements chat_recent.h as a ring of hashes with times. */
#include "chat/operation/chat_recent.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/bytes/buf.h"
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

void chat_recent_add(struct chat_recent *r, uint64_t what, int64_t at_ms)
{
    size_t i = chat_recent_find(r, what);
    if (i == CHAT_RECENT_MAX)
        i = r->next++ % CHAT_RECENT_MAX;
    r->list[i].what = what;
    r->list[i].at_ms = at_ms;
}

char *chat_recent_write(const struct chat_recent *r)
{
    struct buf text = {0};
    for (size_t i = 0; i < CHAT_RECENT_MAX; i++) {
        const uint64_t what = r->list[(r->next + i) % CHAT_RECENT_MAX].what;
        if (what)
            buf_printf(&text, "%016" PRIx64 " ", what);
    }
    return buf_steal(&text);
}

void chat_recent_read(struct chat_recent *r, const char *text)
{
    char *end;
    for (uint64_t what; text && (what = strtoull(text, &end, 16)); text = end)
        chat_recent_add(r, what, 0);
}
