/* SPDX-License-Identifier: MIT
 * Extracts members of JSON objects in a line: shared by all dialects, except for their hot paths. A
 * value is a slice of the line (quotes included); p NULL means absent or null. Pure. */
#ifndef DIALECT_READER_VALUE_H
#define DIALECT_READER_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/str.h"

/* A member to extract, and its target. */
struct value_row {
    const char *key;
    struct str *value; /* unchanged if absent or null; the last of several counts */
};

/* Reads and validates a whole line: 0, or -1: not one JSON object, and the extracted values must
 * not be used. */
int value_parse_line(const char *line, size_t len, const struct value_row *rows,
                     size_t n) MUST_CHECK;
/* The same for a validated object; no effect on other values. */
void value_get_members(struct str object, const struct value_row *rows, size_t n);
#define VALUE_ROWS(rows) (rows), sizeof(rows) / sizeof((rows)[0])

/* One member; absent or null: p NULL. Of several with that key, the last, or the first. */
struct str value_get_last(struct str object, const char *key);
struct str value_get_first(struct str object, const char *key);

/* The raw text of a string (p NULL: not a string). */
struct str value_string(struct str value);
/* A string's text in the arena; NULL: not a string. */
char *value_text(struct arena *a, struct str value, size_t *len);
/* Whether it is the string lit (ASCII). */
bool value_equals(struct str value, const char *lit);
int64_t value_int(struct str value, int64_t dflt);
double value_real(struct str value, double dflt);
bool value_is_true(struct str value);
/* Compact JSON text in the arena; NULL: absent. */
char *value_json(struct arena *a, struct str value, size_t *len);
/* Text of a string, compact JSON of other values, for people; NULL: absent. */
char *value_text_or_json(struct arena *a, struct str value, size_t *len);
/* Joins the texts of a list in the arena: its strings, the "text" of its objects, compact JSON of
 * other elements. Not a list: "". */
char *value_join_texts(struct arena *a, struct str list, const char *between, size_t *len);
/* Unix seconds of an RFC 3339 string or of a number of milliseconds; negative: neither. */
double value_time(struct str value);

/* The members of an object that are in `keys` (ends with NULL) and not null, as a JSON object; "{}"
 * if there are none. */
char *value_copy_members(struct arena *a, struct str object, const char *const *keys, size_t *len);
/* The members of an object that are not in `known` (ends with NULL) and not null, as a JSON object
 * for meta.x. Bounded: large values are left out. NULL if nothing is left. */
char *value_extra_except(struct arena *a, struct str object, const char *const *known);
/* The same for the members that are in `kept`. */
char *value_extra_only(struct arena *a, struct str object, const char *const *kept);

#endif
