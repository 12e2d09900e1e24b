/* SPDX-License-Identifier: MIT
 * The state of one parse, between the half that is told of blocks and the half that is told of
 * what is in them. Nobody else includes it. */
#ifndef TEXT_MARKDOWN_MARKDOWN_INTERNAL_H
#define TEXT_MARKDOWN_MARKDOWN_INTERNAL_H

#include <md4c.h>

#include "text/markdown/doc_builder.h"
#include "text/markdown/text_table.h"

#define PARSE_INLINES_MAX 32 /* nested deeper, they are text */
#define LISTS_MAX 16         /* lists nested deeper share the last number */

struct markdown_list {
    bool ordered, tight;
    char delimiter; /* as in the source */
    unsigned next;  /* number */
};

/* md4c may end what it did not begin (emphasis over half an address), so we keep count. */
struct markdown_inline {
    enum doc_mark mark;
    bool recorded; /* as a span */
};

struct markdown_parser {
    struct doc_builder out;
    struct text_table table;
    struct markdown_list lists[LISTS_MAX + 1]; /* 0: outside of all */
    unsigned list_depth;
    unsigned events;
    struct markdown_inline inlines[PARSE_INLINES_MAX];
    unsigned inline_depth;
    const char *link;       /* address of the outermost open link; NULL: none worth telling */
    unsigned link_depth;    /* of it in `inlines` */
    size_t link_at;         /* where its label begins, in a table */
    bool labelled;          /* it has text */
    unsigned code_newlines; /* of a code block, owed before its next text */
    bool in_table, in_code_block;
    bool behind_marker; /* of a list item: what comes next stays on its line */
};

/* Into the text, or into the cell of a table. */
void markdown_append(struct markdown_parser *p, const char *text, size_t n);
void parse_put_str(struct markdown_parser *p, const char *text);
/* Counts an event; not 0: it was the last, a cap is reached. */
int markdown_count_event(struct markdown_parser *p);
/* Ends inlines that are open, down to this depth. */
void markdown_close_inlines(struct markdown_parser *p, unsigned depth);
int markdown_enter_block(MD_BLOCKTYPE type, void *detail, void *arg);
int markdown_enter_leave_block(MD_BLOCKTYPE type, void *detail, void *arg);

#endif
