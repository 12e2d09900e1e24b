/* SPDX-License-Identifier: MIT
 * Parses commands that users send to the host (commands.def), and lists them. Pure. */
#ifndef CORE_INBOUND_USER_COMMAND_H
#define CORE_INBOUND_USER_COMMAND_H

#include "base/bytes/buf.h"

#define CHAT_COMMAND(id, words, arguments, en, de) COMMAND_##id,
#define CHAT_WORD(word, en, de)
enum user_command {
    COMMAND_NONE, /* the message is for the agent */
#include "text/sentence/commands.def"
};
#undef CHAT_COMMAND
#undef CHAT_WORD

/* Interprets a whole message: ignores surrounding white space and case; `stop` may be written
 * without a slash, and any command with a ! where the service intercepts messages that begin with a
 * slash. A sentence that begins like a command is none; only commands with arguments permit further
 * words, which are appended to `argument`. */
enum user_command user_command_parse(const char *text, struct buf *argument);
/* The person's command prefix: '!' if this message begins with it, otherwise '/'. */
char user_command_prefix(const char *text);
/* Appends the text; if it is a single slash word, without the "@bot" that groups add to it. */
void user_command_strip_mention(struct buf *out, const char *text);
/* Appends the list of commands. */
void user_command_append_help(struct buf *out, char prefix);

#endif
