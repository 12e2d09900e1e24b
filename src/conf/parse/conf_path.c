/* SPDX-License-Identifier: MIT
 * Expands ~ and relative paths. Reads the environment and the user database only. */
#include "conf/parse/conf_path.h"

#include <pwd.h>
#include <stdlib.h>
#include <unistd.h>

const char *conf_path_home(void)
{
    const char *const home = getenv("HOME");
    if (home && *home == '/')
        return home;
    const struct passwd *const user = getpwuid(geteuid());
    return user ? user->pw_dir : "/";
}

char *conf_path_resolve(struct arena *a, const char *dir, const char *path)
{
    if (path[0] == '~' && (path[1] == '/' || !path[1]))
        return arena_sprintf(a, "%s%s", conf_path_home(), path + 1);
    if (*path == '/' || !dir)
        return arena_strdup(a, path);
    return arena_sprintf(a, "%s/%s", dir, path);
}
