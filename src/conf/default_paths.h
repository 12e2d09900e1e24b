/* SPDX-License-Identifier: MIT
 * Default locations of state, plugins and configuration, from environment, home and installation
 * prefix. */
#ifndef CONF_DEFAULT_PATHS_H
#define CONF_DEFAULT_PATHS_H

#include "base/arena.h"

/* $XDG_STATE_HOME/turncast; root: /var/lib/turncast; else ~/.local/state/turncast. */
char *default_paths_state_dir(struct arena *a);
/* $TURNCAST_PLUGIN_PATH (folders joined by colons), else the installed folder; NULL-terminated.
 * Absolute, for the process of a plugin works elsewhere. */
char **default_paths_plugin_dirs(struct arena *a);
/* A relative path is one below the working directory of this process, which connector processes do
 * not share. */
char *default_paths_make_absolute(struct arena *a, const char *path);
/* The folder a file is in; absolute, too. */
char *default_paths_dirname(struct arena *a, const char *file);

#endif
