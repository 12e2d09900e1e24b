/* SPDX-License-Identifier: MIT
 * Finds installed data files. */
#include "cli/data_path.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"

static char *data_path_check_readable(char *path)
{
    if (access(path, R_OK) == 0)
        return path;
    free(path);
    return NULL;
}

/* Searches beside this program: the installation may have been moved, and in a build directory,
 * share/ is in the source tree. */
static char *data_path_beside(const char *name)
{
    char self[4096];
    const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n > 0 ? n : 0] = '\0';
    char *const slash = strrchr(self, '/');
    if (!slash)
        return NULL;
    *slash = '\0';
    char *const path = data_path_check_readable(xasprintf("%s/../share/turncast/%s", self, name));
    return path ? path : data_path_check_readable(xasprintf("%s/../share/%s", self, name));
}

char *data_path_find(const char *name, struct tc_err *err)
{
    const char *const named = getenv(DATA_VARIABLE);
    char *path =
        named ? data_path_check_readable(xasprintf("%s/%s", named, name)) : data_path_beside(name);
    if (!path && !named)
        path = data_path_check_readable(xasprintf(TURNCAST_DATADIR "/%s", name));
    if (!path)
        err_set(err, name, "is not in %s; reinstall turncast, or set " DATA_VARIABLE,
                named ? named : TURNCAST_DATADIR);
    return path;
}
