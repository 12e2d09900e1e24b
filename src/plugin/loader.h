/* SPDX-License-Identifier: MIT
 * Finds plugin files, checks them, loads them and copies out what the ABI allows. */
#ifndef PLUGIN_LOADER_H
#define PLUGIN_LOADER_H

#include <turncast/plugin.h>

#include "base/err.h"

/* A loaded plugin: the host's own full-size copies of its structs, members that an older plugin
 * does not have cleared. The code behind it stays until the process ends: threads that were
 * abandoned may still run in it. */
struct loaded {
    char *path;
    struct tc_plugin plugin;
    struct tc_sink sink;
};

/* Loads the .so at `path`: refuses what is not a regular file of the right ELF class and
 * machine, what others may write to (the file or a directory above it), a missing
 * turncast_plugin, another major, a newer minor, a bad name or option table. NULL with err: one
 * line, what and why. The caller owns it; the same file may be loaded any number of times. */
struct loaded *loader_open(const char *path, struct tc_err *err);
/* DIR/NAME.so in the first directory that has it; a name with a slash or ending in .so is a path.
 */
struct loaded *loader_find(const char *name, const char *const *dirs, struct tc_err *err);
void loader_free(struct loaded *l);
/* Calls fn with the path of every *.so in the directories, sorted. */
void loader_scan(const char *const *dirs, void (*fn)(void *ctx, const char *path), void *ctx);

#endif
