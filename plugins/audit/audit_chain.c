/* SPDX-License-Identifier: MIT
 * Appends under a lock shared by all writers of the file, so that every record follows the last one
 * in the file, whichever process wrote that. */
#include "audit_chain.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit_seal.h"

#define FILE_FLAGS (O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)

static int fail(struct chain *c, const char *fmt, ...)
    __attribute__((__format__(__printf__, 2, 3)));
static int fail(struct chain *c, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(c->why, sizeof c->why, fmt, ap);
    va_end(ap);
    return -1;
}

static int fail_errno(struct chain *c, const char *what)
{
    return fail(c, "%s %s: %s", what, c->path, strerror(errno));
}

/* Position of the last complete line (without its newline); begin == end: none. */
static int last_line(struct chain *c, off_t size, off_t *begin, off_t *end)
{
    char block[4096];
    off_t newlines[2] = {-1, -1};
    int found = 0;
    for (off_t to = size; to > 0 && found < 2;) {
        const off_t from = to > (off_t)sizeof block ? to - (off_t)sizeof block : 0;
        const size_t n = (size_t)(to - from);
        if (pread(c->fd, block, n, from) != (ssize_t)n)
            return fail_errno(c, "cannot read");
        for (size_t i = n; i > 0 && found < 2; i--)
            if (block[i - 1] == '\n')
                newlines[found++] = from + (off_t)i - 1;
        to = from;
    }
    *end = found > 0 ? newlines[0] : 0;
    *begin = found > 1 ? newlines[1] + 1 : 0;
    return 0;
}

/* An incomplete last line was left by a crashed writer or a full disk. */
static int cut_torn(struct chain *c, off_t size, off_t end)
{
    if (size == end)
        return 0;
    if (ftruncate(c->fd, end))
        return fail_errno(c, "cannot remove the incomplete last line of");
    c->repaired++;
    return 0;
}

static int audit_chain_read_last(struct chain *c, off_t begin, off_t end)
{
    if (end - begin > (off_t)SEAL_MAX_LINE)
        return fail(c, "%s: the last line is too long for an audit record", c->path);
    const size_t n = (size_t)(end - begin);
    char *line = malloc(n + 1);
    if (!line)
        return fail_errno(c, "cannot read");
    uint64_t seq = 0;
    char head[65];
    int rc = pread(c->fd, line, n, begin) == (ssize_t)n ? 0 : fail_errno(c, "cannot read");
    if (!rc && seal_read(line, n, &seq, head))
        rc =
            fail(c, "%s: the last line is not an intact audit record; move the file away", c->path);
    free(line);
    /* If records were removed from the end, continuing with the remembered hash makes the gap
     * visible. */
    if (!rc && seq > c->seq) {
        c->seq = seq;
        memcpy(c->head, head, sizeof head);
    }
    return rc;
}

/* Reads the state of the chain from the end of the file; an empty file changes nothing. */
static int recover(struct chain *c, off_t size)
{
    off_t begin, end;
    if (last_line(c, size, &begin, &end))
        return -1;
    const off_t whole = end > 0 ? end + 1 : 0;
    if (cut_torn(c, size, whole))
        return -1;
    c->size = whole;
    return whole > 0 ? audit_chain_read_last(c, begin, end) : 0;
}

static int open_file(struct chain *c, const char *why)
{
    struct stat st;
    const int fd = open(c->path, FILE_FLAGS, 0600);
    if (fd < 0)
        return fail_errno(c, "cannot open");
    if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
        close(fd);
        return fail(c, "%s is not a regular file", c->path);
    }
    if (c->fd >= 0)
        close(c->fd);
    c->fd = fd;
    c->size = 0;
    c->opening = why;
    return recover(c, st.st_size);
}

/* Whether another writer has appended, or the file was replaced, since the last check. */
static int chain_check_file(struct chain *c)
{
    struct stat open_st, path_st;
    if (fstat(c->fd, &open_st))
        return fail_errno(c, "cannot inspect");
    if (open_st.st_size < c->size)
        c->opening = "shrunk";
    if (open_st.st_size != c->size && recover(c, open_st.st_size))
        return -1;
    if (stat(c->path, &path_st) == 0 && path_st.st_ino == open_st.st_ino &&
        path_st.st_dev == open_st.st_dev)
        return 0;
    return open_file(c, "reopen");
}

static int lock(struct chain *c)
{
    while (flock(c->lock_fd, LOCK_EX))
        if (errno != EINTR)
            return fail_errno(c, "cannot lock");
    return 0;
}

static void unlock(struct chain *c)
{
    flock(c->lock_fd, LOCK_UN);
}

static void sync_folder(const struct chain *c)
{
    char folder[4096];
    const char *slash = strrchr(c->path, '/');
    const int n = slash ? (int)(slash - c->path) : 0;
    snprintf(folder, sizeof folder, "%.*s", n > 0 ? n : 1, n > 0 ? c->path : slash ? "/" : ".");
    const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return;
    fsync(fd);
    close(fd);
}

/* PATH.1 is the newest rotated file; PATH.keep+1 is removed. */
static int rotate(struct chain *c)
{
    char from[4096], to[4096];
    if (c->sync != CHAIN_SYNC_NEVER)
        fdatasync(c->fd);
    for (int64_t i = c->keep; i >= 1; i--) {
        snprintf(to, sizeof to, "%s.%" PRId64, c->path, i);
        if (i > 1)
            snprintf(from, sizeof from, "%s.%" PRId64, c->path, i - 1);
        else
            snprintf(from, sizeof from, "%s", c->path);
        if (rename(from, to) && errno != ENOENT)
            return fail_errno(c, "cannot rotate");
    }
    if (c->keep == 0 && unlink(c->path) && errno != ENOENT)
        return fail_errno(c, "cannot rotate");
    if (c->sync != CHAIN_SYNC_NEVER)
        sync_folder(c);
    return open_file(c, "rotate");
}

static int write_once(struct chain *c, const char *p, size_t n)
{
    ssize_t done;
    do
        done = write(c->fd, p, n);
    while (done < 0 && errno == EINTR);
    if (done == (ssize_t)n) {
        c->size += done;
        return 0;
    }
    if (done >= 0)
        errno = ENOSPC;
    const int rc = fail_errno(c, "cannot write to");
    /* If this fails, too, the size differs from the remembered one, and the next check repairs the
     * file. */
    if (done > 0 && ftruncate(c->fd, c->size) == 0)
        c->repaired++;
    return rc;
}

static int write_record(struct chain *c, struct out *rec)
{
    char head[65];
    seal_add(rec, c->seq + 1, c->head, head);
    if (rec->failed)
        return fail(c, "out of memory");
    if (write_once(c, rec->p, rec->len))
        return -1;
    c->seq++;
    memcpy(c->head, head, sizeof head);
    return 0;
}

static int write_own(struct chain *c, const char *event_type, const char *detail)
{
    out_reset(&c->own);
    c->describe(c->ctx, &c->own, event_type, detail);
    return write_record(c, &c->own);
}

/* Writes due records of the log about itself: it begins here, or records were lost. */
static int write_due(struct chain *c)
{
    char detail[600];
    if (c->opening) {
        if (write_own(c, "turncast.audit.open", c->opening))
            return -1;
        c->opening = NULL;
    }
    if (c->lost == 0)
        return 0;
    snprintf(detail, sizeof detail, "%" PRIu64, c->lost);
    if (write_own(c, "turncast.audit.lost", detail))
        return -1;
    c->lost = 0;
    return 0;
}

static int append(struct chain *c, struct out *rec)
{
    if (chain_check_file(c))
        return -1;
    const bool full =
        c->max_bytes > 0 && c->size > 0 && c->size + (off_t)(rec->len + SEAL_MAX) > c->max_bytes;
    return (full && rotate(c)) || write_due(c) || write_record(c, rec) ? -1 : 0;
}

int chain_append(struct chain *c, struct out *rec, bool terminal)
{
    if (lock(c)) {
        c->lost++;
        return -1;
    }
    int rc = append(c, rec);
    c->lost += rc != 0;
    const bool sync = c->sync == CHAIN_SYNC_ALWAYS || (c->sync == CHAIN_SYNC_TERMINAL && terminal);
    if (!rc && sync && fdatasync(c->fd))
        rc = fail_errno(c, "cannot sync");
    unlock(c);
    return rc;
}

int chain_open(struct chain *c)
{
    char name[4096];
    c->fd = -1;
    c->lock_fd = -1;
    const int n = snprintf(name, sizeof name, "%s.lock", c->path);
    if (n < 0 || (size_t)n >= sizeof name - 32)
        return fail(c, "the path is too long");
    c->lock_fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (c->lock_fd < 0)
        return fail(c, "cannot open %s: %s", name, strerror(errno));
    if (lock(c))
        return -1;
    const int rc = open_file(c, "start");
    unlock(c);
    return rc;
}

void chain_close(struct chain *c)
{
    if (c->fd >= 0)
        close(c->fd);
    if (c->lock_fd >= 0)
        close(c->lock_fd);
    out_fini(&c->own);
}
