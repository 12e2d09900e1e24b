/* SPDX-License-Identifier: MIT
 * Parses and removes visibility tokens (/show-tools, /hide-thinking, /stream-status) in a user's
 * message. Pure. */
#ifndef TURN_VISIBILITY_SLASH_TOKENS_H
#define TURN_VISIBILITY_SLASH_TOKENS_H

#include <stdbool.h>

#include "base/bytes/buf.h"
#include "turn/visibility/visibility.h"

struct slash_tokens_result {
    bool found;   /* at least one known token was there (else text is the message, byte for byte) */
    bool toggled; /* a token other than /stream-status was there */
    bool status;  /* /stream-status was there */
    bool empty;   /* nothing is left for the agent: answer with the switches instead */
};

/* Removes known tokens and applies them in order to *v (resolved). `text` receives what goes to
 * the agent: runs of spaces and tabs as one space, stripped, newlines kept, but byte-identical
 * when no known token was found. */
struct slash_tokens_result slash_tokens_parse(const char *message, size_t len, struct visibility *v,
                                              struct buf *text);
/* The i-th token without its "/", or NULL past the last one. */
const char *slash_tokens_name(size_t i);

#endif
