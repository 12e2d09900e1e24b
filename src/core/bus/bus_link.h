/* SPDX-License-Identifier: MIT
 * State that the parts of the bus share: connection, names, identity and counters of this host; and
 * functions to read stored messages one after the other. Loop thread only. */
#ifndef CORE_BUS_BUS_LINK_H
#define CORE_BUS_BUS_LINK_H

#include "base/histogram.h"
#include "core/bus/bus_message.h"
#include "core/bus/bus_stream.h"
#include "io/nats/nats_client.h"

#define BUS_REQUEST_MS 2000 /* deadline of a request to another host */
/* Deadline of a request to the servers, which may have to elect a leader. */
#define BUS_STORE_MS 5000

struct bus_counters {
    uint64_t batches; /* published and stored */
    uint64_t fenced;  /* turns that another publisher has taken over */
    uint64_t refused; /* publishes refused for a possibly temporary reason */
    uint64_t gaps;    /* events missing in the stream of a turn, fetched afterwards */
    uint64_t dropped; /* turns whose events were not published because too many waited */
    /* Seconds from a publish to the reply that it is stored. */
    struct histogram publish;
    /* Seconds from an event on the turn's host to its arrival here, by the clocks of both hosts. */
    struct histogram lag;
};

struct bus_link {
    struct loop *loop;
    struct nats_client *client;
    struct bus_names names;
    char boot[BUS_BOOT_MAX + 1];
    const char *identity;          /* unique to this host, and unchanged by restarts */
    int64_t lease_ms[BUS_STREAMS]; /* lease duration of the buckets of leases on the servers */
    int64_t n;                     /* number of published messages */
    bool is_active;                /* connected, streams exist, the lease of the host's name is
                                    * held */
    int64_t inactive_ms;           /* since when it is not, monotonic; 0: it has never been */
    struct turnlog *turnlog;
    struct bus_counters counters;
};

/* It has not been active for so long, or never. */
bool bus_link_is_lost(const struct bus_link *l, int64_t after_ms);

/* The origin for the next message. */
struct bus_origin bus_link_next_origin(struct bus_link *l);

/* Publishes to a stream on the condition that `expected` is its last sequence. */
void bus_link_store(struct bus_link *l, const char *subject, struct str data, uint64_t expected,
                    nats_client_on_reply *on_reply, void *ctx);
/* Interprets the reply; fills ack. */
enum bus_link_stored {
    BUS_LINK_STORED,
    BUS_LINK_WRONG,
    BUS_LINK_REFUSED,
    BUS_LINK_LOST,
    BUS_LINK_UNSENT
};
enum bus_link_stored bus_link_read_stored(enum nats_client_result result,
                                          const struct nats_client_message *m, struct bus_ack *ack);

/* Requests the last message of a subject. The reply is the message, or has the status 404. */
void bus_link_read_last(struct bus_link *l, enum bus_stream stream, const char *subject,
                        nats_client_on_reply *on_reply, void *ctx);
/* Whether the servers have answered: with the message, or that there is none. */
bool bus_link_is_answered(enum nats_client_result result, const struct nats_client_message *m);
/* Requests the first message from `sequence` on whose subject matches. */
void bus_link_read_next(struct bus_link *l, enum bus_stream stream, const char *subject,
                        uint64_t sequence, nats_client_on_reply *on_reply, void *ctx);

#endif
