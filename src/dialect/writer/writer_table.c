/* SPDX-License-Identifier: MIT
 * Registry of writers by name. */
#include <string.h>

#include "dialect/writer/writer_list.h"

/* clang-format off */
static const struct writer *const table[] = {
    &writer_agenticore_openai,
    &writer_ag_ui,
    &writer_ai_sdk,
    &writer_awaken,
    &writer_ethos,
    &writer_missy_audit,
    &writer_missy_json,
    &writer_otlp,
    &writer_reasonix,
    &writer_turncast,
};
/* clang-format on */

const struct writer *writer_get(size_t i)
{
    return i < sizeof(table) / sizeof(table[0]) ? table[i] : NULL;
}

const struct writer *writer_find(const char *name)
{
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        if (strcmp(table[i]->name, name) == 0)
            return table[i];
    return NULL;
}
