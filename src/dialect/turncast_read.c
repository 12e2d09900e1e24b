/* SPDX-License-Identifier: MIT
 * Reads canonical lines: the log of another host, or of this one. */
#include "dialect/dialects.h"
#include "dialect/value.h"
#include "event/codec.h"

static int sniff_line(struct str line, const char *event)
{
    (void)event;
    const struct str type = value_string(value_member(line, "type"));
    const bool known = type.p && kind_find(type.p, type.len) >= 0;
    return known && value_member(line, "payload").p && value_member(line, "seq").p ? DIALECT_SURE
                                                                                   : 0;
}

static int read_line(void *state, const struct dialect_out *out, const char *line, size_t len)
{
    struct event ev;
    const char *why;
    (void)state;
    if (codec_decode(&ev, out->scratch, line, len, &why) < 0)
        return -1;
    dialect_emit(out, &ev);
    return 0;
}

const struct dialect dialect_turncast = {
    .name = "turncast",
    .summary = "canonical events, one per line",
    .sniff = sniff_line,
    .line = read_line,
};
