/* SPDX-License-Identifier: MIT
 * Owns the memory of a stream. */
#include "core/turn/agent_stream.h"

#include <stdlib.h>

#include "base/alloc.h"

struct stream *stream_new(const struct dialect *dialect, int64_t max_line)
{
    struct stream *const s = xcalloc(1, sizeof *s);
    s->lines.cap = (size_t)max_line;
    translate_init(&s->translate, dialect, NULL, NULL);
    return s;
}

void stream_free(struct stream *s)
{
    if (!s)
        return;
    lines_fini(&s->lines);
    translate_fini(&s->translate);
    free(s);
}
