/* SPDX-License-Identifier: MIT
 * Remembers the newest lines of a Claude Code session file, by hashes of their uuids.
 */

#include "base/alloc.h"
#include "base/hash.h"
#include "dialect/claude_session/claude_session.h"

/* Hash of the raw uuid; never 0. */
static uint64_t claude_session_hash(struct str uuid)
{
    const uint64_t hash = hash_bytes(HASH_START, uuid.p, uuid.len);
    return hash ? hash : 1;
}

uint64_t claude_session_turn_of(const struct claude_session_chain *chain, struct str uuid)
{
    if (!chain->links || !uuid.len)
        return 0;
    const uint64_t hash = claude_session_hash(uuid);
    for (uint64_t i = chain->count, n = 0; i > 0 && n < CLAUDE_SESSION_LINES; i--, n++)
        if (chain->links[(i - 1) % CLAUDE_SESSION_LINES].uuid == hash)
            return chain->links[(i - 1) % CLAUDE_SESSION_LINES].turn;
    return 0;
}

void claude_session_link(struct claude_session_chain *chain, struct str uuid, uint64_t turn)
{
    if (!uuid.len)
        return;
    if (!chain->links)
        chain->links = xcalloc(CLAUDE_SESSION_LINES, sizeof(*chain->links));
    chain->links[chain->count++ % CLAUDE_SESSION_LINES] =
        (struct claude_session_link){claude_session_hash(uuid), turn};
}
