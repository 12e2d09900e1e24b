/* SPDX-License-Identifier: MIT
 * Reader for canonical event lines (a log of this or another host). */
#include <string.h>

#include "dialect/dialect_list.h"
#include "dialect/reader/value.h"
#include "dialect/turncast/turncast_run.h"
#include "event/codec.h"

static int turncast_read_sniff_line(struct str line, const char *event)
{
    (void)event;
    const struct str type = value_string(value_get_last(line, "type"));
    const bool known = type.p && kind_from_name(type.p, type.len) >= 0;
    return known && value_get_last(line, "payload").p && value_get_last(line, "seq").p
               ? DIALECT_SCORE_CERTAIN
               : 0;
}

struct log {
    bool done; /* the turn's done was read */
};

static int turncast_read_read_line(void *state, const struct dialect_sink *out, const char *line,
                                   size_t len)
{
    struct log *const log = state;
    struct event ev;
    const char *why;
    if (codec_decode(&ev, out->scratch, line, len, &why) < 0)
        return -1;
    log->done |= ev.kind == TC_DONE;
    dialect_emit_draft(out, &ev);
    return 0;
}

/* The fate of a message is for the gateway itself (turncast_run_line). */
static int turncast_read_read_run_line(void *state, const struct dialect_sink *out,
                                       const char *line, size_t len)
{
    struct event ev;
    const char *why;
    if (memmem(line, len, "\"message_", 9) &&
        codec_decode(&ev, out->scratch, line, len, &why) == 0 && ev.kind == TC_NOTICE &&
        turncast_run_is_fate(ev.u.notice.code))
        return 0;
    return turncast_read_read_line(state, out, line, len);
}

static enum dialect_begin turncast_read_begins_turn(const void *state, struct str line)
{
    const struct log *const log = state;
    const bool begins = log->done && value_equals(value_get_last(line, "type"), "start");
    return begins ? DIALECT_USERS_TURN : DIALECT_GOES_ON;
}

const struct dialect dialect_turncast = {
    .name = "turncast",
    .summary = "canonical events, one per line",
    .state_size = sizeof(struct log),
    .sniff = turncast_read_sniff_line,
    .line = turncast_read_read_line,
    .begins = turncast_read_begins_turn,
};

const struct dialect dialect_turncast_run = {
    .name = "turncast",
    .summary = "canonical events of a turn on another host",
    .state_size = sizeof(struct log),
    .line = turncast_read_read_run_line,
    .input = &turncast_run_input,
};
