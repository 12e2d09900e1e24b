/* SPDX-License-Identifier: MIT
 * Session id that a conversation resumes: kept in the journal and, when configured, in Redis;
 * falls back to the journal when Redis is slow. Loop thread only. */
#ifndef CORE_SETTINGS_SESSION_STORE_H
#define CORE_SETTINGS_SESSION_STORE_H

#include "core/settings/session_redis.h"
#include "core/settings/settings_worker.h"
#include "io/journal/journal_async.h"

struct session_store;

/* Borrows both. */
struct session_store *session_store_new(struct journal_async *journal,
                                        struct settings_worker *settings);
/* Sets the name of this host in the records of locks; borrowed until the end. */
void session_store_set_host(struct session_store *s, const char *host);
/* After the journal and the settings worker. NULL is fine. */
void session_store_free(struct session_store *s);

/* `done` comes from the loop, with NULL when a new one is to begin. What Redis does not say within
 * REDIS_CALL_MS the journal does. */
void session_store_find(struct session_store *s, const char *agent, const char *conversation,
                        void (*done)(void *ctx, const char *id), void *ctx);
/* It was used: that is noted also when it is the same as before, so that it is kept for longer.
 * `fence`: the number of the lock under which the turn ran, or SESSION_FENCE_CHOSEN or _NONE. In
 * Redis nothing is written by a turn whose conversation has gone on under another lock. */
void session_store_save(struct session_store *s, const char *agent, const char *conversation,
                        const char *id, int64_t fence);
/* Another host has continued the conversation: what is kept here is replaced; id NULL: a new one
 * is to begin. */
void session_store_adopt(struct session_store *s, const char *agent, const char *conversation,
                         const char *id);
/* `changed`, or NULL, is called when a turn or a person has changed a session, id NULL: deleted. */
void session_store_set_watch(struct session_store *s,
                             void (*changed)(void *ctx, const char *agent, const char *conversation,
                                             const char *id),
                             void *ctx);
/* The running totals (turn_spent) of the conversation's session: of this host only. `done` gets
 * JOURNAL_NO_CHANGE when there are none; it is called before that of a later session_store_find. */
void session_store_find_spent(struct session_store *s, const char *agent, const char *conversation,
                              journal_done_fn *done, void *ctx);
void session_store_keep_spent(struct session_store *s, const char *agent, const char *conversation,
                              const char *text);
void session_store_delete(struct session_store *s, const char *agent, const char *conversation);

#endif
