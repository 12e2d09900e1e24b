/* SPDX-License-Identifier: MIT
 * How many turns of each person run. Loop thread only. */
#ifndef CORE_CONVERSATION_USER_LIMITS_H
#define CORE_CONVERSATION_USER_LIMITS_H

#include <stddef.h>

struct people;

struct people *people_new(void);
void people_free(struct people *p); /* NULL is fine */
/* A person is known to a source by a name; of NULL nothing is counted. */
void people_enter(struct people *p, const char *source, const char *name);
void people_leave(struct people *p, const char *source, const char *name);
size_t people_turns(const struct people *p, const char *source, const char *name);

#endif
