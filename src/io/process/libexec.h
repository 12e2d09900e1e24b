/* SPDX-License-Identifier: MIT
 * Locates the helper programs of the package (turncast-shim, turncast-connector): environment
 * override, build tree, installed libexec directory. */
#ifndef IO_PROCESS_LIBEXEC_H
#define IO_PROCESS_LIBEXEC_H

#include <spawn.h>
#include <sys/types.h>

#include "base/sys/err.h"

/* Where the program of this name is: the environment's variable says, else it is beside this
 * program, as where it was built, else where it was installed with it. Owned; NULL with err, whose
 * place is `place`. Any thread. */
char *libexec_find(const char *name, const char *variable, const char *place, struct tc_err *err);
/* Starts it with no signal blocked, ignored or handled. flags: POSIX_SPAWN_SETSID, or _SETPGROUP
 * for a group of its own. An errno, or 0. Any thread. */
int libexec_spawn(pid_t *pid, const char *program, const posix_spawn_file_actions_t *files,
                  short flags, char *const *argv, char *const *env);

#endif
