/* SPDX-License-Identifier: MIT
 * Finds the executable of an agent in PATH and reads its --version. */
#ifndef CLI_INSPECT_AGENT_PROGRAM_H
#define CLI_INSPECT_AGENT_PROGRAM_H

/* The file that would be executed: `name` itself if it has a slash, otherwise the first match in
 * $PATH. Owned; NULL: not found or not executable. */
char *agent_program_find(const char *name);
/* Starts the program with --version. Some programs need a second; several can run at the same time.
 * Owned, for agent_program_read_version; NULL: it cannot be started. */
struct agent_version *agent_program_ask_version(const char *file);
/* The same with other arguments and another environment; argv[0] is the file. */
struct agent_version *agent_program_query_version(char *const *argv, char *const *env);
/* The first line that the program prints within 10 s of its start, in plain text; ends the program.
 * Owned; NULL: no output, or v is NULL. */
char *agent_program_read_version(struct agent_version *v);

#endif
