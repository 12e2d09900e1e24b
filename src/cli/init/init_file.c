/* SPDX-License-Identifier: MIT
 * Replaces files in steps whose order ensures that the path always names a complete file. */
#include "cli/init/init_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"

int init_file_make_directory(const char *path, struct tc_err *err)
{
    CLEANUP_FREE char *dir = xstrdup(path);
    char *const last = strrchr(dir, '/');
    if (!last || last == dir)
        return 0;
    *last = '\0';
    for (char *slash = dir; (slash = strchr(slash + 1, '/')); *slash = '/') {
        *slash = '\0';
        if (mkdir(dir, 0700) < 0 && errno != EEXIST)
            return err_set_errno(err, errno, dir, "cannot create the directory");
    }
    if (mkdir(dir, 0700) < 0 && errno != EEXIST)
        return err_set_errno(err, errno, dir, "cannot create the directory");
    return 0;
}

static int init_file_fill(const char *path, const char *text, size_t len, struct tc_err *err)
{
    unlink(path); /* left by an interrupted run */
    CLEANUP_FD const int fd =
        open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_set_errno(err, errno, path, "cannot create");
    while (len > 0) {
        const ssize_t n = write(fd, text, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_set_errno(err, errno, path, "cannot write");
        text += n;
        len -= (size_t)n;
    }
    return fsync(fd) < 0 ? err_set_errno(err, errno, path, "cannot write") : 0;
}

/* Keeps the existing file as a backup. */
static int init_file_rename_old(struct init_file *file, struct tc_err *err)
{
    char *const old = xasprintf("%s.old", file->path);
    if (access(file->path, F_OK) < 0) {
        free(old);
        return 0;
    }
    if (rename(file->path, old) < 0) {
        free(old);
        return err_set_errno(err, errno, file->path, "cannot rename");
    }
    file->old = old;
    return 0;
}

static int init_file_place(struct init_file *file, const char *fresh, bool replace,
                           struct tc_err *err)
{
    if (replace && init_file_rename_old(file, err) < 0)
        return -1;
    if (link(fresh, file->path) == 0) /* unlike rename(2), fails if the target exists */
        return 0;
    const int why = errno;
    if (file->old)
        init_file_undo(file);
    return why == EEXIST ? err_set(err, file->path, "exists; use --force to replace it")
                         : err_set_errno(err, why, file->path, "cannot create");
}

int init_file_write(struct init_file *file, const char *path, const char *text, size_t len,
                    bool replace, struct tc_err *err)
{
    CLEANUP_FREE char *fresh = xasprintf("%s.new", path);
    *file = (struct init_file){.path = xstrdup(path)};
    int rc = init_file_fill(fresh, text, len, err);
    if (rc == 0)
        rc = init_file_place(file, fresh, replace, err);
    unlink(fresh);
    if (rc < 0)
        init_file_fini(file);
    return rc;
}

void init_file_undo(const struct init_file *file)
{
    if (file->old)
        rename(file->old, file->path);
    else
        unlink(file->path);
}

void init_file_fini(struct init_file *file)
{
    free(file->path);
    free(file->old);
    *file = (struct init_file){0};
}
