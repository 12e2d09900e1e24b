/* SPDX-License-Identifier: MIT
 * Which session of its agent a conversation goes on with: kept in the ledger, and in Redis too
 * when that is the store. Loop thread only. */
#ifndef CORE_SETTINGS_SESSION_STORE_H
#define CORE_SETTINGS_SESSION_STORE_H

#include "core/settings/settings_worker.h"
#include "io/journal/journal_async.h"

struct sessions;

/* Borrows both. */
struct sessions *sessions_new(struct ledger *ledger, struct shelf *shelf);
/* After the ledger and the shelf. NULL is fine. */
void sessions_free(struct sessions *s);

/* `done` comes from the loop, with NULL when a new one is to begin. What Redis does not say within
 * REDIS_CALL_MS the ledger does. */
void sessions_find(struct sessions *s, const char *agent, const char *conversation,
                   void (*done)(void *ctx, const char *id), void *ctx);
/* It was used; `changed`: it is another than before. */
void sessions_keep(struct sessions *s, const char *agent, const char *conversation, const char *id,
                   bool changed);
/* The running totals (turn_spent) of the conversation's session: of this host only. `done` gets
 * RECORD_UNCHANGED when there are none; it is called before that of a later sessions_find. */
void sessions_find_spent(struct sessions *s, const char *agent, const char *conversation,
                         ledger_done *done, void *ctx);
void sessions_keep_spent(struct sessions *s, const char *agent, const char *conversation,
                         const char *text);
void sessions_forget(struct sessions *s, const char *agent, const char *conversation);

#endif
