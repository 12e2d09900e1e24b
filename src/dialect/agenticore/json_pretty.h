/* SPDX-License-Identifier: MIT
 * Formats JSON byte for byte as Python `json.dumps(indent=2, ensure_ascii=False)`. Pure. */
#ifndef DIALECT_AGENTICORE_JSON_PRETTY_H
#define DIALECT_AGENTICORE_JSON_PRETTY_H

#include "base/bytes/buf.h"

/* Appends any valid JSON value; the second function without indentation, on one line. */
void json_pretty_append(struct buf *b, const char *json, size_t len);
void json_pretty_append_line(struct buf *b, const char *json, size_t len);

#endif
