/* SPDX-License-Identifier: MIT
 * Reads the events of one turn that another host publishes, in order and without gaps, from the
 * first one on: from what JetStream has stored and republished, and what is missing from the turn's
 * host ("feed"), else from the stream. Loop thread only. */
#ifndef CORE_BUS_BUS_READER_H
#define CORE_BUS_BUS_READER_H

#include <sys/queue.h>

#include "core/bus/bus_link.h"
#include "event/event.h"

struct bus_reader;

/* What is known of the turn, besides its events. */
enum bus_reader_turn {
    BUS_READER_RUNS,
    BUS_READER_OVER,  /* no more events are published */
    BUS_READER_EMPTY, /* the same, and there are none */
};

/* Where the events go; none of these frees the reader. */
struct bus_reader_sink {
    /* The next event, and its line. Both are valid for the call. */
    void (*event)(void *ctx, struct event *ev, struct str line);
    /* Events up to this one cannot be had. */
    void (*skip)(void *ctx, uint64_t up_to);
    /* A batch has come from that host. */
    void (*heard)(void *ctx, const struct bus_origin *from);
    enum bus_reader_turn (*look)(void *ctx);
    /* All events were given that there are. The last call. */
    void (*complete)(void *ctx);
};

/* host: of the turn; NULL: it is not known yet. Borrows the sink. */
struct bus_reader *bus_reader_new(struct bus_link *link, const char *turn, const char *host,
                                  const struct bus_reader_sink *sink, void *ctx);
/* An answer that is awaited is ignored when it comes. NULL is fine. */
void bus_reader_free(struct bus_reader *f);
/* Something may have been missed: asks for what is behind the last event. */
void bus_reader_repair(struct bus_reader *f);

#endif
