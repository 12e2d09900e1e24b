/* SPDX-License-Identifier: MIT
 * Creates a directory and its missing parents with mode 0700. */
#ifndef BASE_SYS_DIR_H
#define BASE_SYS_DIR_H

#include "base/attr.h"
#include "base/sys/err.h"

/* The folder and those above it, 0700 where they are missing. */
int dir_create_all(const char *path, struct tc_err *err) MUST_CHECK;

#endif
