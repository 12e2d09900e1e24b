/* SPDX-License-Identifier: MIT
 * The message of a command: an operand, or standard input for "-". */
#ifndef CLI_RUN_MESSAGE_INPUT_H
#define CLI_RUN_MESSAGE_INPUT_H

#include "base/bytes/buf.h"
#include "cli/args.h"

/* 0, or the exit status; an error was printed on stderr: the message is empty, too long, or not
 * UTF-8. */
int message_input_read(struct buf *message, const char *operand, const struct cli_command *c);

#endif
