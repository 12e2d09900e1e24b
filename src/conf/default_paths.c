/* SPDX-License-Identifier: MIT
 * Finds state, plugins and configuration. */
#include "conf/default_paths.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "conf/conf.h"
#include "conf/parse/conf_path.h"

/* The variable's value if it is an absolute path, as the XDG specification demands. */
static const char *env_dir(const char *name)
{
    const char *value = getenv(name);
    return value && *value == '/' ? value : NULL;
}

char *default_paths_state_dir(struct arena *a)
{
    const char *state = env_dir("XDG_STATE_HOME");
    if (state)
        return arena_sprintf(a, "%s/turncast", state);
    if (geteuid() == 0)
        return arena_strdup(a, "/var/lib/turncast");
    return arena_sprintf(a, "%s/.local/state/turncast", conf_path_home());
}

char *default_paths_make_absolute(struct arena *a, const char *path)
{
    char *const here = *path == '/' ? NULL : getcwd(NULL, 0);
    while (here && path[0] == '.' && path[1] == '/' && path[2] != '/')
        path += 2;
    char *const whole = here ? arena_sprintf(a, "%s/%s", here, path) : arena_strdup(a, path);
    free(here);
    return whole;
}

/* The non-empty parts between colons. */
static char **split(struct arena *a, const char *list)
{
    size_t n = 2;
    for (const char *p = list; *p; p++)
        n += *p == ':';
    char **const dirs = arena_alloc(a, n * sizeof *dirs);
    char **to = dirs;
    for (char *save, *dir = strtok_r(arena_strdup(a, list), ":", &save); dir;
         dir = strtok_r(NULL, ":", &save))
        *to++ = default_paths_make_absolute(a, dir);
    return dirs;
}

char **default_paths_plugin_dirs(struct arena *a)
{
    const char *path = getenv("TURNCAST_PLUGIN_PATH");
    return split(a, path && *path ? path : TURNCAST_PLUGINDIR);
}

char *default_paths_dirname(struct arena *a, const char *file)
{
    char *const whole = default_paths_make_absolute(a, file);
    char *const slash = strrchr(whole, '/');
    if (!slash)
        return arena_strdup(a, ".");
    slash[slash == whole] = '\0';
    return whole;
}

char *conf_user_path(void)
{
    const char *named = getenv("TURNCAST_CONFIG");
    if (named && *named)
        return xstrdup(named);
    const char *config = env_dir("XDG_CONFIG_HOME");
    return config ? xasprintf("%s/turncast/turncast.conf", config)
                  : xasprintf("%s/.config/turncast/turncast.conf", conf_path_home());
}

char *conf_default_path(void)
{
    const char *named = getenv("TURNCAST_CONFIG");
    char *user = conf_user_path();
    if ((named && *named) || access(user, F_OK) == 0)
        return user;
    free(user);
    return access(TURNCAST_SYSCONFDIR "/turncast.conf", F_OK) == 0
               ? xstrdup(TURNCAST_SYSCONFDIR "/turncast.conf")
               : NULL;
}
