/* SPDX-License-Identifier: MIT
 * What a conversation did before: its sessions, the newest first, and its last prompt. Kept in the
 * journal. Bounded: older sessions are forgotten, a prompt that is too long is not kept. Loop
 * thread only. */
#ifndef CORE_SETTINGS_SESSION_HISTORY_H
#define CORE_SETTINGS_SESSION_HISTORY_H

#include "base/str.h"
#include "io/journal/journal_async.h"

#define SESSION_HISTORY_MAX 20

struct session_history;

/* A session as it is listed. Borrowed for the call. */
struct session_history_entry {
    const char *id;
    int64_t used_ms;   /* Unix: of the end of its last turn */
    const char *words; /* the first of its first prompt that is known; "": none */
};

struct session_history *session_history_new(struct journal_async *journal); /* borrowed */
/* After the journal was closed. NULL is fine. */
void session_history_free(struct session_history *h);

/* A turn with this prompt ended in that session. `name`: conf_agent_session_name. */
void session_history_add(struct session_history *h, const char *name, const char *conversation,
                         const char *session, const char *prompt);
/* `done` gets the entries, the newest first, once from the loop. */
void session_history_list(struct session_history *h, const char *name, const char *conversation,
                          void (*done)(void *ctx, const struct session_history_entry *entries,
                                       size_t n),
                          void *ctx);

/* The turn begins with that prompt. */
void session_history_set_prompt(struct session_history *h, const char *conversation,
                                const char *turn, struct str prompt);
/* The last one, for session_history_read_prompt. UNCHANGED: none is kept. */
void session_history_find_prompt(struct session_history *h, const char *conversation,
                                 journal_done_fn *done, void *ctx);
/* The prompt of what was found, and its turn; an empty one: it is not known. */
const char *session_history_read_prompt(const char *found, struct str *turn);

#endif
