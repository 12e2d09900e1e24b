/* SPDX-License-Identifier: MIT
 * Computes the column widths of tables. */
#include "text/markdown/text_table.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "text/display_width.h"

#define WIDTH_MAX 40 /* a wider cell does not widen the other rows */

void text_table_fini(struct text_table *t)
{
    buf_fini(&t->text);
    free(t->cells);
    *t = (struct text_table){0};
}

void text_table_begin(struct text_table *t, size_t columns)
{
    buf_reset(&t->text);
    t->count = 0;
    t->columns = columns ? columns : 1;
}

static void end_cell(struct text_table *t)
{
    if (t->count > 0)
        t->cells[t->count - 1].len = t->text.len - t->cells[t->count - 1].at;
}

void text_table_add_cell(struct text_table *t, enum table_align align)
{
    end_cell(t);
    t->cells = alloc_grow(t->cells, t->count, &t->cap, sizeof *t->cells);
    t->cells[t->count++] = (struct table_cell){.at = t->text.len, .align = align};
}

static struct str cell_text(const struct text_table *t, size_t i)
{
    const struct table_cell *c = &t->cells[i];
    return c->len ? (struct str){t->text.p + c->at, c->len} : STR(" ");
}

static size_t *column_widths(const struct text_table *t)
{
    size_t *widths = xcalloc(t->columns, sizeof *widths);
    for (size_t i = 0; i < t->count; i++) {
        const size_t width = display_width_text(cell_text(t, i));
        size_t *column = &widths[i % t->columns];
        if (width > *column)
            *column = width < WIDTH_MAX ? width : WIDTH_MAX;
    }
    return widths;
}

/* The last column gets no padding on its right. */
static void build_cell(const struct text_table *t, struct doc_builder *b, size_t i, size_t width)
{
    const struct str text = cell_text(t, i);
    const size_t own = display_width_text(text);
    const size_t fill = width > own ? width - own : 0;
    const size_t left = t->cells[i].align == TABLE_LEFT     ? 0
                        : t->cells[i].align == TABLE_CENTER ? fill / 2
                                                            : fill;
    doc_builder_repeat(b, ' ', left);
    doc_builder_open(b, DOC_CELL, 0, NULL);
    doc_builder_text(b, text.p, text.len);
    doc_builder_close(b);
    if ((i + 1) % t->columns != 0)
        doc_builder_repeat(b, ' ', fill - left);
}

static void build_row(const struct text_table *t, struct doc_builder *b, size_t first,
                      const size_t *widths)
{
    doc_builder_open(b, DOC_ROW, first == 0, NULL);
    for (size_t i = first; i < first + t->columns && i < t->count; i++) {
        if (i > first)
            doc_builder_text(b, " | ", 3);
        build_cell(t, b, i, widths[i - first]);
    }
    doc_builder_close(b);
}

static void text_table_build_ruler(const struct text_table *t, struct doc_builder *b,
                                   const size_t *widths)
{
    for (size_t i = 0; i < t->columns; i++) {
        if (i > 0)
            doc_builder_text(b, "-+-", 3);
        doc_builder_repeat(b, '-', widths[i]);
    }
}

void text_table_build(struct text_table *t, struct doc_builder *b)
{
    end_cell(t);
    CLEANUP_FREE size_t *widths = column_widths(t);
    doc_builder_open(b, DOC_TABLE, 0, NULL);
    for (size_t first = 0; first < t->count && !doc_builder_is_full(b); first += t->columns) {
        if (first > 0)
            doc_builder_text(b, "\n", 1);
        build_row(t, b, first, widths);
        if (first == 0) {
            doc_builder_text(b, "\n", 1);
            text_table_build_ruler(t, b, widths);
        }
    }
    doc_builder_close(b);
}
