/* SPDX-License-Identifier: MIT
 * Paths as a person writes them in the configuration. */
#ifndef CONF_PARSE_CONF_PATH_H
#define CONF_PARSE_CONF_PATH_H

#include "base/arena.h"

/* The home directory of this user: $HOME if it is absolute, else that of the user database, else
 * "/". Valid until the next call. */
const char *conf_path_home(void);
/* An absolute path as it is; "~" and "~/x" in the home directory; else in the directory `dir`
 * (NULL: as it is, relative to the working directory). In the arena. */
char *conf_path_resolve(struct arena *a, const char *dir, const char *path);

#endif
