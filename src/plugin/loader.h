/* SPDX-License-Identifier: MIT
 * Finds plugin files, checks them, loads them and copies out what the ABI allows. */
#ifndef PLUGIN_LOADER_H
#define PLUGIN_LOADER_H

#include <stdbool.h>
#include <stdint.h>

#include <turncast/plugin.h>

#include "base/err.h"
#include "conf/conf.h"

/* Which file it was. */
struct loader_file {
    uint64_t dev, ino, size;
    int64_t mtime_ns;
};

/* A loaded plugin: the host's own full-size copies of its structs, members that an older plugin
 * does not have cleared. The code behind it stays until the process ends: threads that were
 * abandoned may still run in it. */
struct loaded {
    char *path;
    struct loader_file file;
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
/* The path loader_find would open. Owned; NULL with err. */
char *loader_locate(const char *name, const char *const *dirs, struct tc_err *err);
/* Another one of the same code. */
struct loaded *loader_copy(const struct loaded *l);
/* What lies at its path is the file that was loaded. */
bool loader_is_current(const struct loaded *l);
/* It was written over where it lies: the linker would give the old code for it. */
bool loader_is_overwritten(const struct loaded *l);
void loader_free(struct loaded *l); /* NULL is fine */
/* Loads the .so in a process of its own, which a damaged file may end. -1 with err. */
int loader_probe(const char *path, struct tc_err *err) __attribute__((__warn_unused_result__));
/* Whether its options could be filled from the instance's. -1 with err, its place file:line. */
int loader_try_options(const struct loaded *l, const struct conf_instance *inst, const char *file,
                       struct tc_err *err) __attribute__((__warn_unused_result__));
/* Calls fn with the path of every *.so in the directories, sorted. */
void loader_scan(const char *const *dirs, void (*fn)(void *ctx, const char *path), void *ctx);

#endif
