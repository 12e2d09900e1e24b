/* SPDX-License-Identifier: MIT
 * Format of binary records: numbers of eight bytes; a length, then bytes with a NUL. */
#include "base/bytes/pack.h"
#include "base/invariant.h"

#define ABSENT (-1)

void pack_int64(struct buf *out, int64_t number)
{
    char *const to = buf_reserve(out, sizeof number);
    memcpy(to, &number, sizeof number);
    to[sizeof number] = '\0';
    out->len += sizeof number;
}

void pack_double(struct buf *out, double number)
{
    buf_add(out, &number, sizeof number);
}

void pack_bool(struct buf *out, bool flag)
{
    buf_add_char(out, flag ? 1 : 0);
}

void pack_bytes(struct buf *out, struct str bytes)
{
    pack_int64(out, bytes.p ? (int64_t)bytes.len : ABSENT);
    if (!bytes.p)
        return;
    char *const to = buf_reserve(out, bytes.len + 1);
    memcpy(to, bytes.p, bytes.len);
    to[bytes.len] = '\0';
    out->len += bytes.len + 1;
}

void pack_string(struct buf *out, const char *text)
{
    pack_bytes(out, (struct str){text, text ? strlen(text) : 0});
}

double unpack_real(struct unpacker *u)
{
    double number = 0;
    const char *const from = unpack_raw(u, sizeof number);
    if (from)
        memcpy(&number, from, sizeof number);
    return number;
}

bool unpack_flag(struct unpacker *u)
{
    const char *const from = unpack_raw(u, 1);
    u->bad = u->bad || (unsigned char)*from > 1;
    return !u->bad && *from;
}

size_t unpack_count(struct unpacker *u, size_t max)
{
    const int64_t number = unpack_number(u);
    u->bad = u->bad || number < 0 || (uint64_t)number > max;
    return u->bad ? 0 : (size_t)number;
}

struct str unpack_bytes(struct unpacker *u)
{
    const int64_t len = unpack_number(u);
    if (u->bad || len == ABSENT)
        return (struct str){0};
    const char *const from =
        len >= 0 && len < u->end - u->p ? unpack_raw(u, (size_t)len + 1) : NULL;
    if (!from || from[len]) {
        u->bad = true;
        return (struct str){0};
    }
    return (struct str){from, (size_t)len};
}

const char *unpack_text(struct unpacker *u)
{
    const struct str bytes = unpack_bytes(u);
    u->bad = u->bad || (bytes.p && strlen(bytes.p) != bytes.len);
    return u->bad ? NULL : bytes.p;
}

const char *unpack_required_string(struct unpacker *u)
{
    const char *const text = unpack_text(u);
    u->bad = u->bad || !text;
    return text ? text : "";
}

int unpack_finish(const struct unpacker *u)
{
    ASSERT(u->p <= u->end);
    return u->bad || u->p != u->end ? -1 : 0;
}
