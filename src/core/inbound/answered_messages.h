/* SPDX-License-Identifier: MIT
 * Messages that the host answered itself (commands, visibility words), so that one that the service
 * delivers again, also to the next host, is recognised. Messages for the agent are recognised by
 * the journal. Kept in the journal's key-value pairs, as hashes of ids; bounded, the oldest are
 * forgotten. Loop thread only. */
#ifndef CORE_INBOUND_ANSWERED_MESSAGES_H
#define CORE_INBOUND_ANSWERED_MESSAGES_H

#include <turncast/plugin.h>

#include "io/journal/journal_async.h"

struct answered_messages;

/* Reads what earlier hosts noted, so at the start. Borrows the journal. */
struct answered_messages *answered_messages_new(struct journal_async *journal);
void answered_messages_free(struct answered_messages *m); /* NULL is fine */
/* Whether the message was noted, under one of its two ids. */
bool answered_messages_has(const struct answered_messages *m, const char *instance,
                           const struct tc_inbound *in);
/* Notes it; `done` (or NULL) is called when that is on disk, or cannot be written. */
void answered_messages_add(struct answered_messages *m, const char *instance,
                           const struct tc_inbound *in, journal_done_fn *done, void *ctx);

#endif
