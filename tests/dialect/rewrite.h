/* SPDX-License-Identifier: MIT
 * A recorded turn read by one dialect and written by another: through translate and guard into a
 * writer, with the promises checked between. */
#ifndef TESTS_DIALECT_REWRITE_H
#define TESTS_DIALECT_REWRITE_H

#include "dialect/dialect.h"
#include "dialect/writer/writer.h"

struct rewrite {
    const char *dialect, *writer; /* names */
    struct writer_conf conf;
    const char *turn;    /* correlation id; NULL: "turn" */
    double (*now)(void); /* time of events whose source gives none; NULL: 0 */
};

/* What the writer makes of the stream, for free(). Bails on unknown names; a broken promise is
 * the result's only text. */
char *rewrite(const struct rewrite *r, const char *stream, size_t len);
/* The same of a file below tests/. */
char *rewrite_file(const struct rewrite *r, const char *relative);
/* The file comes back byte for byte: one result. */
void rewrite_is_same(const struct rewrite *r, const char *relative);
/* got equals wanted; else the first line that differs is shown. */
void is_text(const char *got, const char *wanted, const char *what);

#endif
