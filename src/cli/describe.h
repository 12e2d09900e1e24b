/* SPDX-License-Identifier: MIT
 * A plugin in words: what its file declares. */
#ifndef CLI_DESCRIBE_H
#define CLI_DESCRIBE_H

#include <stdio.h>

#include "plugin/loader.h"

/* Everything: version, ABI, callbacks, options with their defaults. */
void describe_plugin(FILE *out, const struct loaded *l);

#endif
