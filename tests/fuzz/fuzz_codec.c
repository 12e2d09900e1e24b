/* SPDX-License-Identifier: MIT
 * Any line: what decodes is written as a line that reads and writes as itself. */
#include <stdint.h>
#include <stdlib.h>

#include "event/codec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Appends the line of the decoded line; -1 when it is none. */
static int rewrite(struct buf *out, const char *line, size_t len)
{
    struct arena a = {0};
    struct event ev;
    const int result = codec_decode(&ev, &a, line, len, NULL);
    if (result == 0)
        codec_encode(out, &ev);
    arena_fini(&a);
    return result;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP_BUF struct buf first = {0}, second = {0};
    if (rewrite(&first, (const char *)data, size) < 0)
        return 0;
    if (rewrite(&second, first.p, first.len) < 0)
        abort();
    if (first.len != second.len || memcmp(first.p, second.p, first.len) != 0)
        abort();
    return 0;
}
