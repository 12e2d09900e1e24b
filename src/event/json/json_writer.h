/* SPDX-License-Identifier: MIT
 * JSON writer: appends compact JSON to a buffer and inserts commas itself. */
#ifndef EVENT_JSON_JSON_WRITER_H
#define EVENT_JSON_JSON_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes/buf.h"

/* A quoted string: raw UTF-8; escapes for ", \, control characters (short forms, else \u00xx
 * in lower case), U+2028 and U+2029. Text must be valid UTF-8. */
void jsonw_string(struct buf *b, const char *s, size_t len);
/* Shortest text that reads back as the same double, in the form of JSON.stringify (0.000001,
 * 1e-7, 1e+22), but from 2^63 up always with an exponent: readers with 64-bit integers refuse
 * more digits. Not finite: null. */
void jsonw_real(struct buf *b, double v);
void jsonw_int(struct buf *b, int64_t v);

/* Members of an object: writes a comma if needed, "key":, and the value. The key is ASCII and needs
 * no escape. */
void jsonw_key(struct buf *b, const char *key);
void jsonw_member_str(struct buf *b, const char *key, const char *s); /* NULL: not written */
void jsonw_member_int(struct buf *b, const char *key, int64_t v);
void jsonw_member_real(struct buf *b, const char *key, double v);
void jsonw_member_bool(struct buf *b, const char *key, bool v);
void jsonw_member_json(struct buf *b, const char *key, const char *json); /* NULL: not written */

#endif
