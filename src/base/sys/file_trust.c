/* SPDX-License-Identifier: MIT
 * Checks an open descriptor, so that the checked file is the file that is read. */
#include "base/sys/file_trust.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"

int file_trust_check(int fd, const char *path, struct tc_err *err)
{
    struct stat st;
    if (fstat(fd, &st) < 0)
        return err_set_errno(err, errno, path, "cannot read the file status");
    if (!S_ISREG(st.st_mode))
        return err_set(err, path, "is not a regular file");
    if (st.st_uid != 0 && st.st_uid != geteuid())
        return err_set(err, path, "is owned by UID %u, which could modify it; run: chown %u %s",
                       (unsigned)st.st_uid, (unsigned)geteuid(), path);
    if (st.st_mode & (S_IWGRP | S_IWOTH))
        return err_set(err, path, "is writable by other users; run: chmod go-w %s", path);
    return 0;
}

static int check_dir(const char *dir, const char *path, struct tc_err *err)
{
    struct stat st;
    if (stat(dir, &st) < 0)
        return err_set_errno(err, errno, dir, "cannot read the file status");
    if (st.st_mode & (S_IWGRP | S_IWOTH) && !(st.st_mode & S_ISVTX))
        return err_set(err, path, "directory %s is writable by other users; run: chmod go-w %s",
                       dir, dir);
    return 0;
}

int file_trust_check_parents(const char *path, struct tc_err *err)
{
    CLEANUP_FREE char *dir = xstrdup(path);
    for (char *slash; (slash = strrchr(dir, '/'));) {
        slash[slash == dir] = 0;
        if (check_dir(dir, path, err) < 0)
            return -1;
        if (slash == dir)
            break;
    }
    return 0;
}

int file_trust_open(const char *path, struct tc_err *err)
{
    CLEANUP_FREE char *real = realpath(path, NULL);
    if (!real)
        return err_set_errno(err, errno, path, "cannot open");
    if (file_trust_check_parents(real, err) < 0)
        return -1;
    /* O_NONBLOCK, because opening a FIFO must not block */
    const int fd = open(real, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return err_set_errno(err, errno, path, "cannot open");
    if (file_trust_check(fd, path, err) < 0) {
        close(fd);
        return -1;
    }
    return fd;
}
