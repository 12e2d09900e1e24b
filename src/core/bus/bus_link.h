/* SPDX-License-Identifier: MIT
 * What the parts of the bus share: the connection, the names, this host's identity and counters;
 * and reading stored messages one after the other. Loop thread only. */
#ifndef CORE_BUS_BUS_LINK_H
#define CORE_BUS_BUS_LINK_H

#include "base/histogram.h"
#include "core/bus/bus_message.h"
#include "core/bus/bus_stream.h"
#include "io/nats/nats_client.h"

#define BUS_REQUEST_MS 2000 /* of a request to another host */
#define BUS_STORE_MS 5000   /* of a request to the servers, which may have to elect a leader */

struct bus_counters {
    uint64_t batches; /* published and stored */
    uint64_t fenced;  /* turns that another publisher has taken over */
    uint64_t refused; /* publishes that the servers refused for a reason that may pass */
    uint64_t gaps;    /* events that did not arrive with the stream of a turn, and were fetched */
    uint64_t dropped; /* turns whose events were not published: too many waited for the bus */
    /* Seconds from a publish to the servers' answer that it is stored. */
    struct histogram publish;
    /* Seconds from an event on the turn's host until it is here, by the clocks of both. */
    struct histogram lag;
};

struct bus_link {
    struct loop *loop;
    struct nats_client *client;
    struct bus_names names;
    char boot[BUS_BOOT_MAX + 1];
    const char *identity;          /* the same for every life of this host, and of no other host */
    int64_t lease_ms[BUS_STREAMS]; /* of buckets of leases: how long one lasts, on the servers */
    int64_t n;                     /* messages that were published */
    bool is_active;                /* connected, streams are there, the host's lease is held */
    struct turnlog *turnlog;
    struct bus_counters counters;
};

/* The origin of the next message. */
struct bus_origin bus_link_next_origin(struct bus_link *l);

/* Publishes to a stream, to be stored only behind `expected`. */
void bus_link_store(struct bus_link *l, const char *subject, struct str data, uint64_t expected,
                    nats_client_on_reply *on_reply, void *ctx);
/* What the reply to that means; ack is filled. */
enum bus_link_stored {
    BUS_LINK_STORED,
    BUS_LINK_WRONG,
    BUS_LINK_REFUSED,
    BUS_LINK_LOST,
    BUS_LINK_UNSENT
};
enum bus_link_stored bus_link_read_stored(enum nats_client_result result,
                                          const struct nats_client_message *m, struct bus_ack *ack);

/* Asks for the last message of a subject. The reply is the message, or has the status 404. */
void bus_link_read_last(struct bus_link *l, enum bus_stream stream, const char *subject,
                        nats_client_on_reply *on_reply, void *ctx);
/* Asks for the first message from `sequence` on whose subject matches. */
void bus_link_read_next(struct bus_link *l, enum bus_stream stream, const char *subject,
                        uint64_t sequence, nats_client_on_reply *on_reply, void *ctx);

#endif
