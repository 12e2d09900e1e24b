/* SPDX-License-Identifier: MIT
 * Formats a person's message as a prompt, in plain text:
 *
 *     > the quoted message, line by line
 *
 *     the message
 *
 *     [file: /path/of/the/file (original name)]
 *
 * An empty line separates the parts, and joined messages. Pure. */
#ifndef CORE_CONVERSATION_PROMPT_H
#define CORE_CONVERSATION_PROMPT_H

#include <turncast/plugin.h>

#include "base/bytes/buf.h"

/* Appends a message whose text is `text` (the rest of the inbound's own text). */
void prompt_append_message(struct buf *out, const struct tc_inbound *in, struct str text);
/* Appends another prompt. */
void prompt_append_prompt(struct buf *out, struct str prompt);

#endif
