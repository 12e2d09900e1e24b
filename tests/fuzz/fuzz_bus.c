/* SPDX-License-Identifier: MIT
 * Fuzz target: any bytes as a message of the bus. What is read of a batch has lines that lie within
 * the message; what is read of a turn's state can be written and read again, and says the same. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "core/bus/bus_message.h"
#include "core/bus/bus_stream.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool good)
{
    if (!good)
        abort();
}

static bool is_same(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static void try_batch(struct str message)
{
    struct bus_batch b;
    struct str lines, line;
    const char *const end = message.p + message.len;
    if (bus_batch_read(message, &b, &lines) < 0)
        return;
    must(b.last >= b.after && *b.from.host && strlen(b.from.host) <= BUS_HOST_MAX);
    while (bus_batch_next_line(&lines, &line))
        must(line.p >= message.p && line.p + line.len <= end && !memchr(line.p, '\n', line.len));
}

static void try_state(struct str message)
{
    struct arena a = {0};
    struct turnlog_turn t, again;
    CLEANUP_BUF struct buf out = {0};
    if (bus_state_read(message, &a, &t) == 0) {
        const struct bus_origin from = {"h", "b", 1};
        bus_state_write(&out, &from, &t, t.requests);
        must(bus_state_read((struct str){out.p, out.len}, &a, &again) == 0);
        must(is_same(t.spec.id, again.spec.id) && is_same(t.spec.task, again.spec.task));
        must(t.state == again.state && t.last_seq == again.last_seq && t.tools == again.tools);
        must(is_same(again.spec.host, "h"));
    }
    arena_fini(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct bus_names names = {"tc", "h"};
    const struct str message = {(const char *)data, size};
    struct bus_origin from;
    struct bus_ack ack;
    CLEANUP_BUF struct buf why = {0};
    if (bus_origin_read(message, &from) == 0)
        must(*from.host && memchr(from.boot, 0, sizeof from.boot));
    try_batch(message);
    try_state(message);
    bus_ack_read(message, &ack);
    must(memchr(ack.text, 0, sizeof ack.text));
    bus_message_text(message, "/identity");
    bus_message_number(message, "/since_ms");
    bus_stream_compare(message, &names, BUS_EVENTS, 1, &why);
    return 0;
}
