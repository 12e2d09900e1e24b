/* SPDX-License-Identifier: MIT
 * A stream read by a dialect through translate, nothing behind it: what the dialect itself says,
 * as text a test can look into. */
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
/* Lines that end with \n; a last one without it is one that was cut off. In the text ' stands
 * for ", so that JSON reads well in C. */
void reading_feed(struct reading *r, const char *lines);
/* The same without that exchange. */
void reading_feed_raw(struct reading *r, const char *lines, size_t len);
void reading_end(struct reading *r);
/* All of it at once; told is what was said. */
const char *reading_of(struct reading *r, const char *dialect, const char *lines);

/* Payload of the newest event of that kind (static), "" when there was none. */
const char *reading_last(const struct reading *r, const char *kind);
/* Occurrences of a text in what was told. */
size_t reading_count(const struct reading *r, const char *text);
/* Joined text of the narration that was not taken back. */
const char *reading_text(const struct reading *r);

#endif
