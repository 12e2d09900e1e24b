/* SPDX-License-Identifier: MIT
 * Writes JSON byte for byte as Python json.dumps, JSON.stringify, Go encoding/json or serde_json
 * does: separators, escapes, numbers, key order. */
#ifndef DIALECT_WRITER_JSON_STYLE_TRAITS_H
#define DIALECT_WRITER_JSON_STYLE_TRAITS_H

#include "dialect/writer/json_style.h"

struct json_style_traits {
    const char *comma, *colon;
    bool ascii;            /* everything but printable ASCII is escaped */
    bool html;             /* < > & and U+2028/9 are escaped */
    bool point_zero;       /* integral doubles end in .0 */
    int low, high;         /* fixed notation from 10^low to below 10^high */
    const char *plus;      /* before a positive exponent */
    int width;             /* digits of an exponent at least */
    bool verbatim;         /* values keep their order, numbers and escapes */
    bool sorted;           /* keys of values are sorted by bytes */
    bool index_keys_first; /* array-index keys come first, ascending */
};

const struct json_style_traits *style_traits(enum json_style style);
/* Escaped text without quotes. */
void style_text(struct buf *b, const struct json_style_traits *t, const char *s, size_t len);

#endif
