/* SPDX-License-Identifier: MIT
 * Detects whether an agent program is logged in, without starting it: from the variables and files
 * that it would use in the environment that turncast gives it. */
#ifndef CLI_INSPECT_PROBE_AGENT_LOGIN_H
#define CLI_INSPECT_PROBE_AGENT_LOGIN_H

#include <stddef.h>

#include "base/bytes/buf.h"
#include "conf/conf.h"

/* A program whose login methods are known. */
struct agent_kind {
    const char *name;    /* name of the program, and of the agent in its definition */
    const char *profile; /* path of the definition below share/turncast, with which the agent asks
                          * for tools that it may not use */
    const char *const *variables; /* variables that may hold a credential; ends with NULL */
    const char *const *files;     /* files in the home directory, or "VARIABLE:HOME:REST"; ends with
                                   * NULL */
    const char *login;            /* how to log in, for people */
    const char *install;          /* command to log in */
};

/* Entry i, or NULL behind the last. */
const struct agent_kind *agent_login_kind(size_t i);
/* The kind of the agent's program; NULL: unknown. */
const struct agent_kind *agent_login_kind_of(const struct conf_agent *agent);
/* Appends the name of the variable or file with a credential to `where`, without its contents.
 * False: none found; the program may have another login method. */
bool agent_login_find(const struct agent_kind *kind, const struct conf_agent *agent,
                      struct buf *where);

#endif
