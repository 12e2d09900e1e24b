/* SPDX-License-Identifier: MIT
 * Parses the commands that a user gives the host instead of the agent: /stop, /new, /status,
 * /queue. Pure. */
#ifndef CORE_INBOUND_USER_COMMAND_H
#define CORE_INBOUND_USER_COMMAND_H

#include "base/bytes/buf.h"

enum user_command {
    COMMAND_NONE, /* it is for the agent */
    COMMAND_STOP,
    COMMAND_NEW,
    COMMAND_STATUS,
    COMMAND_QUEUE,
    COMMAND_QUEUE_CLEAR,
    COMMAND_HELP,
};

/* What a whole message means: white space around it and the case do not matter, and stop may be
 * said without a slash, or with a ! where the service keeps what begins with one to itself. A
 * sentence that begins like a command is none. */
enum user_command user_command_parse(const char *text);
/* What the person writes in front of commands: '!' if this message begins with it, else '/'. */
char user_command_prefix(const char *text);
/* Appends the text; when it is a slash word alone, without the "@bot" that groups add to it. */
void user_command_strip_mention(struct buf *out, const char *text);

#endif
