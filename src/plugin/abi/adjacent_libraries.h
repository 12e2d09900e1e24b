/* SPDX-License-Identifier: MIT
 * The shared libraries in the directory of a plugin's file. A plugin may be linked with libraries
 * beside it, so its process must be able to read these files, but no others in the directory, such
 * as configurations or keys. Reads the disk; any thread. */
#ifndef PLUGIN_ABI_ADJACENT_LIBRARIES_H
#define PLUGIN_ABI_ADJACENT_LIBRARIES_H

#include "base/arena.h"

/* The absolute paths of all regular files NAME.so and NAME.so.VERSION, ELF files by their content,
 * in the folder of the file behind `plugin_fd`; ends with NULL. Excludes links, and files beyond a
 * limit. Empty if the directory is unknown or unreadable. */
const char *const *adjacent_libraries_list_libraries(int plugin_fd, struct arena *a);

#endif
