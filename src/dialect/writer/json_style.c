/* SPDX-License-Identifier: MIT
 * Formats scalars and members in each style. */
#include "dialect/writer/json_style.h"

#include <math.h>

#include "base/bytes/decimal.h"
#include "base/bytes/utf8.h"
#include "dialect/writer/json_style_traits.h"
#include "event/json/json_writer.h"

/* Exponents are used below `low` and from `high` on: powers of ten of the first digit. */
static const struct json_style_traits traits[] = {
    [STYLE_PYTHON] = {.comma = ", ",
                      .colon = ": ",
                      .ascii = true,
                      .point_zero = true,
                      .low = -4,
                      .high = 16,
                      .plus = "+",
                      .width = 2},
    [STYLE_JS] = {.comma = ",",
                  .colon = ":",
                  .low = -6,
                  .high = 21,
                  .plus = "+",
                  .width = 1,
                  .index_keys_first = true},
    [STYLE_GO] = {.comma = ",",
                  .colon = ":",
                  .html = true,
                  .low = -6,
                  .high = 21,
                  .plus = "+",
                  .width = 1,
                  .verbatim = true},
    [STYLE_SERDE] = {.comma = ",",
                     .colon = ":",
                     .point_zero = true,
                     .low = -5,
                     .high = 16,
                     .plus = "",
                     .width = 1,
                     .sorted = true},
};

const struct json_style_traits *style_traits(enum json_style style)
{
    return &traits[style];
}

static void add_unit(struct buf *b, unsigned unit)
{
    buf_printf(b, "\\u%04x", unit);
}

static bool must_escape(const struct json_style_traits *t, uint32_t cp)
{
    if (cp < 0x20 || cp == '"' || cp == '\\')
        return true;
    if (t->ascii)
        return cp >= 0x7f;
    return t->html && (cp == '<' || cp == '>' || cp == '&' || cp == 0x2028 || cp == 0x2029);
}

static void json_style_add_escape(struct buf *b, uint32_t cp)
{
    static const char shorts[] = {['"'] = '"',  ['\\'] = '\\', ['\b'] = 'b', ['\f'] = 'f',
                                  ['\n'] = 'n', ['\r'] = 'r',  ['\t'] = 't'};
    if (cp < sizeof shorts && shorts[cp]) {
        buf_add_char(b, '\\');
        buf_add_char(b, shorts[cp]);
    } else if (cp < 0x10000) {
        add_unit(b, cp);
    } else {
        add_unit(b, 0xd800 + ((cp - 0x10000) >> 10));
        add_unit(b, 0xdc00 + ((cp - 0x10000) & 0x3ff));
    }
}

void style_text(struct buf *b, const struct json_style_traits *t, const char *s, size_t len)
{
    const char *copied = s, *const end = s + len;
    for (size_t n; s < end; s += n) {
        const uint32_t cp = utf8_decode(s, (size_t)(end - s), &n);
        if (!must_escape(t, cp))
            continue;
        buf_add(b, copied, (size_t)(s - copied));
        json_style_add_escape(b, cp);
        copied = s + n;
    }
    buf_add(b, copied, (size_t)(end - copied));
}

void json_style_append_string(struct buf *b, enum json_style style, const char *s, size_t len)
{
    buf_add_char(b, '"');
    style_text(b, &traits[style], s, len);
    buf_add_char(b, '"');
}

static void json_style_add_positive(struct buf *b, const struct json_style_traits *t, double v)
{
    const struct decimal d = decimal_shortest(v);
    const int first = d.point - 1;
    if (first < t->low || first >= t->high) {
        decimal_add_exponential(b, &d, t->plus, t->width);
        return;
    }
    decimal_add_fixed(b, &d);
    if (t->point_zero && d.count <= d.point)
        buf_add_str(b, ".0");
}

void json_style_append_real(struct buf *b, enum json_style style, double v)
{
    const struct json_style_traits *const t = &traits[style];
    if (!isfinite(v)) {
        buf_add_str(b, "null");
        return;
    }
    if (signbit(v) && (v < 0 || t->point_zero))
        buf_add_char(b, '-');
    if (v == 0)
        buf_add_str(b, t->point_zero ? "0.0" : "0");
    else
        json_style_add_positive(b, t, fabs(v));
}

static void add_comma(struct buf *b, enum json_style style)
{
    const char last = b->len ? b->p[b->len - 1] : '{';
    if (last != '{')
        buf_add_str(b, traits[style].comma);
}

void json_style_append_key(struct buf *b, enum json_style style, const char *key)
{
    add_comma(b, style);
    buf_add_char(b, '"');
    buf_add_str(b, key);
    buf_add_char(b, '"');
    buf_add_str(b, traits[style].colon);
}

void json_style_append_escaped_key(struct buf *b, enum json_style style, const char *key,
                                   size_t len)
{
    add_comma(b, style);
    json_style_append_string(b, style, key, len);
    buf_add_str(b, traits[style].colon);
}

void json_style_member_str(struct buf *b, enum json_style style, const char *key, const char *s)
{
    json_style_append_key(b, style, key);
    json_style_append_string(b, style, s, strlen(s));
}

void json_style_member_int(struct buf *b, enum json_style style, const char *key, int64_t v)
{
    json_style_append_key(b, style, key);
    jsonw_int(b, v);
}

void json_style_member_real(struct buf *b, enum json_style style, const char *key, double v)
{
    json_style_append_key(b, style, key);
    json_style_append_real(b, style, v);
}

void json_style_member_bool(struct buf *b, enum json_style style, const char *key, bool v)
{
    json_style_append_key(b, style, key);
    buf_add_str(b, v ? "true" : "false");
}

void json_style_member_null(struct buf *b, enum json_style style, const char *key)
{
    json_style_append_key(b, style, key);
    buf_add_str(b, "null");
}

void json_style_member_json(struct buf *b, enum json_style style, const char *key, const char *json)
{
    json_style_append_key(b, style, key);
    json_style_append_value(b, style, json, strlen(json));
}
