/* SPDX-License-Identifier: MIT
 * Any stream read by any dialect and written by every writer: the promises are kept between,
 * every line that is written is JSON, and AG-UI's also keep the rules of its reader. The first line
 * of the input names the dialect. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "dialect/dialect.h"
#include "dialect/writer/writer.h"
#include "fuzz/stream.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *const text = (const char *)data;
    const char *const newline = size ? memchr(text, '\n', size) : NULL;
    char name[32];
    if (!newline || newline - text >= (long)sizeof(name))
        return 0;
    snprintf(name, sizeof(name), "%.*s", (int)(newline - text), text);
    const struct dialect *const dialect = dialect_find(name);
    const size_t head = (size_t)(newline + 1 - text);
    for (size_t i = 0; dialect && writer_get(i); i++)
        stream_try(dialect->name, writer_get(i)->name, newline + 1, size - head);
    return 0;
}
