/* SPDX-License-Identifier: MIT
 * Findings: everything that a check has to say about its objects, in the order in which it was
 * found. The list owns its texts. Any thread, one at a time. */
#ifndef BASE_SYS_FINDING_H
#define BASE_SYS_FINDING_H

#include <stddef.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/bytes/buf.h"
#include "base/sys/err.h"

enum finding_level { FINDING_OK, FINDING_WARNING, FINDING_ERROR };

struct finding {
    enum finding_level level;
    const char *file;   /* NULL: it is about no file */
    int line;           /* 0: about the file as a whole, or about none */
    const char *key;    /* the object: "agents.a.command"; or NULL */
    const char *text;   /* what was found */
    const char *remedy; /* what to do, or the valid values; or NULL */
};

struct findings {
    struct arena arena;
    struct finding *items;
    size_t n, room, errors, warnings;
};

/* Adds one of a place ("file:line", "file" or "") and a message "KEY: TEXT; REMEDY", of which KEY
 * and REMEDY may be missing. KEY is a first word that ends with a colon. The remedy begins behind
 * the first "; ", or is the last parenthesis if that begins with "did you mean" or "configured:",
 * outside of double quotes. Always returns -1, so that a
 * check can return the call. */
int findings_add(struct findings *f, enum finding_level level, const char *place, const char *fmt,
                 ...) PRINTF_LIKE(4, 5);
/* The same with an error. Returns -1. */
int findings_add_err(struct findings *f, enum finding_level level, const struct tc_err *err);
/* Adds what is known in parts, which are copied; the members may be NULL. */
void findings_add_item(struct findings *f, const struct finding *item);
/* By file and line; findings without a line come last, in the order in which they were added. */
void findings_sort(struct findings *f);
/* "FILE:LINE: KEY: TEXT; REMEDY", what is missing left out; "warning: " before the key of one. */
void finding_format(struct buf *out, const struct finding *item);
/* The first error, as one; err may be NULL. Returns -1, or 0 if there is none. */
int findings_take_first(const struct findings *f, struct tc_err *err);
void findings_fini(struct findings *f);

#endif
