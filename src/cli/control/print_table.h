/* SPDX-License-Identifier: MIT
 * Lays out a table as aligned columns, by display width. */
#ifndef CLI_CONTROL_PRINT_TABLE_H
#define CLI_CONTROL_PRINT_TABLE_H

#include <jansson.h>
#include <stdint.h>

int64_t print_table_get_int(const json_t *o, const char *key);
/* Prints a cell of that width (0: no padding), without control characters. text NULL: "-". */
void print_table_cell(const char *text, int width);
void print_table_string(const json_t *o, const char *key, int width);
/* "3 d 4 h", "5 min 20 s" */
void print_table_duration(int64_t ms, int width);
/* Prints a note if the response is incomplete because the bus is unavailable. */
void print_table_bus_away(const json_t *body);

#endif
