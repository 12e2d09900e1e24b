/* SPDX-License-Identifier: MIT
 * Which errors of an agent may pass, by what they say. Pure.
 *
 * An attempt is tried again when its error text or the end of its stderr matches a rule, the
 * rules tested in this order: token limit, rate limit, network. What the host ended (timeout,
 * cancel) is never tried again, and nothing is once a final was told. */
#ifndef CORE_RETRY_H
#define CORE_RETRY_H

#include <stdbool.h>
#include <stdint.h>

/* Name of the first rule that the text (NULL: no text) matches, or NULL. */
const char *retry_reason(const char *text);
/* The agent says that it does not know the session it was to resume. */
bool retry_is_session_lost(const char *text);
/* Pause behind failed attempt n = 1, 2…: 1 s, 2 s, 4 s… 10 s at most. */
int64_t retry_delay_ms(unsigned attempt);

#endif
