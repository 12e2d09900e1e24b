/* SPDX-License-Identifier: MIT
 * Finds and manages cgroup directories. */
#include "io/process/cgroup.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"

#define LEAF "host"

static bool cgroup_write_file(const char *path, const char *name, const char *text)
{
    CLEANUP_FREE char *file = xasprintf("%s/%s", path, name);
    CLEANUP_FD const int fd = open(file, O_WRONLY | O_CLOEXEC);
    return fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
}

/* Passes each line of a file to `take` until it returns a result, which is returned; or NULL. */
static char *cgroup_find_line(const char *path, char *(*take)(char *line))
{
    FILE *const f = fopen(path, "re");
    char *line = NULL, *found = NULL;
    size_t size = 0;
    while (f && !found && getline(&line, &size, f) > 0) {
        line[strcspn(line, "\n")] = '\0';
        found = take(line);
    }
    free(line);
    if (f)
        fclose(f);
    return found;
}

/* Parses "0::/system.slice/turncast.service" */
static char *cgroup_parse_own_path(char *line)
{
    return strncmp(line, "0::/", 4) == 0 ? xstrdup(line + 3) : NULL;
}

/* Parses "36 25 0:31 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw" */
static char *cgroup_parse_mount(char *line)
{
    char root[2], where[1024];
    if (!strstr(line, " - cgroup2 ") || sscanf(line, "%*s %*s %*s %1s %1023s", root, where) != 2 ||
        strchr(where, '\\'))
        return NULL;
    return xstrdup(where);
}

/* Position of this process in the hierarchy. */
static char *cgroup_read_own_path(void)
{
    return cgroup_find_line("/proc/self/cgroup", cgroup_parse_own_path);
}

/* Directory of that cgroup; NULL: not visible to this process. */
static char *cgroup_find_directory(const char *path)
{
    CLEANUP_FREE char *mount =
        path ? cgroup_find_line("/proc/self/mountinfo", cgroup_parse_mount) : NULL;
    return mount ? xasprintf("%s%s", mount, path) : NULL;
}

/* Service managers mark delegation (Delegate=yes). Write permission is not sufficient: root can
 * write to all cgroups, and must not use those of others. */
static bool cgroup_is_delegated(const char *path)
{
    char value[2] = "";
    return getxattr(path, "user.delegate", value, 1) == 1
               ? value[0] == '1'
               : getxattr(path, "trusted.delegate", value, 1) == 1 && value[0] == '1';
}

bool cgroup_enter_leaf(void)
{
    CLEANUP_FREE char *path = cgroup_read_own_path();
    CLEANUP_FREE char *base = cgroup_find_directory(path);
    if (!base || !cgroup_is_delegated(base))
        return false;
    CLEANUP_FREE char *leaf = xasprintf("%s/" LEAF, base);
    mkdir(leaf, 0755);
    if (!cgroup_write_file(leaf, "cgroup.procs", "0"))
        return false;
    cgroup_write_file(base, "cgroup.subtree_control", "+pids"); /* if that controller exists */
    return true;
}

char *cgroup_create(const char *name, int64_t max_processes)
{
    CLEANUP_FREE char *leaf = cgroup_read_own_path();
    char *const slash = leaf ? strrchr(leaf, '/') : NULL;
    if (!slash || strcmp(slash, "/" LEAF) != 0) /* finding mounts is expensive, and most processes
                                                 * have no leaf */
        return NULL;
    *slash = '\0';
    CLEANUP_FREE char *base = cgroup_find_directory(leaf);
    if (!base || !cgroup_is_delegated(base))
        return NULL;
    char *const path = xasprintf("%s/%s", base, name);
    if (mkdir(path, 0755) < 0) {
        free(path);
        return NULL;
    }
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)max_processes);
    if (max_processes)
        cgroup_write_file(path, "pids.max", text);
    return path;
}

void cgroup_attach_self(const char *path)
{
    cgroup_write_file(path, "cgroup.procs", "0");
}

void cgroup_kill(const char *path)
{
    cgroup_write_file(path, "cgroup.kill", "1");
}

static char *cgroup_parse_populated(char *line)
{
    return strcmp(line, "populated 1") == 0 ? xstrdup(line) : NULL;
}

bool cgroup_is_empty(const char *path)
{
    CLEANUP_FREE char *file = xasprintf("%s/cgroup.events", path);
    CLEANUP_FREE char *populated = cgroup_find_line(file, cgroup_parse_populated);
    return !populated;
}

void cgroup_remove(const char *path)
{
    rmdir(path);
}
