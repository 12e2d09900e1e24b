/* SPDX-License-Identifier: MIT
 * Joins a configuration file and its included files to one text for libconfig, with a table of the
 * file and line of each line. */
#ifndef CONF_PARSE_CONF_TEXT_H
#define CONF_PARSE_CONF_TEXT_H

#include "base/arena.h"
#include "base/attr.h"
#include "base/bytes/buf.h"
#include "base/sys/err.h"

#define CONF_TEXT_MAX ((size_t)1 << 20) /* limit in bytes for all files together */
#define CONF_TEXT_FILES ((size_t)100)   /* limit of files, included ones counted */
#define CONF_TEXT_DEPTH ((size_t)10)    /* limit of nested includes */

/* Lines of the joined text that come from one file, up to the next span. */
struct conf_span {
    int first;        /* first line in the joined text */
    const char *file; /* in the arena */
    int line;         /* first line in that file */
};

struct conf_text {
    struct arena *arena; /* owns spans and file names */
    struct buf whole;
    int lines; /* current line of the joined text, from 1 */
    struct conf_span *spans;
    size_t n_spans, spans_room;
    size_t files; /* joined text so far */
};

/* Reads the file and its included files, which other users must not be able to change. -1 with err,
 * its place "file:line" of the file with the mistake. Free the text in both cases. */
int conf_text_read(struct conf_text *t, struct arena *a, const char *path,
                   struct tc_err *err) MUST_CHECK;
/* File and line of a line of the joined text. */
struct conf_span conf_text_find_line(const struct conf_text *t, int line);
void conf_text_fini(struct conf_text *t);

#endif
