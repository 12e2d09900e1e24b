/* SPDX-License-Identifier: MIT
 * Session that a conversation resumes: stored in the journal and, if configured, in Redis; uses the
 * journal if Redis is slow. Loop thread only. */
#ifndef CORE_SETTINGS_SESSION_STORE_H
#define CORE_SETTINGS_SESSION_STORE_H

#include "core/settings/session_redis.h"
#include "core/settings/settings_worker.h"
#include "io/journal/journal_async.h"

struct session_store;

/* Borrows both. */
struct session_store *session_store_new(struct journal_async *journal,
                                        struct settings_worker *settings);
/* Sets the name of this host for lock records; borrowed until the end. */
void session_store_set_host(struct session_store *s, const char *host);
/* Call it after the journal and the settings worker were freed. NULL is allowed. */
void session_store_free(struct session_store *s);

/* `done` comes from the loop; NULL: start a new session. If Redis does not answer within
 * REDIS_CALL_MS, the journal's answer counts. */
void session_store_find(struct session_store *s, const char *agent, const char *conversation,
                        void (*done)(void *ctx, const char *id), void *ctx);
/* Stores the used session, even if it is unchanged, so that its retention is extended. `fence`:
 * number of the lock under which the turn ran, or SESSION_FENCE_CHOSEN or _NONE. Redis ignores the
 * write of a turn whose conversation has continued under another lock. */
void session_store_save(struct session_store *s, const char *agent, const char *conversation,
                        const char *id, int64_t fence);
/* Another host has continued the conversation: replaces the stored session; id NULL: start a new
 * one. */
void session_store_adopt(struct session_store *s, const char *agent, const char *conversation,
                         const char *id);
/* `changed`, or NULL, is called when a turn or a person has changed a session; id NULL: deleted. */
void session_store_set_watch(struct session_store *s,
                             void (*changed)(void *ctx, const char *agent, const char *conversation,
                                             const char *id),
                             void *ctx);
/* The running totals (turn_spent) of the conversation's session, of this host only. `done` gets
 * JOURNAL_NO_CHANGE if there are none; called before that of a later session_store_find. */
void session_store_find_spent(struct session_store *s, const char *agent, const char *conversation,
                              journal_done_fn *done, void *ctx);
void session_store_keep_spent(struct session_store *s, const char *agent, const char *conversation,
                              const char *text);
void session_store_delete(struct session_store *s, const char *agent, const char *conversation);

#endif
