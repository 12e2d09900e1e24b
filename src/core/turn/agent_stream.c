/* SPDX-License-Identifier: MIT
 * Owns the memory of a stream. */
#include "core/turn/agent_stream.h"

#include <stdlib.h>

#include "base/alloc.h"

struct agent_stream *agent_stream_new(const struct dialect *dialect, int64_t max_line)
{
    struct agent_stream *const s = xcalloc(1, sizeof *s);
    s->lines.cap = (size_t)max_line;
    translator_init(&s->translate, dialect, NULL, NULL);
    return s;
}

void agent_stream_free(struct agent_stream *s)
{
    if (!s)
        return;
    line_splitter_fini(&s->lines);
    translator_fini(&s->translate);
    free(s);
}
