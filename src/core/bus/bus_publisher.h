/* SPDX-License-Identifier: MIT
 * Publishes what this host's turns are and tell: follows each turn of the turn log, and publishes
 * its events in batches, and its state, each as a chain (bus_chain.h). The turn log keeps what
 * waits for the bus, so a host without a connection needs no more memory than the log's limits. A
 * turn that another publisher has taken over is not published any more. Loop thread only. */
#ifndef CORE_BUS_BUS_PUBLISHER_H
#define CORE_BUS_BUS_PUBLISHER_H

#include "core/bus/bus_link.h"

struct bus_publisher;

/* Appends what a turn asks people as a JSON array; nothing if it asks nothing. */
typedef void bus_append_requests(void *ctx, struct buf *out, const char *turn);

/* Takes the turns that are in the log, and those to come. Borrows the link. */
struct bus_publisher *bus_publisher_new(struct bus_link *link, bus_append_requests *requests,
                                        void *ctx);
/* What else is done with the turns that this host runs for others, with the ctx of the publisher.
 */
struct bus_publisher_runs {
    /* Another publisher has taken the turn over: what the agent does is shown to nobody. Not freed
     * from here. */
    void (*fenced)(void *ctx, const char *turn);
};
/* Publishes the events, not the states, of the turns of another log. Borrows `runs`. */
struct bus_publisher *bus_publisher_new_for_runs(struct bus_link *link, struct turnlog *log,
                                                 const struct bus_publisher_runs *runs, void *ctx);
void bus_publisher_free(struct bus_publisher *p); /* NULL is fine */
/* The link has become active: goes on where it stopped. */
void bus_publisher_resume(struct bus_publisher *p);
/* Nothing waits to be published. */
bool bus_publisher_is_idle(const struct bus_publisher *p);
/* Turns of which something waits. */
size_t bus_publisher_count_waiting(const struct bus_publisher *p);
/* Milliseconds for which the oldest message waits to be stored by the servers; 0: none does. */
int64_t bus_publisher_get_age_ms(const struct bus_publisher *p);
/* Appends events behind `after` of a turn as a batch, as far as they are stored by the servers, at
 * most about max bytes. False: it has none of that turn. */
bool bus_publisher_feed(const struct bus_publisher *p, const char *turn, uint64_t after, size_t max,
                        struct buf *out);

#endif
