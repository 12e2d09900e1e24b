/* SPDX-License-Identifier: MIT
 * Checks a connector file before the dynamic linker sees it: owner and permissions, ELF class and
 * machine, load segments inside the file. */
#ifndef PLUGIN_ABI_LOADER_FILE_H
#define PLUGIN_ABI_LOADER_FILE_H

#include "base/attr.h"
#include "base/sys/err.h"

/* Opens and checks: no symbolic link, nothing others may change (base/sys/file_trust.h), an ELF
 * module of this machine with all it wants loaded inside the file. A descriptor owned by the
 * caller, or -1 with err. */
int loader_file_open(const char *path, struct tc_err *err) MUST_CHECK;

#endif
