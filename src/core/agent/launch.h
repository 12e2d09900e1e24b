/* SPDX-License-Identifier: MIT
 * What an agent is started with: its arguments and its environment. The user's message is in
 * neither. Pure. */
#ifndef CORE_AGENT_LAUNCH_H
#define CORE_AGENT_LAUNCH_H

#include <stdbool.h>

#include "base/sys/err.h"
#include "conf/conf.h"

/* [A-Za-z0-9_-]{1,128}, not beginning with '-': it becomes an argument. */
bool launch_is_session_id(const char *id);

/* Environment variable in which turncast-remote finds the password of the server, or the headers of
 * its requests as lines. */
#define LAUNCH_SECRET_VARIABLE "TURNCAST_REMOTE_SECRET"

/* The configured prefix, with a transport turncast-remote and its arguments, the command, then,
 * when a session is resumed, the `resume` arguments; an argument that is {session_id} or
 * {conversation}, or ends with one behind a =, replaced. Without a session {session_id} is a new
 * random UUID; {model} is the agent's, and without one the argument is left out, with the option in
 * front of it. NULL with err when a value is missing or could be taken for an option. Returns
 * owned, for launch_free. */
char **launch_build_argv(const struct conf_agent *agent, const char *session_id,
                         const char *conversation, struct tc_err *err);

/* Built from nothing: of `host` (an environ) the basic names PATH, HOME, LANG, LC_*, TZ, USER,
 * LOGNAME, SHELL, TMPDIR and those env_pass adds (a name, or a prefix and '*'); TERM=dumb; of
 * an agent with a user HOME, USER, LOGNAME and SHELL of that; then env_set, which wins. TURNCAST_*,
 * LD_*, DEBUG, NODE_OPTIONS, ANTHROPIC_LOG, CLAUDECODE and CLAUDE_CODE_* (they belong to an outer
 * session) come in by env_set only; the one exception is the credential CLAUDE_CODE_OAUTH_TOKEN
 * where env_pass names it. API keys: by env_pass. At last TURNCAST_TURN, by which a later host
 * finds what an agent left (turn NULL: without). Returns owned, for launch_free. */
char **launch_build_env(const struct conf_agent *agent, char *const *host, const char *turn);
/* "NAME=value" of that variable. Owned. */
char *launch_turn_variable(const char *turn);

void launch_free(char **words); /* NULL is fine */

#endif
