/* SPDX-License-Identifier: MIT
 * Cells of the tables that commands print from what the host says. */
#ifndef CLI_CONTROL_PRINT_TABLE_H
#define CLI_CONTROL_PRINT_TABLE_H

#include <jansson.h>
#include <stdint.h>

int64_t table_number(const json_t *o, const char *key);
/* As wide as said, 0: as it is; nothing in it acts on a terminal. text NULL: "-". */
void table_print(const char *text, int width);
void table_print_text(const json_t *o, const char *key, int width);
/* "3 d 4 h", "5 min 20 s" */
void table_print_time(int64_t ms, int width);

#endif
