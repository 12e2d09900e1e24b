/* SPDX-License-Identifier: MIT
 * Writer of canonical event lines. */
#include "dialect/writer/writer_list.h"
#include "event/codec.h"

static void turncast_write_write_event(void *state, const struct writer_out *out,
                                       const struct event *ev)
{
    (void)state;
    codec_encode(writer_begin_message(out), ev);
    writer_begin_end_message(out);
}

const struct writer writer_turncast = {
    .name = "turncast",
    .summary = "canonical events",
    .state_size = 1,
    .event = turncast_write_write_event,
};
