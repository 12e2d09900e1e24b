/* SPDX-License-Identifier: MIT
 * Ownership and permission check of files that the host obeys (configuration, plugins): only root
 * or the current user may be able to change them. Works on the open descriptor, so the file that
 * was checked is the file that is read (no TOCTOU race). */
#ifndef BASE_SYS_FILE_TRUST_H
#define BASE_SYS_FILE_TRUST_H

#include "base/attr.h"
#include "base/sys/err.h"

/* Checks that the open file is regular, owned by root or by this user, and not writable by group or
 * others. `path` is for the message, which contains the remedy. */
int file_trust_check(int fd, const char *path, struct tc_err *err) MUST_CHECK;
/* Checks that no directory above the absolute path is writable by group or others, unless it is
 * sticky (like /tmp), where only owners can replace files. */
int file_trust_check_parents(const char *path, struct tc_err *err) MUST_CHECK;
/* Follows symbolic links, checks file and directories, and opens for reading: a descriptor owned by
 * the caller, or -1. */
int file_trust_open(const char *path, struct tc_err *err) MUST_CHECK;

#endif
