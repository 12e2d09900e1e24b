/* SPDX-License-Identifier: MIT
 * Ends what the agent of a conversation does in the background on another host, where the
 * conversation is at home. Loop thread only. */
#ifndef CORE_WORK_WORK_BACKGROUND_H
#define CORE_WORK_WORK_BACKGROUND_H

#include <stdbool.h>

struct work;

/* Verb of the request. The body has the member "conversation"; the reply says in "ended" whether
 * the agent worked. */
#define WORK_BACKGROUND_VERB "background"

/* `done` is called once, at once or later. ended: the agent worked. It is false, too, if the other
 * host or the servers do not answer. sessions: conf_agent_session_name. */
void work_background_end(struct work *w, const char *sessions, const char *conversation,
                         void (*done)(void *ctx, bool ended), void *ctx);

#endif
