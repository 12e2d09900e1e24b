/* SPDX-License-Identifier: MIT
 * Output stream of one agent process: splits bytes into lines and translates them. The stream may
 * contain several turns, one after the other; the dialect's state of the whole stream (session,
 * running totals) is kept from turn to turn. Loop thread only. */
#ifndef CORE_TURN_AGENT_STREAM_H
#define CORE_TURN_AGENT_STREAM_H

#include "io/loop/line_splitter.h"
#include "turn/translator.h"

struct agent_stream {
    struct line_splitter lines;
    struct translator translate;
};

/* The owner sets the callbacks of `lines` and `translate`. Borrows the dialect; NULL: the dialect
 * is detected from the first lines. */
struct agent_stream *agent_stream_new(const struct dialect *dialect, int64_t max_line);
/* NULL is fine. */
void agent_stream_free(struct agent_stream *s);

#endif
