/* SPDX-License-Identifier: MIT
 * Makes a folder with everything above it. */
#include "base/sys/dir.h"

#include <errno.h>
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
