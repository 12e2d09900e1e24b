/* SPDX-License-Identifier: MIT
 * Locates the helper programs of the package (turncast-shim, turncast-connector): environment
 * override, build tree, installed libexec directory. */
#ifndef IO_PROCESS_LIBEXEC_H
#define IO_PROCESS_LIBEXEC_H

#include <spawn.h>
#include <sys/types.h>

#include "base/sys/err.h"

/* Path of the program of this name: from the environment variable, otherwise beside this program,
 * as in the build directory, otherwise in the installation. Owned; NULL with err, whose place is
 * `place`. Any thread. */
char *libexec_find(const char *name, const char *variable, const char *place, struct tc_err *err);
/* Starts it with default signal actions and an empty mask. flags: POSIX_SPAWN_SETSID, or _SETPGROUP
 * for a new process group. An errno, or 0. Any thread. */
int libexec_spawn(pid_t *pid, const char *program, const posix_spawn_file_actions_t *files,
                  short flags, char *const *argv, char *const *env);

#endif
