/* SPDX-License-Identifier: MIT
 * Owns the form of an attribute. */
#include "dialect/otlp/otlp_attribute.h"

#include <inttypes.h>
#include <string.h>

#include "base/bytes/utf8.h"
#include "event/json/json_writer.h"

static void otlp_attribute_begin(struct buf *list, const char *key, const char *type)
{
    buf_add_str(list, list->len ? ",{" : "{");
    jsonw_member_str(list, "key", key);
    jsonw_key(list, "value");
    buf_add_char(list, '{');
    jsonw_key(list, type);
}

static void otlp_attribute_end(struct buf *list)
{
    buf_add_str(list, "}}");
}

void otlp_attribute_add_cut_text(struct buf *list, const char *key, const char *text, size_t max)
{
    if (!text || !*text)
        return;
    otlp_attribute_begin(list, key, "stringValue");
    jsonw_string(list, text, utf8_truncated_len(text, strlen(text), max));
    otlp_attribute_end(list);
}

void otlp_attribute_add_text(struct buf *list, const char *key, const char *text)
{
    otlp_attribute_add_cut_text(list, key, text, SIZE_MAX);
}

/* 64-bit integers are strings in this form. */
void otlp_attribute_add_int(struct buf *list, const char *key, int64_t number)
{
    if (number < 0)
        return;
    otlp_attribute_begin(list, key, "intValue");
    buf_printf(list, "\"%" PRId64 "\"", number);
    otlp_attribute_end(list);
}

void otlp_attribute_add_real(struct buf *list, const char *key, double number)
{
    if (number < 0)
        return;
    otlp_attribute_begin(list, key, "doubleValue");
    jsonw_real(list, number);
    otlp_attribute_end(list);
}
