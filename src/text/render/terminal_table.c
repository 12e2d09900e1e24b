/* SPDX-License-Identifier: MIT
 * Lays out tables on a terminal. */
#include "text/render/terminal_table.h"

#include <string.h>

#include "base/bytes/utf8.h"
#include "text/display_width.h"

#define COLUMN_MIN 5 /* minimum width of a readable column */
#define GAP 3        /* " │ " */

struct terminal_table {
    struct terminal_line *line;
    const struct doc *doc;
    const struct doc_span *table;
    bool begun; /* a line of it is written */
    size_t n_columns;
    size_t widths[TERMINAL_TABLE_COLUMNS];
    bool left_blank[TERMINAL_TABLE_COLUMNS];  /* padding of a cell on its left… */
    bool right_blank[TERMINAL_TABLE_COLUMNS]; /* …or on both sides */
};

struct table_row {
    const struct doc_span *span;
    const struct doc_span *cells[TERMINAL_TABLE_COLUMNS];
    size_t n;
};

static const struct terminal_style plain = {0}, dim = {.dim = true}, bold = {.bold = true};

/* The next span of that mark behind `at` (at the start: the table) within `outer`, or NULL. */
static const struct doc_span *terminal_table_next_span(const struct doc *d,
                                                       const struct doc_span *at,
                                                       const struct doc_span *outer,
                                                       enum doc_mark mark)
{
    while (++at < d->spans + d->count && at->start < outer->end)
        if (at->mark == mark)
            return at;
    return NULL;
}

static bool terminal_table_next_row(const struct terminal_table *t, struct table_row *row)
{
    const struct doc_span *const from = row->span ? row->span : t->table;
    *row = (struct table_row){.span = terminal_table_next_span(t->doc, from, t->table, DOC_ROW)};
    if (!row->span)
        return false;
    for (const struct doc_span *cell = row->span; row->n < TERMINAL_TABLE_COLUMNS; row->n++) {
        cell = terminal_table_next_span(t->doc, cell, row->span, DOC_CELL);
        if (!cell)
            break;
        row->cells[row->n] = cell;
    }
    return true;
}

static struct str terminal_table_cell_text(const struct terminal_table *t,
                                           const struct table_row *row, size_t i)
{
    const struct doc_span *const cell = i < row->n ? row->cells[i] : NULL;
    return cell ? (struct str){t->doc->text.p + cell->start, cell->end - cell->start} : STR("");
}

/* Finds out whether the document pads the cell; " | " separates cells. */
static void terminal_table_find_padding(struct terminal_table *t, const struct table_row *row,
                                        size_t i)
{
    const char *const text = t->doc->text.p;
    size_t from = row->cells[i]->start, to = row->cells[i]->end;
    while (from > row->span->start && text[from - 1] == ' ')
        from--;
    while (to < row->span->end && text[to] == ' ')
        to++;
    const size_t left = row->cells[i]->start - from, right = to - row->cells[i]->end;
    if (left <= (i == 0 ? 0 : 1))
        return;
    t->left_blank[i] = true;
    t->right_blank[i] |= right > (i + 1 == row->n ? 0 : 1);
}

static void terminal_table_measure(struct terminal_table *t)
{
    struct table_row row = {0};
    while (terminal_table_next_row(t, &row))
        for (size_t i = 0; i < row.n; i++) {
            const size_t width = display_width_text(terminal_table_cell_text(t, &row, i));
            terminal_table_find_padding(t, &row, i);
            t->widths[i] = width > t->widths[i] ? width : t->widths[i];
            t->n_columns = i < t->n_columns ? t->n_columns : i + 1;
        }
}

/* ---- columns ---- */

static size_t total_width(const struct terminal_table *t)
{
    size_t total = t->n_columns ? (t->n_columns - 1) * GAP : 0;
    for (size_t i = 0; i < t->n_columns; i++)
        total += t->widths[i];
    return total;
}

static size_t terminal_table_widest_column(const struct terminal_table *t)
{
    size_t at = 0;
    for (size_t i = 1; i < t->n_columns; i++)
        if (t->widths[i] > t->widths[at])
            at = i;
    return at;
}

/* Narrows the widest columns. False: the columns would become unreadable. */
static bool terminal_table_shrink(struct terminal_table *t, size_t room)
{
    if (t->n_columns == 0 || t->n_columns * (COLUMN_MIN + GAP) > room + GAP)
        return total_width(t) <= room;
    for (size_t total = total_width(t); total > room;) {
        const size_t at = terminal_table_widest_column(t), over = total - room;
        size_t second = COLUMN_MIN;
        for (size_t i = 0; i < t->n_columns; i++)
            if (t->widths[i] < t->widths[at] && t->widths[i] > second)
                second = t->widths[i];
        const size_t most = t->widths[at] - second > 0 ? t->widths[at] - second : 1;
        t->widths[at] -= most < over ? most : over;
        total -= most < over ? most : over;
    }
    return true;
}

/* The part of a cell that fits a line of its column, cut at a blank if there is one. */
static size_t terminal_table_fitting_length(struct str cell, size_t width)
{
    size_t at = 0, used = 0, blank = 0, len;
    for (; at < cell.len; at += len) {
        const uint32_t cp = utf8_decode(cell.p + at, cell.len - at, &len);
        used += display_width_char(cp);
        if (used > width && cp != ' ')
            return blank ? blank : at ? at : len;
        if (cp == ' ')
            blank = at;
    }
    return cell.len;
}

static void put_blanks(struct terminal_line *l, size_t n)
{
    for (; n > 0; n--)
        terminal_line_put(l, STR(" "), &plain);
}

static struct str skip_blanks(struct str s)
{
    while (s.len > 0 && *s.p == ' ')
        s = (struct str){s.p + 1, s.len - 1};
    return s;
}

static void put_piece(struct terminal_table *t, size_t column, struct str piece, bool header)
{
    const size_t own = display_width_text(piece);
    const size_t fill = t->widths[column] > own ? t->widths[column] - own : 0;
    const size_t left = !t->left_blank[column] ? 0 : t->right_blank[column] ? fill / 2 : fill;
    put_blanks(t->line, left);
    terminal_line_put(t->line, piece, header ? &bold : &plain);
    if (column + 1 < t->n_columns) {
        put_blanks(t->line, fill - left);
        terminal_line_put(t->line, STR(" │ "), &dim);
    }
}

static void put_ruler(struct terminal_table *t)
{
    terminal_line_end(t->line);
    for (size_t i = 0; i < t->n_columns; i++) {
        if (i > 0)
            terminal_line_put(t->line, STR("─┼─"), &dim);
        for (size_t n = 0; n < t->widths[i]; n++)
            terminal_line_put(t->line, STR("─"), &dim);
    }
}

/* Writes the next line of the table. */
static void begin_table_line(struct terminal_table *t)
{
    if (t->begun)
        terminal_line_end(t->line);
    t->begun = true;
}

static void terminal_table_put_row(struct terminal_table *t, const struct table_row *row)
{
    struct str left[TERMINAL_TABLE_COLUMNS];
    bool more = true;
    for (size_t i = 0; i < t->n_columns; i++)
        left[i] = terminal_table_cell_text(t, row, i);
    while (more) {
        more = false;
        begin_table_line(t);
        for (size_t i = 0; i < t->n_columns; i++) {
            const size_t n = terminal_table_fitting_length(left[i], t->widths[i]);
            put_piece(t, i, (struct str){left[i].p, n}, row->span->level == 1);
            left[i] = skip_blanks((struct str){left[i].p + n, left[i].len - n});
            more |= left[i].len > 0;
        }
    }
    if (row->span->level == 1)
        put_ruler(t);
}

static void put_rows(struct terminal_table *t)
{
    struct table_row row = {0};
    terminal_line_flush(t->line);
    t->line->verbatim = true;
    while (terminal_table_next_row(t, &row))
        terminal_table_put_row(t, &row);
    t->line->verbatim = false;
}

/* Without columns, separates rows by blank lines. */
static void put_records(struct terminal_table *t)
{
    struct table_row header = {0}, row = {0};
    while (terminal_table_next_row(t, &row)) {
        if (row.span->level == 1) {
            header = row;
            continue;
        }
        if (t->begun)
            terminal_line_end(t->line);
        for (size_t i = 0; i < row.n; i++) {
            begin_table_line(t);
            terminal_line_put(t->line, terminal_table_cell_text(t, &header, i), &bold);
            terminal_line_put(t->line, STR(": "), &bold);
            terminal_line_put(t->line, terminal_table_cell_text(t, &row, i), &plain);
        }
    }
}

void terminal_table_put(struct terminal_line *l, const struct doc *d, const struct doc_span *table)
{
    struct terminal_table t = {.line = l, .doc = d, .table = table};
    terminal_table_measure(&t);
    if (terminal_table_shrink(&t, l->columns > l->prefix_width ? l->columns - l->prefix_width
                                                               : SIZE_MAX))
        put_rows(&t);
    else
        put_records(&t);
}
