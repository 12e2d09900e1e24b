/* SPDX-License-Identifier: MIT
 * Names, creates and deletes downloaded files. */
#include "io/http/client/download.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/sys/clock.h"

/* Prefix that distinguishes our files from others in the directory. */
#define PREFIX "file-"
#define NAME_LEN (sizeof PREFIX - 1 + 32)

static int download_generate_name(char name[NAME_LEN + 1])
{
    unsigned char random[16];
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
        return -1;
    int at = snprintf(name, NAME_LEN + 1, PREFIX);
    for (size_t i = 0; i < sizeof random; i++)
        at += snprintf(name + at, NAME_LEN + 1 - (size_t)at, "%02x", random[i]);
    return 0;
}

int download_open(struct download *d, const char *dir)
{
    char name[NAME_LEN + 1];
    *d = (struct download){.fd = -1};
    if (download_generate_name(name) < 0)
        return -1;
    char *const path = xasprintf("%s/%s", dir, name);
    d->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (d->fd < 0) {
        const int no = errno;
        free(path);
        errno = no;
        return -1;
    }
    d->path = path;
    return 0;
}

int download_write(struct download *d, const void *p, size_t n)
{
    const char *at = p;
    if (n > DOWNLOAD_MAX_BYTES - d->len)
        return -1;
    for (size_t left = n; left;) {
        const ssize_t done = write(d->fd, at, left);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return -1;
        at += done;
        left -= (size_t)done;
    }
    d->len += n;
    return 0;
}

void download_finish(struct download *d, bool keep)
{
    if (!d->path)
        return;
    close(d->fd);
    if (!keep)
        unlink(d->path);
    free(d->path);
    *d = (struct download){.fd = -1};
}

bool download_is_name(const char *name)
{
    return strlen(name) == NAME_LEN && strncmp(name, PREFIX, sizeof PREFIX - 1) == 0 &&
           strspn(name + sizeof PREFIX - 1, "0123456789abcdef") == 32;
}

size_t download_remove_old(const char *dir, int64_t older_than_s)
{
    size_t removed = 0;
    DIR *const d = opendir(dir);
    if (!d)
        return 0;
    const int64_t before = (int64_t)clock_wall_s() - older_than_s;
    const struct dirent *entry;
    while ((entry = readdir(d))) {
        struct stat st;
        if (download_is_name(entry->d_name) &&
            fstatat(dirfd(d), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISREG(st.st_mode) && st.st_mtime < before &&
            unlinkat(dirfd(d), entry->d_name, 0) == 0)
            removed++;
    }
    closedir(d);
    return removed;
}
