/* SPDX-License-Identifier: MIT
 * Files that only their owner can read, written as a whole or not at all, and taken back when what
 * comes later fails. */
#ifndef CLI_INIT_INIT_FILE_H
#define CLI_INIT_INIT_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/attr.h"
#include "base/sys/err.h"

/* A file that init wrote. */
struct init_file {
    char *path;
    char *old; /* where the one before is kept; NULL: there was none */
};

/* Creates the directory of the path, with those above it, for this user only. */
int init_file_make_directory(const char *path, struct tc_err *err) MUST_CHECK;
/* Writes the file with mode 0600. One that is there is an error, or with `replace` kept beside it
 * as PATH.old. -1 with err: nothing was changed. */
int init_file_write(struct init_file *file, const char *path, const char *text, size_t len,
                    bool replace, struct tc_err *err) MUST_CHECK;
/* Restores the earlier content. */
void init_file_undo(const struct init_file *file);
void init_file_fini(struct init_file *file);

#endif
