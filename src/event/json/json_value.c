/* SPDX-License-Identifier: MIT
 * Encodes a jansson value. Stateless. jansson limits the depth of parsed values. */
#include "event/json/json_value.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "event/json/json_writer.h"

static void json_value_append_array(struct buf *out, const json_t *array)
{
    buf_add_char(out, '[');
    for (size_t i = 0; i < json_array_size(array); i++) {
        if (i)
            buf_add_char(out, ',');
        json_value_append(out, json_array_get(array, i));
    }
    buf_add_char(out, ']');
}

static void json_value_append_object(struct buf *out, const json_t *object)
{
    const char *key, *before = "";
    json_t *value, *members; /* jansson iterates only over non-const values */
    memcpy(&members, &object, sizeof members);
    buf_add_char(out, '{');
    json_object_foreach(members, key, value)
    {
        buf_add_str(out, before);
        jsonw_string(out, key, strlen(key));
        buf_add_char(out, ':');
        json_value_append(out, value);
        before = ",";
    }
    buf_add_char(out, '}');
}

void json_value_append(struct buf *out, const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        json_value_append_object(out, value);
        break;
    case JSON_ARRAY:
        json_value_append_array(out, value);
        break;
    case JSON_STRING:
        jsonw_string(out, json_string_value(value), json_string_length(value));
        break;
    case JSON_INTEGER:
        jsonw_int(out, json_integer_value(value));
        break;
    case JSON_REAL:
        jsonw_real(out, json_real_value(value));
        break;
    case JSON_TRUE:
    case JSON_FALSE:
        buf_add_str(out, json_is_true(value) ? "true" : "false");
        break;
    case JSON_NULL:
    default:
        buf_add_str(out, "null");
    }
}

char *json_value_text(const json_t *value)
{
    CLEANUP_BUF struct buf text = {0};
    if (!value)
        return NULL;
    json_value_append(&text, value);
    return xstrndup(text.p, text.len);
}

void json_value_print(const json_t *value)
{
    CLEANUP_BUF struct buf text = {0};
    json_value_append(&text, value);
    buf_add_char(&text, '\n');
    fwrite(text.p, 1, text.len, stdout);
}
