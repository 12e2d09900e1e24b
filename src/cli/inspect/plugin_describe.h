/* SPDX-License-Identifier: MIT
 * Prints a plugin's descriptor: version, ABI, callbacks, options. */
#ifndef CLI_INSPECT_PLUGIN_DESCRIBE_H
#define CLI_INSPECT_PLUGIN_DESCRIBE_H

#include <stdio.h>

#include "plugin/abi/loader.h"

/* Everything: version, ABI, callbacks, options with their defaults. */
void plugin_describe_print(FILE *out, const struct loaded_plugin *l);

#endif
