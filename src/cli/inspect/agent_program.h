/* SPDX-License-Identifier: MIT
 * Finds the executable of an agent in PATH and reads its --version. */
#ifndef CLI_INSPECT_AGENT_PROGRAM_H
#define CLI_INSPECT_AGENT_PROGRAM_H

/* The file that would be run: itself when it has a slash, else the first in $PATH. Owned; NULL:
 * there is none that can be. */
char *agent_program_find(const char *name);
/* Starts it with --version, which takes some programs a second; several can be asked at once.
 * Owned, for agent_program_take_version; NULL: it cannot be run. */
struct agent_version *agent_program_ask_version(const char *file);
/* The same with other arguments and another environment; argv[0] is the file. */
struct agent_version *agent_program_ask(char *const *argv, char *const *env);
/* The first line that it prints within 10 s of being asked, in plain text; ends it. Owned; NULL:
 * none, or v is NULL. */
char *agent_program_take_version(struct agent_version *v);

#endif
