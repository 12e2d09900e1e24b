/* SPDX-License-Identifier: MIT
 * Binary serialisation between processes of one build (host byte order, no versioning): an encoder
 * that appends to a buffer, and a bounds-checked decoder for untrusted input with a sticky error
 * flag. */
#ifndef BASE_BYTES_PACK_H
#define BASE_BYTES_PACK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/bytes/buf.h"

void pack_int64(struct buf *out, int64_t number);
void pack_double(struct buf *out, double number);
void pack_bool(struct buf *out, bool flag);
/* Any bytes, p NULL: absent. */
void pack_bytes(struct buf *out, struct str bytes);
/* NULL: absent. */
void pack_string(struct buf *out, const char *text);

struct unpacker {
    const char *p, *end;
    bool bad;
};

static inline void unpack_init(struct unpacker *u, struct str record)
{
    *u = (struct unpacker){record.p, record.p + record.len, false};
}
/* The next n bytes; NULL: fewer are left. */
static inline const char *unpack_raw(struct unpacker *u, size_t n)
{
    if (u->bad || (size_t)(u->end - u->p) < n) {
        u->bad = true;
        return NULL;
    }
    u->p += n;
    return u->p - n;
}
static inline int64_t unpack_number(struct unpacker *u)
{
    int64_t number = 0;
    const char *const from = unpack_raw(u, sizeof number);
    if (from)
        memcpy(&number, from, sizeof number);
    return number;
}
double unpack_real(struct unpacker *u);
/* A byte that is neither 0 nor 1 makes the record invalid. */
bool unpack_flag(struct unpacker *u);
/* A number from 0 to `max`: counts, lengths, kinds. */
size_t unpack_count(struct unpacker *u, size_t max);
/* The results point into the record; a NUL follows the bytes. p NULL: absent. */
struct str unpack_bytes(struct unpacker *u);
/* Bytes that contain a NUL are invalid. NULL: absent. */
const char *unpack_text(struct unpacker *u);
/* The same, but an absent text is invalid; returns "" then. */
const char *unpack_required_string(struct unpacker *u);
/* 0: everything was read, without errors. */
int unpack_finish(const struct unpacker *u) MUST_CHECK;

#endif
