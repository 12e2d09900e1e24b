/* SPDX-License-Identifier: MIT
 * Arguments and environment of an agent's process. The user's message is in neither. Pure. */
#ifndef CORE_AGENT_LAUNCH_H
#define CORE_AGENT_LAUNCH_H

#include <stdbool.h>

#include "base/sys/err.h"
#include "conf/conf.h"

/* [A-Za-z0-9_-]{1,128}, not beginning with '-', because it becomes an argument. */
bool launch_is_session_id(const char *id);

/* Environment variable in which turncast-remote finds the password of the server, or the headers of
 * its requests as lines. */
#define LAUNCH_SECRET_VARIABLE "TURNCAST_REMOTE_SECRET"

/* Builds: the configured prefix; with a transport, turncast-remote and its arguments; the command;
 * for a resumed session, the `resume` arguments. Replaces an argument that is {session_id} or
 * {conversation}, or ends with one of them after a =. Without a session, {session_id} is a new
 * random UUID; {model} is the agent's model; without one, the argument is left out, together with
 * the option in front of it. NULL with err when a value is missing or could be taken for an option.
 * Returns owned, for launch_free. */
char **launch_build_argv(const struct conf_agent *agent, const char *session_id,
                         const char *conversation, struct tc_err *err);

/* Builds a new environment: from `host` (an environ) the basic names PATH, HOME, LANG, LC_*, TZ,
 * USER, LOGNAME, SHELL, TMPDIR and those of env_pass (a name, or a prefix and '*'); TERM=dumb; for
 * an agent with a user, HOME, USER, LOGNAME and SHELL of that user; then env_set, which overrides
 * all. TURNCAST_*, LD_*, DEBUG, NODE_OPTIONS, ANTHROPIC_LOG, CLAUDECODE and CLAUDE_CODE_* (they
 * belong to an outer session) are included only through env_set, except the credential
 * CLAUDE_CODE_OAUTH_TOKEN if env_pass names it. API keys need env_pass. Unless `turn` is NULL,
 * TURNCAST_TURN is the turn, and TURNCAST_PROCESS marks the processes of the agent
 * (launch_process_mark). Returns owned, for launch_free. */
char **launch_build_env(const struct conf_agent *agent, char *const *host, const char *turn);
/* Sets TURNCAST_OWNER in the environment of this process to a text that identifies the state
 * directory on this machine. Call it before the first agent starts, in every life of a host. */
void launch_set_owner(const char *state_dir);
/* "NAME=value" of the variable TURNCAST_PROCESS: the owner and the turn. A later life of the host
 * finds processes that an agent left by it. The turn alone is not enough: two hosts on one machine
 * may have run the same turn, one after the other. Owned. */
char *launch_process_mark(const char *turn);

void launch_free(char **words); /* NULL is allowed */

#endif
