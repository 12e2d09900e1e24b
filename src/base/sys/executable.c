/* SPDX-License-Identifier: MIT
 * Searches the directories in order, as execvp does. */
#include "base/sys/executable.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"

static bool executable_may_run(const char *file)
{
    struct stat st;
    return stat(file, &st) == 0 && S_ISREG(st.st_mode) && access(file, X_OK) == 0;
}

char *executable_find(const char *name, const char *directories)
{
    if (strchr(name, '/'))
        return executable_may_run(name) ? xstrdup(name) : NULL;
    CLEANUP_FREE char *dirs = xstrdup(directories);
    for (char *save, *dir = strtok_r(dirs, ":", &save); dir; dir = strtok_r(NULL, ":", &save)) {
        char *const file = xasprintf("%s/%s", dir, name);
        if (*name && executable_may_run(file))
            return file;
        free(file);
    }
    return NULL;
}
