/* SPDX-License-Identifier: MIT
 * Locates files that are installed below share/turncast: environment override, beside this program
 * (as it was installed, or as it was built), installed directory. */
#ifndef CLI_DATA_PATH_H
#define CLI_DATA_PATH_H

#include "base/sys/err.h"

#define DATA_VARIABLE "TURNCAST_DATA" /* environment variable with the directory */

/* The path of the file `name`. Owned; NULL with err: not found. */
char *data_path_find(const char *name, struct tc_err *err);

#endif
