/* SPDX-License-Identifier: MIT
 * Owns the check of a stream that was read and written. */
#include "fuzz/stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dialect/rewrite.h"
#include "event/json/json_reader.h"

static void is_json(const char *line, size_t len, const char *writer)
{
    struct json j;
    json_init(&j, line, len);
    json_reader_skip(&j, NULL);
    if (json_reader_finish(&j) == 0)
        return;
    fprintf(stderr, "%s: %.*s\n", writer, (int)len, line);
    abort();
}

void stream_try(const char *dialect, const char *writer, const char *stream, size_t len)
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
