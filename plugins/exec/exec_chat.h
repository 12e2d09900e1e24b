/* SPDX-License-Identifier: MIT
 * Shared by the files of the connector exec that make a program the operator of a chat service:
 * exec_chat_table.c reads the description, exec_chat_op.c writes operations, exec_chat.c hands them
 * to the program and reads results, exec_chat_people.c passes on what people do. */
#ifndef EXEC_CHAT_H
#define EXEC_CHAT_H

#include "exec.h"

#define EXEC_CHAT_REACTIONS 7
#define EXEC_COUNT(array) (sizeof(array) / sizeof *(array))

/* Words of the protocol, by the value of the C enumeration. */
extern const char *const exec_chat_operations[TC_OPS];
extern const char *const exec_chat_roles[TC_ROLES];
extern const char *const exec_chat_reactions[EXEC_CHAT_REACTIONS];

/* The members request, read and ready of the table. */
int exec_chat_request(struct tc_turn *turn, const struct tc_op *op, struct tc_http *http);
int exec_chat_read(struct tc_turn *turn, const struct tc_op *op, const struct tc_reply *reply,
                   struct tc_result *result);
int exec_chat_ready(struct tc_turn *lobby, const struct tc_result *identity);

/* The absolute path of a file named by the program, valid until the callback ends. NULL: it does
 * not exist, or is outside of the directory of the instance. */
const char *exec_chat_find_file(const struct exec *e, const char *path);

#endif
