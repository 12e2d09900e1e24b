/* SPDX-License-Identifier: MIT
 * Formats values for table cells. */
#include "cli/control/print_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes/buf.h"
#include "text/text_clean.h"

int64_t print_table_get_int(const json_t *o, const char *key)
{
    return (int64_t)json_number_value(json_object_get(o, key));
}

void print_table_cell(const char *text, int width)
{
    CLEANUP_BUF struct buf clean = {0};
    text_clean_append(&clean, text ? text : "-", text ? strlen(text) : 1);
    printf("%-*.*s", width, width > 0 ? width - 1 : 200, clean.p ? clean.p : "");
}

void print_table_string(const json_t *o, const char *key, int width)
{
    print_table_cell(json_string_value(json_object_get(o, key)), width);
}

void print_table_duration(int64_t ms, int width)
{
    static const struct {
        int64_t s;
        const char *big, *small;
        int64_t part;
    } units[] = {
        {86400, "d", "h", 3600}, {3600, "h", "min", 60}, {60, "min", "s", 1}, {1, "s", NULL, 1}};
    const int64_t s = ms / 1000;
    size_t i = 0;
    while (s < units[i].s && units[i].small)
        i++;
    char text[64];
    const int n = snprintf(text, sizeof text, "%" PRId64 " %s", s / units[i].s, units[i].big);
    if (units[i].small && s % units[i].s / units[i].part)
        snprintf(text + n, sizeof text - (size_t)n, " %" PRId64 " %s",
                 s % units[i].s / units[i].part, units[i].small);
    printf("%-*s", width, text);
}

void print_table_bus_away(const json_t *body)
{
    const json_t *const bus = json_object_get(body, "bus");
    if (json_is_true(json_object_get(body, "complete")))
        return;
    fputs("The bus does not answer: ", stdout);
    print_table_string(bus, "state", 0);
    if (json_object_get(bus, "reason")) {
        fputs(", ", stdout);
        print_table_string(bus, "reason", 0);
    }
    putchar('\n');
}
