/* SPDX-License-Identifier: MIT
 * Implements adjacent_libraries.h. */
#include "plugin/abi/adjacent_libraries.h"

#include <dirent.h>
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"

#define LIBRARIES_MAX 1000

/* The absolute path of the file, from the kernel. False: unknown. */
static bool find_folder(int plugin_fd, char path[PATH_MAX])
{
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", plugin_fd);
    const ssize_t n = readlink(link, path, PATH_MAX - 1);
    path[n > 0 ? n : 0] = '\0';
    char *const slash = *path == '/' ? strrchr(path, '/') : NULL;
    if (slash)
        slash[slash == path] = '\0';
    return slash != NULL;
}

static bool is_named_as_library(const char *name)
{
    const char *const so = strstr(name, ".so");
    const size_t len = strlen(name);
    return (len > 3 && strcmp(name + len - 3, ".so") == 0) || (so && so != name && so[3] == '.');
}

static bool is_elf_file(int folder, const char *name)
{
    CLEANUP_FD const int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat st;
    char magic[SELFMAG];
    return fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
           pread(fd, magic, SELFMAG, 0) == SELFMAG && memcmp(magic, ELFMAG, SELFMAG) == 0;
}

const char *const *adjacent_libraries_list_libraries(int plugin_fd, struct arena *a)
{
    char folder[PATH_MAX];
    const char **const paths = arena_alloc(a, (LIBRARIES_MAX + 1) * sizeof *paths);
    DIR *const dir = find_folder(plugin_fd, folder) ? opendir(folder) : NULL;
    size_t n = 0;
    for (const struct dirent *d; dir && n < LIBRARIES_MAX && (d = readdir(dir));)
        if (is_named_as_library(d->d_name) && is_elf_file(dirfd(dir), d->d_name))
            paths[n++] = arena_sprintf(a, "%s/%s", folder, d->d_name);
    if (dir)
        closedir(dir);
    return paths;
}
