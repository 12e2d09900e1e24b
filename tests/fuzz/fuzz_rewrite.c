/* SPDX-License-Identifier: MIT
 * Any stream read by any dialect and written by every writer: the promises are kept between, and
 * every line that is written is JSON. The first line of the input names the dialect. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dialect/rewrite.h"
#include "event/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void is_json(const char *line, size_t len, const char *writer)
{
    struct json j;
    json_start(&j, line, len);
    json_skip(&j, NULL);
    if (json_finish(&j) == 0)
        return;
    fprintf(stderr, "%s: %.*s\n", writer, (int)len, line);
    abort();
}

static void check(const char *dialect, const char *writer, const char *stream, size_t len)
{
    const struct rewrite r = {.dialect = dialect, .writer = writer};
    char *const got = rewrite(&r, stream, len);
    if (strncmp(got, "broken promise", 14) == 0) {
        fprintf(stderr, "%s: %s\n", dialect, got);
        abort();
    }
    for (const char *p = got; *p; p += strcspn(p, "\n") + 1)
        is_json(p, strcspn(p, "\n"), writer);
    free(got);
}

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
    for (size_t i = 0; dialect && writer_at(i); i++)
        check(dialect->name, writer_at(i)->name, newline + 1, size - head);
    return 0;
}
