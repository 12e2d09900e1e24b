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
    int64_t keep;      /* rotated files that are kept */
    enum chain_sync sync;
    /* Appends to `rec` what a record of the log about itself says: its event_type and detail. */
    void (*describe)(void *ctx, struct out *rec, const char *event_type, const char *detail);
    void *ctx;

    int fd, lock_fd;
    off_t size;          /* of the file after our last look at it */
    uint64_t seq;        /* of its last record */
    char head[65];       /* that record's SHA-256; "" before the first */
    const char *opening; /* why an opening record is due, or NULL */
    uint64_t lost;       /* records since the last that could be written */
    uint64_t repaired;   /* torn last lines cut off */
    char why[512];       /* what the last failure was */
    struct out own;      /* a record of the log about itself */
};

/* Opens or makes the file (0600) and finds the end of its chain. -1 with c->why: it cannot be
 * opened, is not a regular file, or does not end in a record of ours. */
int chain_open(struct chain *c);
/* Completes the record (a JSON object without its closing brace) with seq, prev and hash, and
 * writes it; `rec` is spent. -1 with c->why: it is lost and counted, the file is as it was. */
int chain_append(struct chain *c, struct out *rec, bool terminal);
void chain_close(struct chain *c);

#endif
