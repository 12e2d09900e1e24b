/* SPDX-License-Identifier: MIT
 * The lock file and the reserve file. The lock file contains the process id of the owner, and is
 * empty after a clean stop. */
#include "io/store/store_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/sys/dir.h"
#include "base/sys/file_trust.h"
#include "base/sys/log.h"

const char *store_dir_unsupported_fs(unsigned long magic)
{
    static const struct {
        unsigned long magic;
        const char *name;
    } refused[] = {
        {0x6969, "NFS"},        {0x517b, "SMB"},      {0xfe534d42, "SMB2"}, {0xff534d42, "CIFS"},
        {0x5346414f, "AFS"},    {0x6b414653, "AFS"},  {0x01021997, "9P"},   {0x00c36400, "Ceph"},
        {0x0bd00bd0, "Lustre"}, {0x73757245, "Coda"},
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (refused[i].magic == (magic & 0xffffffff))
            return refused[i].name;
    return NULL;
}

char *store_dir_path(const struct store_dir *d, const char *name)
{
    return xasprintf("%s/%s", d->path, name);
}

static int check_owner(const char *path, struct tc_err *err)
{
    struct stat st;
    if (stat(path, &st) < 0)
        return err_set_errno(err, errno, path, "cannot read the file status");
    if (st.st_uid != geteuid())
        return err_set(err, path, "is owned by UID %u, but turncast runs as UID %u",
                       (unsigned)st.st_uid, (unsigned)geteuid());
    /* Not even with the sticky bit: others could create files with our names. */
    if (st.st_mode & (S_IWGRP | S_IWOTH))
        return err_set(err, path, "is writable by other users; run: chmod 700 %s", path);
    return 0;
}

static int store_dir_check_filesystem(const char *path, struct tc_err *err)
{
    struct statfs fs;
    if (statfs(path, &fs) < 0)
        return err_set_errno(err, errno, path, "cannot read the file status");
    const char *const refused = store_dir_unsupported_fs((unsigned long)fs.f_type);
    if (refused)
        return err_set(err, path, "is on a %s file system; state_directory must be on a local disk",
                       refused);
    return 0;
}

static int check_place(const struct store_dir *d, struct tc_err *err)
{
    CLEANUP_FREE char *file = store_dir_path(d, "lock");
    if (check_owner(d->path, err) < 0 || store_dir_check_filesystem(d->path, err) < 0)
        return -1;
    return file_trust_check_parents(file, err);
}

static int store_dir_acquire_lock(struct store_dir *d, struct tc_err *err)
{
    CLEANUP_FREE char *file = store_dir_path(d, "lock");
    d->lock = open(file, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (d->lock < 0)
        return err_set_errno(err, errno, file, "cannot open");
    if (file_trust_check(d->lock, file, err) < 0)
        return -1;
    char owner[24] = "";
    const bool taken = flock(d->lock, LOCK_EX | LOCK_NB) == 0;
    const int no = errno;
    const ssize_t n = pread(d->lock, owner, sizeof owner - 1, 0);
    owner[n > 0 ? n : 0] = 0;
    d->in_use = !taken && no == EWOULDBLOCK;
    if (d->in_use)
        return err_set(
            err, d->path,
            "is in use by another turncast (process %ld); stop it, or use another state_directory",
            strtol(owner, NULL, 10));
    if (!taken)
        return err_set_errno(err, no, file, "cannot lock");
    d->unclean = n != 0;
    return 0;
}

static int store_dir_write_lock_owner(const struct store_dir *d, struct tc_err *err)
{
    char text[24];
    const int n = snprintf(text, sizeof text, "%ld\n", (long)getpid());
    if (ftruncate(d->lock, 0) < 0 || pwrite(d->lock, text, (size_t)n, 0) != n)
        return err_set_errno(err, errno, d->path, "cannot write the lock file");
    return 0;
}

void store_dir_make_reserve(struct store_dir *d)
{
    if (d->reserve)
        return;
    CLEANUP_FREE char *file = store_dir_path(d, "reserve");
    CLEANUP_FD const int fd =
        open(file, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    d->reserve = fd >= 0 && posix_fallocate(fd, 0, STORE_RESERVE) == 0;
    if (!d->reserve)
        unlink(file);
}

bool store_dir_spend_reserve(struct store_dir *d)
{
    CLEANUP_FREE char *file = store_dir_path(d, "reserve");
    const bool spent = d->reserve && unlink(file) == 0;
    d->reserve = false;
    return spent;
}

int store_dir_init(struct store_dir *d, const char *path, struct tc_err *err)
{
    *d = (struct store_dir){.lock = -1};
    if (dir_create_all(path, err) < 0)
        return -1;
    d->path = realpath(path, NULL);
    if (!d->path)
        return err_set_errno(err, errno, path, "cannot open");
    if (check_place(d, err) < 0 || store_dir_acquire_lock(d, err) < 0 ||
        store_dir_write_lock_owner(d, err) < 0) {
        /* Keeps the contents of the last owner's lock, because this process has not used the
         * store. */
        store_dir_fini(d, false);
        return -1;
    }
    store_dir_make_reserve(d);
    if (!d->reserve)
        log_write(LOG_WARN, "store", "%s: cannot reserve %d bytes for a full disk; free disk space",
                  d->path, STORE_RESERVE);
    return 0;
}

void store_dir_fini(struct store_dir *d, bool clean)
{
    if (d->lock >= 0) {
        if (clean && ftruncate(d->lock, 0) < 0)
            log_write(LOG_WARN, "store", "%s: cannot clear the lock file", d->path);
        close(d->lock);
    }
    free(d->path);
    *d = (struct store_dir){.lock = -1, .in_use = d->in_use};
}
