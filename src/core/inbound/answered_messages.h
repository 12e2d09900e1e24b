/* SPDX-License-Identifier: MIT
 * Messages that the host itself answered (commands, visibility words), so that repeated deliveries
 * are recognised, also after a restart. The journal recognises messages for the agent. Stored in
 * the journal's key-value pairs, as hashes of ids; bounded, the oldest are forgotten. Loop thread
 * only. */
#ifndef CORE_INBOUND_ANSWERED_MESSAGES_H
#define CORE_INBOUND_ANSWERED_MESSAGES_H

#include <turncast/plugin.h>

#include "io/journal/journal_async.h"

struct answered_messages;

/* Reads stored entries; call it at the start. Borrows the journal. */
struct answered_messages *answered_messages_new(struct journal_async *journal);
void answered_messages_free(struct answered_messages *m); /* NULL is allowed */
/* Whether the message was added, under one of its two ids. */
bool answered_messages_has(const struct answered_messages *m, const char *instance,
                           const struct tc_inbound *in);
/* Adds it; `done` (or NULL) is called when the entry is on disk, or cannot be written. */
void answered_messages_add(struct answered_messages *m, const char *instance,
                           const struct tc_inbound *in, journal_done_fn *done, void *ctx);

#endif
