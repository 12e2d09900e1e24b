/* SPDX-License-Identifier: MIT
 * The text of a configuration file with the files that it includes, as one text for libconfig, and
 * a table that says which file a line of it comes from. */
#ifndef CONF_PARSE_CONF_TEXT_H
#define CONF_PARSE_CONF_TEXT_H

#include "base/arena.h"
#include "base/attr.h"
#include "base/bytes/buf.h"
#include "base/sys/err.h"

#define CONF_TEXT_MAX ((size_t)1 << 20) /* bytes of all files together */
#define CONF_TEXT_FILES ((size_t)100)   /* with those that are included */
#define CONF_TEXT_DEPTH ((size_t)10)    /* files that include each other */

/* Lines of the whole text that come from one file, up to the next span. */
struct conf_span {
    int first;        /* line of the whole text */
    const char *file; /* in the arena */
    int line;         /* of that file */
};

struct conf_text {
    struct arena *arena; /* owns the spans and the names of files */
    struct buf whole;
    int lines; /* of the whole text, begun; from 1 */
    struct conf_span *spans;
    size_t n_spans, spans_room;
    size_t files; /* read so far */
};

/* Reads the file, which nobody else may be able to change; the same holds for each that it
 * includes. -1 with err, its place "file:line" of the file with the mistake. The text has to be
 * freed either way. */
int conf_text_read(struct conf_text *t, struct arena *a, const char *path,
                   struct tc_err *err) MUST_CHECK;
/* Where a line of the whole text comes from. */
struct conf_span conf_text_find_line(const struct conf_text *t, int line);
void conf_text_fini(struct conf_text *t);

#endif
