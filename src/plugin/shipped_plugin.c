/* SPDX-License-Identifier: MIT
 * Finds the plugins of this package: in the configured directory, or where this program and
 * turncast-connector were built or installed together. Whoever sets turncast-connector's path by
 * the environment variable controls the program that runs all plugins, so that path may also
 * determine the directory. */
#include "plugin/shipped_plugin.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "io/process/libexec.h"
#include "plugin/abi/connector_program.h"

static bool is_same_file(const struct loaded_plugin *l, const char *folder, const char *name)
{
    CLEANUP_FREE char *path = xasprintf("%s/%s", folder, name);
    struct stat st;
    return lstat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_dev == l->file.dev &&
           st.st_ino == l->file.ino;
}

static bool is_beside_connector(const struct loaded_plugin *l, const char *name)
{
    static const char *const folders[] = {"plugins/.libs", "../../lib/turncast"};
    struct tc_err err;
    CLEANUP_FREE char *program = libexec_find(CONNECTOR_PROGRAM, CONNECTOR_VARIABLE, NULL, &err);
    char *const slash = program ? strrchr(program, '/') : NULL;
    if (!slash)
        return false;
    *slash = '\0';
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        CLEANUP_FREE char *folder = xasprintf("%s/%s", program, folders[i]);
        if (is_same_file(l, folder, name))
            return true;
    }
    return false;
}

bool shipped_plugin_is_local_plugin(const struct loaded_plugin *l)
{
    static const char *const names[] = {"cli.so", "jsonl.so", "null.so", "audit.so"};
    const char *const slash = strrchr(l->path, '/');
    const char *const name = slash ? slash + 1 : l->path;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return is_same_file(l, TURNCAST_PLUGINDIR, name) || is_beside_connector(l, name);
    return false;
}
