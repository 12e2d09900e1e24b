/* SPDX-License-Identifier: MIT
 * Writes private files (mode 0600) completely or not at all, and can restore the previous state if
 * a later step fails. */
#ifndef CLI_INIT_INIT_FILE_H
#define CLI_INIT_INIT_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/attr.h"
#include "base/sys/err.h"

/* A file that init wrote. */
struct init_file {
    char *path;
    char *old; /* path of the backup; NULL: the file did not exist */
};

/* Creates the directory of the path and its parents, for this user only. */
int init_file_make_directory(const char *path, struct tc_err *err) MUST_CHECK;
/* Writes the file with mode 0600. An existing file is an error, or, with `replace`, kept as
 * PATH.old. -1 with err: nothing was changed. */
int init_file_write(struct init_file *file, const char *path, const char *text, size_t len,
                    bool replace, struct tc_err *err) MUST_CHECK;
/* Restores the previous content. */
void init_file_undo(const struct init_file *file);
void init_file_fini(struct init_file *file);

#endif
