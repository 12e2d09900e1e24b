/* SPDX-License-Identifier: MIT
 * Distinguishes the plugins of this package from others. A plugin can choose its name and file
 * name, so only the identity of the file counts: it must be the installed one. Reads the file
 * system; any thread. */
#ifndef PLUGIN_SHIPPED_PLUGIN_H
#define PLUGIN_SHIPPED_PLUGIN_H

#include <stdbool.h>

#include "plugin/abi/loader.h"

/* Whether the plugin is cli, jsonl, null or audit of this package: these write to files or the
 * terminal of the host, use no network service, and run in the host unless `isolation` is set
 * otherwise. */
bool shipped_plugin_is_local_plugin(const struct loaded_plugin *l);

#endif
