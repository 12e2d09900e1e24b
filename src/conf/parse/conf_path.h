/* SPDX-License-Identifier: MIT
 * Resolves paths as written in the configuration. */
#ifndef CONF_PARSE_CONF_PATH_H
#define CONF_PARSE_CONF_PATH_H

#include "base/arena.h"

/* The home directory of this user: $HOME if it is absolute, otherwise from the user database,
 * otherwise "/". Valid until the next call. */
const char *conf_path_home(void);
/* An absolute path is unchanged; "~" and "~/x" are in the home directory; other paths are relative
 * to the directory `dir` (NULL: the working directory). In the arena. */
char *conf_path_resolve(struct arena *a, const char *dir, const char *path);

#endif
