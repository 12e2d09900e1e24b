/* SPDX-License-Identifier: MIT
 * Classification of agent errors: is the cause temporary, so that another attempt could succeed?
 * Pure.
 *
 * The error code of the stream decides first. Without a known code the text decides: the error's
 * message and the end of stderr. Words and numbers of the rules match as whole tokens only; a
 * number counts as an HTTP status only where the text says so ("status 503", "HTTP 429",
 * "API Error: 500"). A cause that cannot pass by itself (context length, credentials, an invalid
 * request) wins over all others.
 *
 * The caller decides the rest: an attempt that may have had side effects is never repeated, nor is
 * one that the host ended, nor one after a final. */
#ifndef CORE_AGENT_AGENT_RETRY_H
#define CORE_AGENT_AGENT_RETRY_H

#include <stdbool.h>
#include <stdint.h>

/* The temporary cause ("rate limit", "server error", "network"), or NULL: a retry is useless, or
 * the cause is unknown. Both arguments may be NULL. */
const char *agent_retry_find_cause(const char *code, const char *text);
/* Whether the agent reports that the session to resume is unknown. */
bool agent_retry_is_session_lost(const char *text);
/* Pause after failed attempt n = 1, 2…: 1 s, 2 s, 4 s… at most 10 s. */
int64_t agent_retry_delay_ms(unsigned attempt);

#endif
