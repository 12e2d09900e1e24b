/* SPDX-License-Identifier: MIT
 * dlopen() of a checked file through its descriptor, and validation of the exported constant. Never
 * unloaded, because abandoned threads may still run in it. */
#ifndef PLUGIN_ABI_LOADER_MODULE_H
#define PLUGIN_ABI_LOADER_MODULE_H

#include <stdbool.h>

#include <turncast/plugin.h>

#include "base/attr.h"
#include "base/sys/err.h"

/* Copies of the module's structs in this host's size, with members that an older plugin lacks
 * cleared; pointers refer to the module's data. */
struct loader_module {
    struct tc_plugin plugin;
    struct tc_sink sink;
    bool keeps_file; /* the linker uses the descriptor, which must stay open for ever, even after a
                      * failure */
};

/* Opens a module through the descriptor of its file (loader_file.h), so that the checked file is
 * loaded, and checks its exported constant. Runs the constructors of the file. Never unloaded. -1
 * with err, without a place. */
int loader_module_open(struct loader_module *m, int fd, struct tc_err *err) MUST_CHECK;

#endif
