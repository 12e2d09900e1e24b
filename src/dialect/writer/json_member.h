/* SPDX-License-Identifier: MIT
 * Appends JSON object members that are omitted when empty, and copies the members of one object
 * into another. */
#ifndef DIALECT_WRITER_JSON_MEMBER_H
#define DIALECT_WRITER_JSON_MEMBER_H

#include "base/str.h"
#include "dialect/writer/json_style.h"

/* Writes nothing if the text is NULL or empty. */
void json_member_text(struct buf *b, enum json_style style, const char *key, const char *s,
                      size_t len);
void json_member_str(struct buf *b, enum json_style style, const char *key, const char *s);
/* Only if true; only if positive. */
void json_member_true(struct buf *b, enum json_style style, const char *key, bool v);
void json_member_count(struct buf *b, enum json_style style, const char *key, int64_t n);
/* A valid JSON value; nothing if absent. */
void json_member_value(struct buf *b, enum json_style style, const char *key, struct str value);
/* Copies members of an object that are not in `written` (ends with NULL), in their order. */
void json_member_rest(struct buf *b, enum json_style style, struct str object,
                      const char *const *written);

#endif
