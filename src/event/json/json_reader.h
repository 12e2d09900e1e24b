/* SPDX-License-Identifier: MIT
 * JSON reader: a cursor over one line. Validates every byte that it passes (structure, UTF-8,
 * escapes, numbers, depth), iterates over keys in any order, returns slices of the line, skips
 * unneeded values, and unescapes strings on request only. Allocates only in the caller's arena or
 * memo.
 *
 *     struct json j;
 *     struct str key, type = {0};
 *     json_init(&j, line, len);
 *     json_reader_enter_object(&j);
 *     while (json_reader_next_key(&j, &key))
 *         if (str_is(key, "type"))
 *             json_reader_read_string(&j, &type);     // a slice, still escaped
 *         else
 *             json_reader_skip(&j, NULL);
 *     if (json_reader_finish(&j) < 0)
 *         …not JSON: nothing read from it may be used
 *
 * Errors are sticky: after the first one every call does nothing and returns false or 0, so one
 * check with json_reader_finish is sufficient. Use the values only after it: an invalid line must
 * have no effect. ⏎ */
#ifndef EVENT_JSON_JSON_READER_H
#define EVENT_JSON_JSON_READER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/bytes/buf.h"
#include "base/str.h"

#define JSON_MAX_DEPTH 512

/* Type of the value at the cursor. */
enum json_type {
    JSON_AT_END, /* error or end */
    JSON_AT_NULL,
    JSON_AT_FALSE,
    JSON_AT_TRUE,
    JSON_AT_NUMBER,
    JSON_AT_STRING,
    JSON_AT_ARRAY,
    JSON_AT_OBJECT,
};

/* A string that was read and unescaped in one pass. */
struct json_memo {
    struct str raw; /* its slice; absent: none */
    struct buf text;
};

struct json {
    const char *p, *end, *begin;
    struct json_memo *memo; /* receives the newest long string, if one pass can unescape it; or
                             * NULL */
    const char *error;      /* static text of the first error, or NULL */
    const char *block;      /* a block of 64 bytes that was scanned */
    uint64_t stops;         /* one bit for each byte ahead that a string does not simply continue
                             * over */
    unsigned depth;
    int lead; /* character before the next key or element: '{' or '[' directly after entering */
};

/* Begins reading; borrows the bytes. Leading and trailing white space (including CR) is
 * permitted. */
void json_init(struct json *j, const char *p, size_t len);
/* Begins inside the outermost container, at a value: for a caller that knows the preceding
 * bytes. */
void json_init_inside(struct json *j, const char *p, size_t len);
/* Type of the next value, without consuming it. */
enum json_type json_reader_peek(struct json *j);

/* Each returns false (and consumes the value, validated) if the next value is of another type, so
 * that an unexpected type costs one member, not the line. After false, the next key is one of the
 * surrounding object. */
bool json_reader_enter_object(struct json *j);
bool json_reader_enter_array(struct json *j);
/* Next member of the entered object: *key is its raw (still escaped) slice; false at its end,
 * which is consumed. Read or skip exactly one value after each true. */
bool json_reader_next_key(struct json *j, struct str *key);
/* Next element of the entered array; false at its end, which is consumed. */
bool json_reader_next_element(struct json *j);

/* Begins reading a value that may be absent, and enters it. False: another type; it has no elements
 * or members then. */
bool json_reader_open_array(struct json *j, struct str value);
bool json_reader_open_object(struct json *j, struct str value);
/* Next element or member with its value, as a slice. */
bool json_reader_next_value(struct json *j, struct str *value);
bool json_reader_next_member(struct json *j, struct str *key, struct str *value);

/* The raw slice between the quotes, including escapes. *out is unchanged on false. */
bool json_reader_read_string(struct json *j, struct str *out);
/* Numbers as double or as integer (1.0 counts as 1); false if the type cannot represent the
 * value. */
bool json_reader_read_real(struct json *j, double *out);
bool json_reader_read_int(struct json *j, int64_t *out);
/* true and false only. */
bool json_reader_read_bool(struct json *j, bool *out);
/* Skips any value; *slice (may be NULL) gets its bytes, to be read by a second cursor. */
void json_reader_skip(struct json *j, struct str *slice);
/* 0: the whole line was one valid value and has been consumed. */
int json_reader_finish(struct json *j) MUST_CHECK;
/* Whether the text is one valid value. */
bool json_reader_is_valid(struct str text);
/* Bytes read so far: the position of an error. */
size_t json_reader_offset(const struct json *j);

/* The closing quote of the string whose text begins at p; NULL: none, or the text is invalid. */
const char *json_reader_string_end(const char *p, const char *end);

/* NUL-terminated text of a raw string slice; *len (may be NULL) is its length. Lone surrogates
 * and \u0000 become U+FFFD. A slice without backslash is copied; absent (p NULL) gives NULL. */
char *json_reader_unescape(struct arena *a, struct str raw, size_t *len);
/* As above for text in pieces: a high surrogate escape at the very end of a piece is kept in
 * *pending (0: none) and joined with the low one of the next piece. */
char *json_reader_unescape_piece(struct arena *a, struct str raw, uint16_t *pending, size_t *len);
/* Stores a string's slice and its text in the memo. False: invalid, or this machine or the string
 * needs several passes; the memo is empty then. */
bool json_memo_decode(struct json_memo *m, struct str raw);
/* The decoded text of `raw` if the memo holds it, else NULL. */
const struct buf *json_reader_memo_text(const struct json_memo *m, struct str raw);
/* Call it before the memory of the slice is reused. */
void json_reader_memo_reset(struct json_memo *m);
/* True if the slice, unescaped, equals lit (ASCII). */
bool json_reader_string_is(struct str raw, const char *lit);

/* Appends a valid value as compact JSON that every parser accepts: white space between tokens
 * removed, lone surrogate escapes and \u0000 as \ufffd, numbers beyond a double as null, integers
 * beyond 64 bits as doubles. `value` is a slice from json_reader_skip. */
void json_reader_compact(struct buf *out, struct str value);
/* The same, NUL-terminated in the arena; absent gives NULL. */
char *json_reader_compact_dup(struct arena *a, struct str value, size_t *len);

/* Repairs common producer errors: BOM, invalid UTF-8 (U+FFFD), control characters in strings
 * (escaped), NaN, Infinity and -Infinity (null), NUL bytes. Returns the number of repairs and
 * appends the repaired line; 0: nothing could be repaired, and nothing is appended. The result may
 * still be invalid. */
size_t json_reader_repair(struct buf *out, const char *line, size_t len);

/* The value at an RFC 6901 pointer in valid JSON, as a raw slice; p NULL when absent. */
struct str json_reader_pointer(struct str doc, const char *pointer);

#endif
