/* SPDX-License-Identifier: MIT
 * Reads a stream with a dialect through translate, without guard or writer: the events of the
 * dialect as text, for comparisons in tests. */
#ifndef TESTS_DIALECT_READING_H
#define TESTS_DIALECT_READING_H

#include "turn/translator.h"

struct reading {
    struct translator t;
    struct buf told; /* one line per event: its kind, a space, its payload as JSON */
    size_t counts[TC_KINDS];
    struct stream_end_info end;
};

void reading_init(struct reading *r, const char *dialect);
void reading_fini(struct reading *r);
/* Lines that end with \n; a last line without \n was cut off. In the text ' stands
 * for ", so that JSON reads well in C. */
void reading_feed(struct reading *r, const char *lines);
/* The same without the replacement of '. */
void reading_feed_raw(struct reading *r, const char *lines, size_t len);
void reading_end(struct reading *r);
/* Reads all lines at once and returns `told`. */
const char *reading_of(struct reading *r, const char *dialect, const char *lines);

/* Payload of the newest event of that kind (static), "" when there was none. */
const char *reading_last(const struct reading *r, const char *kind);
/* Number of occurrences of a text in `told`. */
size_t reading_count(const struct reading *r, const char *text);
/* Joined text of the narration that was not retracted. */
const char *reading_text(const struct reading *r);

#endif
