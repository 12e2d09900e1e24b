/* SPDX-License-Identifier: MIT
 * Sandboxes the connector process, then loads the plugin (its constructors run restricted). */
#ifndef PLUGIN_CHILD_CHILD_LOAD_H
#define PLUGIN_CHILD_CHILD_LOAD_H

#include <sys/types.h>

#include "base/sys/err.h"
#include "plugin/abi/loader.h"
#include "plugin/ipc/ipc_frame.h"

/* Loads the plugin. Loading runs code of the file, so the process is restricted first. The process
 * ends with `parent` (0: no parent). NULL with err. */
struct loaded_plugin *child_load_plugin(const struct ipc_setup *s, pid_t parent,
                                        struct tc_err *err);

#endif
