/* SPDX-License-Identifier: MIT
 * Checks a connector file before the dynamic linker sees it: owner and permissions, ELF class and
 * machine, load segments inside the file. */
#ifndef PLUGIN_ABI_LOADER_FILE_H
#define PLUGIN_ABI_LOADER_FILE_H

#include "base/attr.h"
#include "base/sys/err.h"

/* Opens and checks: no symbolic link, not writable by others (base/sys/file_trust.h), an ELF module
 * for this machine whose load segments are inside the file. A descriptor owned by the caller, or -1
 * with err. */
int loader_file_open(const char *path, struct tc_err *err) MUST_CHECK;

#endif
