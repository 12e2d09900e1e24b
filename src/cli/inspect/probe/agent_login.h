/* SPDX-License-Identifier: MIT
 * Whether an agent's program is logged in, as far as that can be said without starting it: from the
 * variables and files that it would use with the environment that turncast gives it. */
#ifndef CLI_INSPECT_PROBE_AGENT_LOGIN_H
#define CLI_INSPECT_PROBE_AGENT_LOGIN_H

#include <stddef.h>

#include "base/bytes/buf.h"
#include "conf/conf.h"

/* A program whose ways to log in are known. */
struct agent_kind {
    const char *name;    /* of the program, and of the agent in its definition */
    const char *profile; /* its definition, below share/turncast; what it may not do, it asks for */
    const char *const *variables; /* each may hold a credential; ends with NULL */
    const char *const *files; /* in the home directory, or "VARIABLE:HOME:REST"; ends with NULL */
    const char *login;        /* what a person does */
    const char *install;      /* a command */
};

/* Number i, or NULL behind the last. */
const struct agent_kind *agent_login_kind(size_t i);
/* The kind of the agent's program; NULL: unknown. */
const struct agent_kind *agent_login_kind_of(const struct conf_agent *agent);
/* Appends the variable or file with a credential to `where`, without its contents. False: none was
 * found; the program may have another way. */
bool agent_login_find(const struct agent_kind *kind, const struct conf_agent *agent,
                      struct buf *where);

#endif
