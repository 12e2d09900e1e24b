/* SPDX-License-Identifier: MIT
 * Reads the events of one turn that another host publishes, in order and without gaps, from the
 * first one on: those that JetStream has stored and republished; missing ones from the turn's host
 * ("feed"), otherwise from the stream. Loop thread only. */
#ifndef CORE_BUS_BUS_READER_H
#define CORE_BUS_BUS_READER_H

#include <sys/queue.h>

#include "core/bus/bus_link.h"
#include "event/event.h"

struct bus_reader;

/* State of the turn, besides its events. */
enum bus_reader_turn {
    BUS_READER_RUNS,
    BUS_READER_OVER,  /* no more events will be published */
    BUS_READER_EMPTY, /* the same, and there were none */
};

/* Receiver of the events; none of these functions may free the reader. */
struct bus_reader_sink {
    /* The next event and its line, both valid during the call. */
    void (*event)(void *ctx, struct event *ev, struct str line);
    /* Events up to this one are lost. */
    void (*skip)(void *ctx, uint64_t up_to);
    /* A batch has arrived from that host. */
    void (*heard)(void *ctx, const struct bus_origin *from);
    enum bus_reader_turn (*look)(void *ctx);
    /* All available events were passed on. The last call. */
    void (*complete)(void *ctx);
};

/* host: of the turn; NULL: unknown yet, then it is the only one that publishes its events. Borrows
 * the sink. */
struct bus_reader *bus_reader_new(struct bus_link *link, const char *turn, const char *host,
                                  const struct bus_reader_sink *sink, void *ctx);
/* The host has become known. Requests the events that were missed. Nothing if it was known. */
void bus_reader_set_host(struct bus_reader *f, const char *host);
/* A pending reply is ignored when it arrives. NULL is allowed. */
void bus_reader_free(struct bus_reader *f);
/* Messages may have been missed: requests the events behind the last one. */
void bus_reader_repair(struct bus_reader *f);

#endif
