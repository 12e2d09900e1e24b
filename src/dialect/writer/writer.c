/* SPDX-License-Identifier: MIT
 * Writes the framing, and owns a writer's state. */
#include "dialect/writer/writer.h"

#include <stdlib.h>

#include "base/alloc.h"

struct buf *writer_begin_message(const struct writer_out *out)
{
    if (out->conf->framing == FRAMING_SSE)
        buf_add_str(out->buf, "data: ");
    return out->buf;
}

void writer_begin_end_message(const struct writer_out *out)
{
    buf_add_str(out->buf, out->conf->framing == FRAMING_SSE ? "\n\n" : "\n");
}

void writer_stream_init(struct writer_stream *w, const struct writer *writer,
                        const struct writer_conf *conf)
{
    *w = (struct writer_stream){
        .writer = writer, .conf = *conf, .state = xcalloc(1, writer->state_size)};
}

void writer_stream_write(struct writer_stream *w, struct buf *out, const struct event *ev)
{
    w->writer->event(w->state, &(struct writer_out){.buf = out, .conf = &w->conf}, ev);
}

void writer_stream_fini(struct writer_stream *w)
{
    if (w->writer && w->writer->close)
        w->writer->close(w->state);
    free(w->state);
    *w = (struct writer_stream){0};
}
