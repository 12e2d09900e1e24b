/* SPDX-License-Identifier: MIT
 * The output of one process of an agent: bytes are cut into lines, and these translated. It may
 * hold several turns, one after the other; what a dialect knows of the whole stream (its session,
 * running totals) goes on from one to the next. Loop thread only. */
#ifndef CORE_TURN_AGENT_STREAM_H
#define CORE_TURN_AGENT_STREAM_H

#include "io/loop/line_splitter.h"
#include "turn/translator.h"

struct agent_stream {
    struct line_splitter lines;
    struct translator translate;
};

/* Who reads `lines` and `translate` sets their callbacks. Borrows the dialect; NULL: it is found
 * from the first lines. */
struct agent_stream *agent_stream_new(const struct dialect *dialect, int64_t max_line);
/* NULL is fine. */
void agent_stream_free(struct agent_stream *s);

#endif
