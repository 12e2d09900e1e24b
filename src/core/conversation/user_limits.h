/* SPDX-License-Identifier: MIT
 * Counts the running turns of each user, for the limit per user. Loop thread only. */
#ifndef CORE_CONVERSATION_USER_LIMITS_H
#define CORE_CONVERSATION_USER_LIMITS_H

#include <stddef.h>

struct user_limits;

struct user_limits *user_limits_new(void);
void user_limits_free(struct user_limits *p); /* NULL is allowed */
/* Persons are identified by source and name; a NULL name is not counted. */
void user_limits_acquire(struct user_limits *p, const char *source, const char *name);
void user_limits_release(struct user_limits *p, const char *source, const char *name);
size_t user_limits_count(const struct user_limits *p, const char *source, const char *name);

#endif
