/* SPDX-License-Identifier: MIT
 * Data directory of the store: private, on a local file system, locked by one process, with 1 MiB
 * of reserve for writes on a full disk. */
#ifndef IO_STORE_STORE_DIR_H
#define IO_STORE_STORE_DIR_H

#include <stdbool.h>

#include "base/sys/err.h"

#define STORE_RESERVE (1 << 20)

struct store_dir {
    char *path;   /* resolved and absolute */
    int lock;     /* the open lock file */
    bool in_use;  /* the error is that another process has the lock */
    bool unclean; /* the last owner did not record a clean stop */
    bool reserve; /* a reserve exists */
};

/* Creates the directory (0700) if it is missing, and takes the lock. The error names the process
 * that has it. */
int store_dir_init(struct store_dir *d, const char *path, struct tc_err *err);
/* Releases the lock; `clean` says whether the next owner may trust the contents. */
void store_dir_fini(struct store_dir *d, bool clean);

/* "DIRECTORY/name", for free(). */
char *store_dir_path(const struct store_dir *d, const char *name);
/* Creates the reserve if the disk has room for it. */
void store_dir_make_reserve(struct store_dir *d);
/* Frees the reserve; false if there is none. */
bool store_dir_spend_reserve(struct store_dir *d);

/* Name of a type of file system that cannot hold a store (locks and shared memory do not work over
 * a network), or NULL. `magic` is from statfs. */
const char *store_dir_unsupported_fs(unsigned long magic);

#endif
