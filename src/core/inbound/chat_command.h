/* SPDX-License-Identifier: MIT
 * Executes the commands of people in chats. Loop thread only. */
#ifndef CORE_INBOUND_CHAT_COMMAND_H
#define CORE_INBOUND_CHAT_COMMAND_H

#include "core/inbound/inbound.h"
#include "core/inbound/user_command.h"

/* Executes the command of a permitted person, unless it was executed before, and completes the
 * call, at once or later. Takes ownership of the argument's memory. */
void chat_command_run(struct inbound *r, struct host_call *a, const struct conf_instance *inst,
                      enum user_command command, struct buf *argument);
/* Withdraws the queued messages of the conversation (or NULL), and completes the call. */
void chat_command_clear_queue(struct inbound *r, struct host_call *a, struct conversation *c);

#endif
