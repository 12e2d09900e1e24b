/* SPDX-License-Identifier: MIT
 * The audit log file: appends chained records under a shared lock, rotates, and repairs a torn
 * last line. */
#ifndef AUDIT_CHAIN_H
#define AUDIT_CHAIN_H

#include <stdint.h>
#include <sys/types.h>

#include "audit_buf.h"

enum chain_sync { CHAIN_SYNC_NEVER, CHAIN_SYNC_TERMINAL, CHAIN_SYNC_ALWAYS };

struct chain {
    const char *path;  /* borrowed */
    int64_t max_bytes; /* rotate before the file gets larger; 0: never */
    int64_t keep;      /* number of rotated files to keep */
    enum chain_sync sync;
    /* Appends event_type and detail of a record of the log about itself to `rec`. */
    void (*describe)(void *ctx, struct out *rec, const char *event_type, const char *detail);
    void *ctx;

    int fd, lock_fd;
    off_t size;          /* size of the file at the last check */
    uint64_t seq;        /* sequence number of the last record */
    char head[65];       /* its SHA-256; "" before the first record */
    const char *opening; /* why an opening record is due, or NULL */
    uint64_t lost;       /* records lost since the last successful write */
    uint64_t repaired;   /* number of truncated incomplete lines */
    char why[512];       /* text of the last failure */
    struct out own;      /* writes a record of the log about itself */
};

/* Opens or creates the file (0600) and finds the end of its chain. -1 with c->why: it cannot be
 * opened, is not a regular file, or does not end in a valid record. */
int chain_open(struct chain *c);
/* Completes the record (a JSON object without its closing brace) with seq, prev and hash, and
 * writes it; `rec` must not be used again. -1 with c->why: the record is lost and counted, and the
 * file is unchanged. */
int chain_append(struct chain *c, struct out *rec, bool terminal);
void chain_close(struct chain *c);

#endif
