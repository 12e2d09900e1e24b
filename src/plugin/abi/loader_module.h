/* SPDX-License-Identifier: MIT
 * dlopen() of a checked file through its descriptor, and validation of the exported constant.
 * Never unloaded: abandoned threads may still run in it. */
#ifndef PLUGIN_ABI_LOADER_MODULE_H
#define PLUGIN_ABI_LOADER_MODULE_H

#include <stdbool.h>

#include <turncast/plugin.h>

#include "base/attr.h"
#include "base/sys/err.h"

/* Copies of the module's structs in this host's size, members that an older plugin does not have
 * cleared; what they point to is the module's. */
struct loader_module {
    struct tc_plugin plugin;
    struct tc_sink sink;
    bool keeps_file; /* its descriptor is the linker's: to stay open for ever, failed or not */
};

/* Opens a module through the descriptor of its file (loader_file.h), so that what was checked is
 * what is loaded, and checks the constant it exports. Runs what the file has to run as it is
 * loaded, whatever that is. Never undone: threads that were abandoned may still run in it. -1 with
 * err, without a place. */
int loader_module_open(struct loader_module *m, int fd, struct tc_err *err) MUST_CHECK;

#endif
