/* SPDX-License-Identifier: MIT
 * State of one parse, shared by the callbacks for blocks and for spans. Private to
 * src/text/markdown. */
#ifndef TEXT_MARKDOWN_MARKDOWN_INTERNAL_H
#define TEXT_MARKDOWN_MARKDOWN_INTERNAL_H

#include <md4c.h>

#include "text/markdown/doc_builder.h"
#include "text/markdown/text_table.h"

#define PARSE_INLINES_MAX 32 /* limit; deeper inline spans are treated as text */
#define LISTS_MAX 16         /* lists nested deeper share the last counter */

struct markdown_list {
    bool ordered, tight;
    char delimiter; /* as in the source */
    unsigned next;  /* number of the next item */
};

/* md4c may end a span that it did not begin (emphasis over half an address), so the nesting is
 * counted here. */
struct markdown_inline {
    enum doc_mark mark;
    bool recorded; /* recorded as a span */
};

struct markdown_parser {
    struct doc_builder out;
    struct text_table table;
    struct markdown_list lists[LISTS_MAX + 1]; /* 0: outside of all */
    unsigned list_depth;
    unsigned events;
    struct markdown_inline inlines[PARSE_INLINES_MAX];
    unsigned inline_depth;
    const char *link;       /* target of the outermost open link; NULL: not shown */
    unsigned link_depth;    /* its depth in `inlines` */
    size_t link_at;         /* start of its label, in a table */
    bool labelled;          /* the item has text */
    unsigned code_newlines; /* newlines of a code block, due before its next text */
    bool in_table, in_code_block;
    bool behind_marker; /* of a list item: the next block stays on its line */
};

/* The buffer for text: that of the doc, or that of a table cell. */
void markdown_append(struct markdown_parser *p, const char *text, size_t n);
void markdown_append_str(struct markdown_parser *p, const char *text);
/* Counts an event; not 0: a limit is reached, and the parser stops. */
int markdown_count_event(struct markdown_parser *p);
/* Closes open inline spans down to this depth. */
void markdown_close_inlines(struct markdown_parser *p, unsigned depth);
int markdown_enter_block(MD_BLOCKTYPE type, void *detail, void *arg);
int markdown_enter_leave_block(MD_BLOCKTYPE type, void *detail, void *arg);

#endif
