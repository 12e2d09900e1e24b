/* SPDX-License-Identifier: MIT
 * Writes JSON byte for byte as Python json.dumps, JSON.stringify, Go encoding/json or serde_json
 * does: separators, escapes, numbers, key order. */
#ifndef DIALECT_WRITER_JSON_STYLE_TRAITS_H
#define DIALECT_WRITER_JSON_STYLE_TRAITS_H

#include "dialect/writer/json_style.h"

struct json_style_traits {
    const char *comma, *colon;
    bool ascii;            /* escape everything except printable ASCII */
    bool html;             /* escape < > & and U+2028/9 */
    bool point_zero;       /* write integral doubles with .0 */
    int low, high;         /* fixed notation from 10^low to below 10^high */
    const char *plus;      /* text before a positive exponent */
    int width;             /* minimum number of exponent digits */
    bool verbatim;         /* values keep order, numbers and escapes */
    bool sorted;           /* sort keys of values by bytes */
    bool index_keys_first; /* array-index keys first, ascending */
};

const struct json_style_traits *style_traits(enum json_style style);
/* Escaped text without quotes. */
void style_text(struct buf *b, const struct json_style_traits *t, const char *s, size_t len);

#endif
