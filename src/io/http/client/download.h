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
    char *path; /* owned; NULL: no file was created */
    int fd;
    size_t len;
};

/* The directory must exist. -1: errno has the reason. */
int download_open(struct download *d, const char *dir);
/* -1: write error, or too large. */
int download_write(struct download *d, const void *p, size_t n);
/* Closes the file, and removes it unless it is to be kept. A struct of zeros is allowed. */
void download_finish(struct download *d, bool keep);
/* Whether a download could have that name, without its directory. */
bool download_is_name(const char *name);

/* Removes downloads in the directory that are older, by the wall clock; returns their number. */
size_t download_remove_old(const char *dir, int64_t older_than_s);

#endif
