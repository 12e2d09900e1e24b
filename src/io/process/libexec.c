/* SPDX-License-Identifier: MIT
 * Finds helper programs of this package. */
#include "io/process/libexec.h"

#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"

static char *libexec_check_executable(char *path)
{
    if (access(path, X_OK) == 0)
        return path;
    free(path);
    return NULL;
}

/* Directory of this program; false: unknown. */
static bool libexec_find_own_directory(char *self, size_t size)
{
    const ssize_t n = readlink("/proc/self/exe", self, size - 1);
    self[n > 0 ? n : 0] = '\0';
    char *const slash = strrchr(self, '/');
    if (slash)
        *slash = '\0';
    return slash;
}

/* The installation may have been moved: the configured path is tried last. */
static char *libexec_search_dirs(const char *name)
{
    char self[4096], *path = NULL;
    if (libexec_find_own_directory(self, sizeof self)) {
        path = libexec_check_executable(xasprintf("%s/%s", self, name));
        if (!path)
            path = libexec_check_executable(xasprintf("%s/../libexec/turncast/%s", self, name));
    }
    return path ? path : libexec_check_executable(xasprintf(TURNCAST_LIBEXECDIR "/%s", name));
}

char *libexec_find(const char *name, const char *variable, const char *place, struct tc_err *err)
{
    const char *const named = getenv(variable);
    char *const path = named ? libexec_check_executable(xstrdup(named)) : libexec_search_dirs(name);
    if (!path)
        err_set(err, place,
                "helper program %s is not installed in the expected directory; reinstall turncast",
                name);
    return path;
}

int libexec_spawn(pid_t *pid, const char *program, const posix_spawn_file_actions_t *files,
                  short flags, char *const *argv, char *const *env)
{
    sigset_t none, all;
    posix_spawnattr_t attr;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_init(&attr);
    posix_spawnattr_setsigmask(&attr, &none);
    posix_spawnattr_setsigdefault(&attr, &all);
    posix_spawnattr_setpgroup(&attr, 0);
    int rc = posix_spawnattr_setflags(
        &attr, (short)(flags | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF));
    rc = rc ? rc : posix_spawn(pid, program, files, &attr, argv, env);
    posix_spawnattr_destroy(&attr);
    return rc;
}
