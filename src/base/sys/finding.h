/* SPDX-License-Identifier: MIT
 * Findings: the results of a check, in the order of detection. The list owns its texts. Any thread,
 * one at a time. */
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
    const char *file;   /* NULL: concerns no file */
    int line;           /* 0: concerns the whole file, or no file */
    const char *key;    /* the object: "agents.a.command"; or NULL */
    const char *text;   /* the problem */
    const char *remedy; /* the remedy, or the valid values; or NULL */
};

struct findings {
    struct arena arena;
    struct finding *items;
    size_t n, room, errors, warnings;
};

/* Adds one of a place ("file:line", "file" or "") and a message "KEY: TEXT; REMEDY", of which KEY
 * and REMEDY may be missing. KEY is a first word that ends with a colon. The remedy begins behind
 * the first "; " outside of double quotes, or is the last parenthesis if that begins with "did you
 * mean" or "configured:". Always returns -1, so that a check can return the call. */
int findings_add(struct findings *f, enum finding_level level, const char *place, const char *fmt,
                 ...) PRINTF_LIKE(4, 5);
/* The same with an error. Returns -1. */
int findings_add_err(struct findings *f, enum finding_level level, const struct tc_err *err);
/* Adds a finding from its parts, which are copied; members may be NULL. */
void findings_add_item(struct findings *f, const struct finding *item);
/* Sorts by file and line; findings without a line come last, in their order. */
void findings_sort(struct findings *f);
/* "FILE:LINE: KEY: TEXT; REMEDY" without missing parts; "warning: " precedes the key of a
 * warning. */
void finding_format(struct buf *out, const struct finding *item);
/* Returns the first error in err (which may be NULL). -1, or 0 if there is none. */
int findings_take_first(const struct findings *f, struct tc_err *err);
void findings_fini(struct findings *f);

#endif
