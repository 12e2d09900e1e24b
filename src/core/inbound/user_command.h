/* SPDX-License-Identifier: MIT
 * Parses the commands that a user gives the host instead of the agent (commands.def), and lists
 * them. Pure. */
#ifndef CORE_INBOUND_USER_COMMAND_H
#define CORE_INBOUND_USER_COMMAND_H

#include "base/bytes/buf.h"

#define CHAT_COMMAND(id, words, arguments, en, de) COMMAND_##id,
#define CHAT_WORD(word, en, de)
enum user_command {
    COMMAND_NONE, /* it is for the agent */
#include "text/sentence/commands.def"
};
#undef CHAT_COMMAND
#undef CHAT_WORD

/* What a whole message means: white space around it and the case of the words do not matter, and
 * stop may be said without a slash, or with a ! where the service keeps what begins with a slash to
 * itself. A sentence that begins like a command is none; only a command with arguments has other
 * words behind it, which are appended to `argument`. */
enum user_command user_command_parse(const char *text, struct buf *argument);
/* What the person writes in front of commands: '!' if this message begins with it, else '/'. */
char user_command_prefix(const char *text);
/* Appends the text; when it is a slash word alone, without the "@bot" that groups add to it. */
void user_command_strip_mention(struct buf *out, const char *text);
/* Appends the list of commands. */
void user_command_append_help(struct buf *out, char prefix);

#endif
