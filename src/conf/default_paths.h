/* SPDX-License-Identifier: MIT
 * Default locations of state, plugins and configuration, from environment, home and installation
 * prefix. */
#ifndef CONF_DEFAULT_PATHS_H
#define CONF_DEFAULT_PATHS_H

#include "base/arena.h"

/* $XDG_STATE_HOME/turncast; root: /var/lib/turncast; else ~/.local/state/turncast. */
char *default_paths_state_dir(struct arena *a);
/* $TURNCAST_PLUGIN_PATH (directories separated by colons), otherwise the installed directory;
 * NULL-terminated. Absolute, because the process of a plugin has another working directory. */
char **default_paths_plugin_dirs(struct arena *a);
/* Makes a path absolute, because connector processes have another working directory. */
char *default_paths_make_absolute(struct arena *a, const char *path);
/* The directory of a file; also made absolute. */
char *default_paths_dirname(struct arena *a, const char *file);

#endif
