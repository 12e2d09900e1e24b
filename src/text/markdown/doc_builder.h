/* SPDX-License-Identifier: MIT
 * Builds a doc: appends text, opens and closes spans around it, separates blocks. A span begins at
 * its first character; a span without text is dropped. Pure. */
#ifndef TEXT_MARKDOWN_DOC_BUILDER_H
#define TEXT_MARKDOWN_DOC_BUILDER_H

#include "base/arena.h"
#include "base/bytes/buf.h"
#include "text/doc.h"

#define BUILDER_TEXT_MAX (1u << 20) /* limit of text and addresses of one doc in bytes */

struct doc_builder {
    struct arena *arena;
    struct buf text;
    struct doc_span *spans;
    size_t count, cap;
    uint32_t open[DOC_DEPTH];
    unsigned depth;    /* depth of `open` */
    unsigned too_deep; /* spans opened beyond the limit */
    unsigned newlines; /* newlines due before the next text */
    size_t attr_bytes;
};

/* A struct of zeros with an arena (the caller's) is valid and empty. */
void doc_builder_fini(struct doc_builder *b);
void doc_builder_open(struct doc_builder *b, enum doc_mark mark, unsigned level, const char *attr);
void doc_builder_close(struct doc_builder *b);
void doc_builder_text(struct doc_builder *b, const char *p, size_t n);
void doc_builder_repeat(struct doc_builder *b, char c, size_t n);
/* Requires at least n newlines before the next text, except at the beginning. */
void doc_builder_break(struct doc_builder *b, unsigned n);
bool doc_builder_is_full(const struct doc_builder *b);
/* A copy in the arena; all spans must be closed. */
struct doc doc_builder_finish(const struct doc_builder *b);

#endif
