/* SPDX-License-Identifier: MIT
 * Owns where programs of this package are looked for. */
#include "io/process/libexec.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"

static char *if_runs(char *path)
{
    if (access(path, X_OK) == 0)
        return path;
    free(path);
    return NULL;
}

/* The folder of this program; false: not told. */
static bool find_self(char *self, size_t size)
{
    const ssize_t n = readlink("/proc/self/exe", self, size - 1);
    self[n > 0 ? n : 0] = '\0';
    char *const slash = strrchr(self, '/');
    if (slash)
        *slash = '\0';
    return slash;
}

/* An installation may have been moved: what this program was configured with comes last. */
static char *libexec_search_dirs(const char *name)
{
    char self[4096], *path = NULL;
    if (find_self(self, sizeof self)) {
        path = if_runs(xasprintf("%s/%s", self, name));
        if (!path)
            path = if_runs(xasprintf("%s/../libexec/turncast/%s", self, name));
    }
    return path ? path : if_runs(xasprintf(TURNCAST_LIBEXECDIR "/%s", name));
}

char *libexec_find(const char *name, const char *variable, const char *place, struct tc_err *err)
{
    const char *const named = getenv(variable);
    char *const path = named ? if_runs(xstrdup(named)) : libexec_search_dirs(name);
    if (!path)
        err_set(err, place,
                "helper program %s is not installed in the expected directory; reinstall turncast",
                name);
    return path;
}
