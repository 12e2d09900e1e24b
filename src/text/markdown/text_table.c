/* SPDX-License-Identifier: MIT
 * Owns the columns of tables. */
#include "text/markdown/text_table.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/bytes/utf8.h"
#include "base/cleanup.h"

#define WIDTH_MAX 40 /* a cell wider than this does not widen the others */

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

static bool in_ranges(uint32_t cp, const uint32_t (*ranges)[2], size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (cp >= ranges[i][0] && cp <= ranges[i][1])
            return true;
    return false;
}

static size_t char_width(uint32_t cp)
{
    static const uint32_t none[][2] = {{0x300, 0x36f},   {0x200b, 0x200f}, {0x20d0, 0x20ff},
                                       {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}, {0x1f3fb, 0x1f3ff}};
    static const uint32_t wide[][2] = {{0x1100, 0x115f},   {0x231a, 0x231b},   {0x2705, 0x2705},
                                       {0x274c, 0x274c},   {0x2e80, 0x303e},   {0x3041, 0xa4cf},
                                       {0xac00, 0xd7a3},   {0xf900, 0xfaff},   {0xfe30, 0xfe6f},
                                       {0xff00, 0xff60},   {0xffe0, 0xffe6},   {0x1f1e6, 0x1f64f},
                                       {0x1f680, 0x1f6ff}, {0x1f900, 0x1faff}, {0x20000, 0x3fffd}};
    if (cp < 0x300)
        return 1;
    if (in_ranges(cp, none, sizeof none / sizeof none[0]))
        return 0;
    return in_ranges(cp, wide, sizeof wide / sizeof wide[0]) ? 2 : 1;
}

/* How many columns of a terminal the text takes: wide characters two, marks none. */
static size_t text_table_display_width(struct str text)
{
    size_t width = 0, len;
    for (size_t at = 0; at < text.len; at += len)
        width += char_width(utf8_decode(text.p + at, text.len - at, &len));
    return width;
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
        const size_t width = text_table_display_width(cell_text(t, i));
        size_t *column = &widths[i % t->columns];
        if (width > *column)
            *column = width < WIDTH_MAX ? width : WIDTH_MAX;
    }
    return widths;
}

/* The last column is not filled on its right. */
static void build_cell(const struct text_table *t, struct doc_builder *b, size_t i, size_t width)
{
    const struct str text = cell_text(t, i);
    const size_t own = text_table_display_width(text);
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

static void build_ruler(const struct text_table *t, struct doc_builder *b, const size_t *widths)
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
            build_ruler(t, b, widths);
        }
    }
    doc_builder_close(b);
}
