/* SPDX-License-Identifier: MIT
 * JSON text of a jansson value, whose own writer prints 17 digits of 0.0125. */
#ifndef EVENT_JSON_JSON_VALUE_H
#define EVENT_JSON_JSON_VALUE_H

#include <jansson.h>

#include "base/bytes/buf.h"

/* Compact, members in their order, numbers and strings as in json_writer.h. A value must not
 * contain itself. */
void json_value_append(struct buf *out, const json_t *value);
/* The same as text, owned by the caller (free). NULL: value is NULL. */
char *json_value_text(const json_t *value);
/* The same with a line end, on stdout. */
void json_value_print(const json_t *value);

#endif
