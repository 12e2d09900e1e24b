/* SPDX-License-Identifier: MIT
 * Creates and removes directories. */
#include "base/sys/dir.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/cleanup.h"

int dir_create_all(const char *path, struct tc_err *err)
{
    CLEANUP_FREE char *part = xstrdup(path);
    for (char *p = part; *p; p++) {
        if (*p != '/' || p == part)
            continue;
        *p = 0;
        if (mkdir(part, 0700) < 0 && errno != EEXIST)
            return err_set_errno(err, errno, part, "cannot create the directory");
        *p = '/';
    }
    if (mkdir(part, 0700) < 0 && errno != EEXIST)
        return err_set_errno(err, errno, part, "cannot create the directory");
    return 0;
}

char *dir_create_temporary(struct tc_err *err)
{
    const char *const parent = getenv("TMPDIR");
    char *const path = xasprintf("%s/turncast.XXXXXX", parent && *parent ? parent : "/tmp");
    if (mkdtemp(path))
        return path;
    err_set_errno(err, errno, path, "cannot create the directory");
    free(path);
    return NULL;
}

static int dir_remove_one(const char *path, const struct stat *st, int kind, struct FTW *place)
{
    (void)st;
    (void)kind;
    (void)place;
    remove(path);
    return 0;
}

#define DIR_OPEN_MAX 16 /* limit of descriptors of a walk */

void dir_remove_all(const char *path)
{
    nftw(path, dir_remove_one, DIR_OPEN_MAX, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}
