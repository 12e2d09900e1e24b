/* SPDX-License-Identifier: MIT
 * Formatted text without syntax: plain UTF-8, and spans over it with their meaning. The visible
 * form of a list or a table (bullets, columns) is part of the text. Pure. */
#ifndef TEXT_DOC_H
#define TEXT_DOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

enum doc_mark {
    DOC_BOLD,
    DOC_ITALIC,
    DOC_STRIKE,
    DOC_CODE,
    DOC_LINK,    /* attr: the address, without blanks and quotes */
    DOC_PRE,     /* attr: the language, "" if none */
    DOC_TABLE,   /* aligned lines; holds rows and a ruler */
    DOC_ROW,     /* level 1: of the header */
    DOC_CELL,    /* without its padding; never empty */
    DOC_HEADING, /* level 1 to 6 */
    DOC_QUOTE,
    DOC_FOLD,   /* the whole text, to be shown collapsed */
    DOC_ITEM,   /* item of a list, including its marker */
    DOC_MARKER, /* attr: the marker as Markdown writes it, such as "- [x] " */
    DOC_RULE,
};

#define DOC_DEPTH 64 /* spans nested deeper are not recorded */
#define DOC_NONE UINT32_MAX

/* Never empty. Spans nest; they are sorted by start, the outer one first. */
struct doc_span {
    uint32_t start, end; /* bytes */
    uint32_t parent;     /* index; DOC_NONE: outermost */
    uint16_t level;
    uint16_t mark;
    const char *attr; /* NUL-terminated, or NULL */
};

/* Owned by its arena. */
struct doc {
    struct str text;
    const struct doc_span *spans;
    size_t count;
    bool unformatted; /* a limit was exceeded: the text is the source, without spans */
};

struct doc_range {
    size_t from, to;
};

/* Visitor of a range: spans that extend beyond it are opened and closed at its ends. */
struct doc_visitor {
    void (*open)(void *arg, const struct doc_span *s);
    void (*close)(void *arg, const struct doc_span *s);
    void (*text)(void *arg, struct str run); /* never empty; a part of the text in which no span
                                              * begins or ends */
};

void doc_walk(const struct doc *d, struct doc_range r, const struct doc_visitor *v, void *arg);
/* The innermost span with start < at < end, or NULL; d->spans[s->parent] leads outward. */
const struct doc_span *doc_find_innermost(const struct doc *d, size_t at);
const struct doc_span *doc_get_parent(const struct doc *d, const struct doc_span *s);
/* The text of the span within the range. */
struct str doc_span_text(const struct doc *d, const struct doc_span *s, struct doc_range r);

#endif
