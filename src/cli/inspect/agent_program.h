/* SPDX-License-Identifier: MIT
 * Finds the executable of an agent in PATH and reads its --version. */
#ifndef CLI_INSPECT_AGENT_PROGRAM_H
#define CLI_INSPECT_AGENT_PROGRAM_H

/* The file that would be run: itself when it has a slash, else the first in $PATH. Owned; NULL:
 * there is none that can be. */
char *agent_program_find(const char *name);
/* The first line that it prints for --version, without control characters. Owned; NULL: it prints
 * none within 10 s. */
char *agent_program_read_version(const char *file);

#endif
