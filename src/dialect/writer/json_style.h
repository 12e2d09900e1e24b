/* SPDX-License-Identifier: MIT
 * Reproduces the JSON serialisers of other systems byte for byte: separators, escapes, numbers and
 * key order. For writers whose output must equal the original's. Pure. */
#ifndef DIALECT_WRITER_JSON_STYLE_H
#define DIALECT_WRITER_JSON_STYLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes/buf.h"

enum json_style {
    STYLE_PYTHON, /* json.dumps: ", " and ": ", ASCII only */
    STYLE_JS,     /* JSON.stringify */
    STYLE_GO,     /* encoding/json, HTML escapes; raw messages keep their order and numbers */
    STYLE_SERDE,  /* serde_json: keys of maps are sorted */
};

/* A quoted string; text is valid UTF-8. */
void json_style_append_string(struct buf *b, enum json_style style, const char *s, size_t len);
/* A double; null if it is not finite. */
void json_style_append_real(struct buf *b, enum json_style style, double v);
/* Any valid JSON value, parsed and written again. */
void json_style_append_value(struct buf *b, enum json_style style, const char *json, size_t len);

/* Writes a member of an object: the separator if needed, the key, the value. Keys are ASCII and
 * need no escape. */
void json_style_append_key(struct buf *b, enum json_style style, const char *key);
/* The same for a key that may need escapes. */
void json_style_append_escaped_key(struct buf *b, enum json_style style, const char *key,
                                   size_t len);
void json_style_member_str(struct buf *b, enum json_style style, const char *key, const char *s);
void json_style_member_int(struct buf *b, enum json_style style, const char *key, int64_t v);
void json_style_member_real(struct buf *b, enum json_style style, const char *key, double v);
void json_style_member_bool(struct buf *b, enum json_style style, const char *key, bool v);
void json_style_member_null(struct buf *b, enum json_style style, const char *key);
void json_style_member_json(struct buf *b, enum json_style style, const char *key,
                            const char *json);

#endif
