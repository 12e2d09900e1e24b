/* SPDX-License-Identifier: MIT
 * Data directory of the store: private, on a local file system, locked by one process, with 1 MiB
 * of reserve for writes on a full disk. */
#ifndef IO_STORE_STORE_DIR_H
#define IO_STORE_STORE_DIR_H

#include <stdbool.h>

#include "base/sys/err.h"

#define STORE_RESERVE (1 << 20)

struct store_dir {
    char *path;   /* real and absolute */
    int lock;     /* the open lock file */
    bool in_use;  /* another process has it: that is the error */
    bool unclean; /* the last owner never said that it stopped */
    bool reserve; /* there is one to spend */
};

/* Makes the folder (0700) when it is missing and takes the lock. The error names the process
 * that has it. */
int store_dir_init(struct store_dir *d, const char *path, struct tc_err *err);
/* Gives the lock up; `clean` says whether the next owner may trust what is in the folder. */
void store_dir_fini(struct store_dir *d, bool clean);

/* "folder/name", for free(). */
char *store_dir_path(const struct store_dir *d, const char *name);
/* Makes the reserve if the disk has room for it. */
void store_dir_make_reserve(struct store_dir *d);
/* Frees the reserve; false when there is none. */
bool store_dir_spend_reserve(struct store_dir *d);

/* The name of a kind of file system that cannot carry a store (locks and shared memory do not
 * reach over a network), or NULL. `magic` as statfs gives it. */
const char *store_dir_unsupported_fs(unsigned long magic);

#endif
