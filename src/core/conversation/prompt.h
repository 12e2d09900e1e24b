/* SPDX-License-Identifier: MIT
 * What an agent gets of a person's message, in plain text:
 *
 *     > what it answers to, line by line
 *
 *     the message
 *
 *     [file: /path/where/it/lies (as it was called)]
 *
 * The parts, and messages that are joined, have an empty line between them. Pure. */
#ifndef CORE_CONVERSATION_PROMPT_H
#define CORE_CONVERSATION_PROMPT_H

#include <turncast/plugin.h>

#include "base/bytes/buf.h"

/* Appends a message whose text is `text` (what is left of the inbound's own). */
void prompt_append_message(struct buf *out, const struct tc_inbound *in, struct str text);
/* Appends a prompt behind those that are there. */
void prompt_append_prompt(struct buf *out, struct str prompt);

#endif
