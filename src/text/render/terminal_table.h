/* SPDX-License-Identifier: MIT
 * A table of a doc on a terminal: columns as wide as their cells; narrower, with cells of several
 * lines, where the line is too short; and where even that has no room, each row as lines of
 * "header: cell". */
#ifndef TEXT_RENDER_TERMINAL_TABLE_H
#define TEXT_RENDER_TERMINAL_TABLE_H

#include "text/doc.h"
#include "text/render/terminal_line.h"

#define TERMINAL_TABLE_COLUMNS 64 /* further cells of a row are not shown */

/* table: a DOC_TABLE whose rows and cells are recorded. The last line is not ended. */
void terminal_table_put(struct terminal_line *l, const struct doc *d, const struct doc_span *table);

#endif
