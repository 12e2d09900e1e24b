/* SPDX-License-Identifier: MIT
 * The JSON writer: appends compact JSON to a buffer, commas kept by the buffer's last byte. */
#ifndef EVENT_JSONW_H
#define EVENT_JSONW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

/* A quoted string: raw UTF-8; escapes for ", \, control characters (short forms, else \u00xx
 * in lower case), U+2028 and U+2029. Text must be valid UTF-8. */
void jsonw_string(struct buf *b, const char *s, size_t len);
/* Shortest text that reads back as the same double; integral values below 2^53 without a
 * fraction; not finite: null. */
void jsonw_real(struct buf *b, double v);
void jsonw_int(struct buf *b, int64_t v);

/* Members of an object that is being written: a comma where one is needed, "key":, the value.
 * The key is ASCII and needs no escape. */
void jsonw_key(struct buf *b, const char *key);
void jsonw_member_str(struct buf *b, const char *key, const char *s); /* NULL: not written */
void jsonw_member_int(struct buf *b, const char *key, int64_t v);
void jsonw_member_real(struct buf *b, const char *key, double v);
void jsonw_member_bool(struct buf *b, const char *key, bool v);
void jsonw_member_json(struct buf *b, const char *key, const char *json); /* NULL: not written */

#endif
