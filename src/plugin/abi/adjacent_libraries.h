/* SPDX-License-Identifier: MIT
 * The shared libraries in the folder of a plugin's file. A plugin that is linked against libraries
 * of its own keeps them there, so its process has to be able to read these files, and no others of
 * the folder: a configuration or a key may lie in the same place. Reads the disk; any thread. */
#ifndef PLUGIN_ABI_ADJACENT_LIBRARIES_H
#define PLUGIN_ABI_ADJACENT_LIBRARIES_H

#include "base/arena.h"

/* The absolute paths of all regular files NAME.so and NAME.so.VERSION, ELF files by their content,
 * in the folder of the file behind `plugin_fd`; ends with NULL. Links are left out, as are files
 * beyond a cap. Empty when the folder is not known or cannot be read. */
const char *const *adjacent_libraries_list_libraries(int plugin_fd, struct arena *a);

#endif
