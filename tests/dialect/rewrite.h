/* SPDX-License-Identifier: MIT
 * Reads a recorded turn with one dialect and writes it with another: through translate and guard
 * into a writer, with a check of the guarantees between. */
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

/* The output of the writer for the stream; the caller frees it. Bails on unknown names; after a
 * violated guarantee the result is only its description. */
char *rewrite(const struct rewrite *r, const char *stream, size_t len);
/* The same for a file in tests/. */
char *rewrite_file(const struct rewrite *r, const char *relative);
/* Checks that the output for a file is the file itself, byte for byte: one result. */
void rewrite_is_same(const struct rewrite *r, const char *relative);
/* Checks that got equals wanted, and prints the first line that differs. */
void is_text(const char *got, const char *wanted, const char *what);

#endif
