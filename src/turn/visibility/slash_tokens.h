/* SPDX-License-Identifier: MIT
 * Parses and removes visibility tokens (/show-tools, /hide-thinking, /stream-status) in a user's
 * message. Pure. */
#ifndef TURN_VISIBILITY_SLASH_TOKENS_H
#define TURN_VISIBILITY_SLASH_TOKENS_H

#include <stdbool.h>

#include "base/bytes/buf.h"
#include "turn/visibility/visibility.h"

struct slash_tokens_result {
    bool found;   /* at least one known token was found (otherwise text is the message, byte for
                   * byte) */
    bool toggled; /* a token other than /stream-status was found */
    bool status;  /* /stream-status was found */
    bool empty;   /* no text is left for the agent: answer with the settings instead */
};

/* Removes known tokens and applies them in order to *v (resolved). `text` receives the message for
 * the agent: runs of spaces and tabs become one space, ends are stripped, newlines are kept;
 * without a known token it is byte-identical. */
struct slash_tokens_result slash_tokens_parse(const char *message, size_t len, struct visibility *v,
                                              struct buf *text);
/* The i-th token without its "/", or NULL behind the last. */
const char *slash_tokens_name(size_t i);

#endif
