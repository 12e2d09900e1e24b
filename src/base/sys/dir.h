/* SPDX-License-Identifier: MIT
 * Creates directories, with mode 0700, and removes them. */
#ifndef BASE_SYS_DIR_H
#define BASE_SYS_DIR_H

#include "base/attr.h"
#include "base/sys/err.h"

/* Creates the directory and its missing parents, 0700. */
int dir_create_all(const char *path, struct tc_err *err) MUST_CHECK;
/* A new directory for temporary files, below $TMPDIR or /tmp. Owned; NULL with err. */
char *dir_create_temporary(struct tc_err *err);
/* Removes the directory and its contents, as far as permitted. Does not follow links. */
void dir_remove_all(const char *path);

#endif
