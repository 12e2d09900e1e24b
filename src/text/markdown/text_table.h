/* SPDX-License-Identifier: MIT
 * Lays out a table as aligned columns, by display width. */
#ifndef TEXT_MARKDOWN_TEXT_TABLE_H
#define TEXT_MARKDOWN_TEXT_TABLE_H

#include "text/markdown/doc_builder.h"

enum table_align { TABLE_LEFT, TABLE_CENTER, TABLE_RIGHT };

struct table_cell {
    size_t at, len; /* offsets in the table's text */
    enum table_align align;
};

struct text_table {
    struct buf text;
    struct table_cell *cells; /* in rows of `columns` cells, the header first */
    size_t count, cap;
    size_t columns;
};

/* A struct of zeros is empty. */
void text_table_fini(struct text_table *t);
/* Removes all cells, and starts with this number of columns. */
void text_table_begin(struct text_table *t, size_t columns);
/* Begins a cell; the caller then appends text to t->text. */
void text_table_add_cell(struct text_table *t, enum table_align align);
/* Writes DOC_TABLE with its rows and cells. */
void text_table_build(struct text_table *t, struct doc_builder *b);

#endif
