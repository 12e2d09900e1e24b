/* SPDX-License-Identifier: MIT
 * JSON laid out for people, byte for byte as Python's json.dumps(ensure_ascii=False, indent=2)
 * does it. Pure. */
#ifndef DIALECT_AGENTICORE_JSON_PRETTY_H
#define DIALECT_AGENTICORE_JSON_PRETTY_H

#include "base/bytes/buf.h"

/* Append any valid JSON value; the second one without indent, on one line. */
void pretty_json(struct buf *b, const char *json, size_t len);
void pretty_json_line(struct buf *b, const char *json, size_t len);

#endif
