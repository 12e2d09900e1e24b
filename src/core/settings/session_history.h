/* SPDX-License-Identifier: MIT
 * History of a conversation: its sessions, the newest first, and its last prompt. Stored in the
 * journal. Bounded: older sessions are forgotten, and a prompt above the limit is not stored. Loop
 * thread only. */
#ifndef CORE_SETTINGS_SESSION_HISTORY_H
#define CORE_SETTINGS_SESSION_HISTORY_H

#include "base/str.h"
#include "io/journal/journal_async.h"

#define SESSION_HISTORY_MAX 20

struct session_history;

/* A listed session. Borrowed for the call. */
struct session_history_entry {
    const char *id;
    int64_t used_ms;   /* Unix time of the end of its last turn */
    const char *words; /* first line of its first known prompt; "": unknown */
};

struct session_history *session_history_new(struct journal_async *journal); /* borrowed */
/* Call it after the journal was closed. NULL is allowed. */
void session_history_free(struct session_history *h);

/* A turn with this prompt has ended in that session. `name`: conf_agent_session_name. */
void session_history_add(struct session_history *h, const char *name, const char *conversation,
                         const char *session, const char *prompt);
/* `done` gets the entries, the newest first, once, from the loop. */
void session_history_list(struct session_history *h, const char *name, const char *conversation,
                          void (*done)(void *ctx, const struct session_history_entry *entries,
                                       size_t n),
                          void *ctx);

/* The turn starts with that prompt. */
void session_history_set_prompt(struct session_history *h, const char *conversation,
                                const char *turn, struct str prompt);
/* Requests the last prompt, for session_history_read_prompt. UNCHANGED: none is stored. */
void session_history_find_prompt(struct session_history *h, const char *conversation,
                                 journal_done_fn *done, void *ctx);
/* Decodes the prompt and its turn; an empty turn: unknown. */
const char *session_history_read_prompt(const char *found, struct str *turn);

#endif
