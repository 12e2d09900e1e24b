/* SPDX-License-Identifier: MIT
 * Renders a table of a doc on a terminal: columns as wide as their cells; if the line is too short,
 * narrower columns with cells of several lines; if even those do not fit, each row as lines of
 * "header: cell". */
#ifndef TEXT_RENDER_TERMINAL_TABLE_H
#define TEXT_RENDER_TERMINAL_TABLE_H

#include "text/doc.h"
#include "text/render/terminal_line.h"

#define TERMINAL_TABLE_COLUMNS 64 /* further cells of a row are not shown */

/* table: a DOC_TABLE whose rows and cells are recorded. The caller ends the last line. */
void terminal_table_put(struct terminal_line *l, const struct doc *d, const struct doc_span *table);

#endif
