/* SPDX-License-Identifier: MIT
 * Tells the plugins that come with this package from all others. A plugin can give itself and its
 * file any name, so only the file itself counts: it is the one that was installed with this
 * program. Reads the file system; any thread. */
#ifndef PLUGIN_SHIPPED_PLUGIN_H
#define PLUGIN_SHIPPED_PLUGIN_H

#include <stdbool.h>

#include "plugin/abi/loader.h"

/* Whether the plugin is cli, jsonl, null or audit of this package: these write to files or the
 * terminal of the host, speak to no service, and run in the host unless `isolation` says otherwise.
 */
bool shipped_plugin_is_local_plugin(const struct loaded_plugin *l);

#endif
