/* SPDX-License-Identifier: MIT
 * Response body saved to a new file (random name, mode 0600, at most 20 MiB); the file is deleted
 * unless the caller keeps it. */
#ifndef IO_HTTP_CLIENT_DOWNLOAD_H
#define IO_HTTP_CLIENT_DOWNLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DOWNLOAD_MAX_BYTES = 20 << 20 };

struct download {
    char *path; /* owned; NULL: no file was made */
    int fd;
    size_t len;
};

/* The folder has to be there. -1: errno says why. */
int download_open(struct download *d, const char *dir);
/* -1: it cannot be written or is too big. */
int download_write(struct download *d, const void *p, size_t n);
/* Closes the file, and removes it unless it is to be kept. An all-zero download is fine. */
void download_finish(struct download *d, bool keep);

/* Removes downloads of the folder that are older, by the wall clock; returns how many. */
size_t download_remove_old(const char *dir, int64_t older_than_s);

#endif
