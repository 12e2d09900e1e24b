/* SPDX-License-Identifier: MIT
 * Helpers for the tests of the store: new folders, the log of the store, and damaged files. */
#ifndef IO_STORE_KIT_H
#define IO_STORE_KIT_H

#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/sys/log.h"
#include "io/store/store.h"
#include "tap/tap.h"

static struct tc_err why; /* the error of the last open_store */
static char log_path[600];

/* Returns a folder that only this call uses, valid until the next call. */
static inline const char *new_folder(void)
{
    static char dir[600];
    static int n;
    snprintf(dir, sizeof dir, "%s/s%d", tap_tmpdir(), n++);
    return dir;
}

static inline const char *path_in(const char *dir, const char *name)
{
    static char path[700];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return path;
}

static inline struct store *open_store(const char *dir, const char *const *schema)
{
    why = (struct tc_err){0};
    return store_open(&(struct store_spec){.dir = dir, .schema = schema}, &why);
}

static inline mode_t mode_of(const char *path)
{
    struct stat st;
    return stat(path, &st) < 0 ? 0 : st.st_mode & 07777;
}

static inline unsigned count_matches(const char *dir, const char *pattern)
{
    glob_t g;
    const bool any = glob(path_in(dir, pattern), 0, NULL, &g) == 0;
    const unsigned n = any ? (unsigned)g.gl_pathc : 0;
    if (any)
        globfree(&g);
    return n;
}

static inline bool log_contains(const char *text)
{
    char *const all = tap_slurp(log_path, NULL);
    const bool found = strstr(all, text) != NULL;
    free(all);
    return found;
}

static inline void overwrite(const char *path, off_t at, size_t n)
{
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    char *const junk = xmalloc(n);
    memset(junk, 0xa5, n);
    if (fd < 0 || pwrite(fd, junk, n, at) != (ssize_t)n)
        bail("cannot overwrite %s", path);
    free(junk);
    close(fd);
}

static inline void leave_lock(const char *dir)
{
    tap_spew(path_in(dir, "lock"), "1\n", 2);
}

static inline void truncate_file(const char *path, off_t size)
{
    if (truncate(path, size) < 0)
        bail("truncate %s", path);
}

static inline void limit_file_size(rlim_t bytes)
{
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
    setrlimit(RLIMIT_FSIZE, &limit);
}

/* Opens the log for the warnings and errors that follow. */
static inline int open_log(void)
{
    snprintf(log_path, sizeof log_path, "%s/log", tap_tmpdir());
    const int log = open(log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    log_setup(LOG_TEXT, LOG_WARN, log);
    umask(0);
    return log;
}

#endif
