/* SPDX-License-Identifier: MIT
 * Files of a prompt (core/conversation/prompt.h) that the gateway has downloaded and the runner
 * fetches: finds them in a prompt, puts other lines in their place, and formats and parses the
 * request "file" and its reply. Pure. */
#ifndef CORE_WORK_WORK_FILES_H
#define CORE_WORK_WORK_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/bytes/buf.h"
#include "base/str.h"

/* Files of one turn; further ones are not fetched. */
#define WORK_FILES_MAX 64
/* Bytes of a reply: servers take messages of at most 1 MiB. */
#define WORK_FILES_CHUNK_BYTES ((size_t)512 << 10)

/* Appends the paths, a line each, of the prompt's files that the host has downloaded into the
 * directory. A person can write such a line, too: only a name that the host could have made counts.
 */
void work_files_find(struct buf *paths, struct str prompt, const char *dir);
/* Number of paths; the path of that number in `paths`, owned, or NULL. */
size_t work_files_count(const char *paths);
char *work_files_path(const char *paths, size_t number);
/* Whether the path is that of a file which the host has downloaded into the directory. */
bool work_files_is_download(const char *path, const char *dir);
/* Appends the prompt. A line of the file with that path names `local` instead; local NULL: it says
 * that the download has failed, as for a file that a connector could not download. */
void work_files_replace(struct buf *out, struct str prompt, const char *path, const char *local);
/* Appends the prompt of a turn of another host. Each file that a host has downloaded is looked for
 * in the directory: its line names it there, or says that the download has failed. */
void work_files_adopt(struct buf *out, struct str prompt, const char *dir,
                      bool (*is_there)(const char *path));

/* Request for a part of a file. */
struct work_files_request {
    const char *turn;
    int64_t number, offset;
};
void work_files_write_request(struct buf *out, const struct work_files_request *r);
/* The text is the arena's. -1: it is none. */
int work_files_read_request(struct str message, struct arena *a,
                            struct work_files_request *r) MUST_CHECK;

/* Reply: a line, then the bytes. */
enum work_files_result {
    WORK_FILES_BYTES,
    WORK_FILES_UNKNOWN, /* the gateway does not have the turn, perhaps not yet after a restart */
    WORK_FILES_GONE,    /* it does not have the file any more */
};
struct work_files_reply {
    enum work_files_result result;
    int64_t size; /* of the whole file */
    struct str bytes;
};
void work_files_write_reply(struct buf *out, const struct work_files_reply *r);
/* Borrows the bytes from the message. -1: it is none, or the bytes do not fit to the request. */
int work_files_read_reply(struct str message, int64_t offset,
                          struct work_files_reply *r) MUST_CHECK;

#endif
