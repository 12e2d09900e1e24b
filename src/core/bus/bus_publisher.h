/* SPDX-License-Identifier: MIT
 * Publishes state and events of this host's turns: follows each turn of the turn log, and publishes
 * its events in batches, and its state, each as a chain (bus_chain.h). Unpublished events stay in
 * the turn log, so without a connection no memory beyond the log's limits is needed. A turn that
 * another publisher has taken over is not published any more. Loop thread only. */
#ifndef CORE_BUS_BUS_PUBLISHER_H
#define CORE_BUS_BUS_PUBLISHER_H

#include "core/bus/bus_link.h"

struct bus_publisher;

/* Appends the open requests of a turn as a JSON array; nothing if there are none. */
typedef void bus_append_requests(void *ctx, struct buf *out, const char *turn);

/* Publishes present and future turns of the log. Borrows the link. */
struct bus_publisher *bus_publisher_new(struct bus_link *link, bus_append_requests *requests,
                                        void *ctx);
/* Callbacks for turns that this host runs for others, with the ctx of the publisher. */
struct bus_publisher_runs {
    /* Another publisher has taken over the turn: the agent's output must not be shown. Must not
     * free the publisher. */
    void (*fenced)(void *ctx, const char *turn);
};
/* Publishes the events, but not the states, of the turns of another log. Borrows `runs`. */
struct bus_publisher *bus_publisher_new_for_runs(struct bus_link *link, struct turnlog *log,
                                                 const struct bus_publisher_runs *runs, void *ctx);
void bus_publisher_free(struct bus_publisher *p); /* NULL is allowed */
/* The link has become active: continues. */
void bus_publisher_resume(struct bus_publisher *p);
/* Whether everything is published. */
bool bus_publisher_is_idle(const struct bus_publisher *p);
/* Number of turns with unpublished data. */
size_t bus_publisher_count_waiting(const struct bus_publisher *p);
/* Milliseconds for which the oldest message has waited to be stored; 0: none waits. */
int64_t bus_publisher_get_age_ms(const struct bus_publisher *p);
/* Appends events of a turn behind `after` as a batch, as far as the servers have stored them, at
 * most about max bytes. False: no events of that turn. */
bool bus_publisher_feed(const struct bus_publisher *p, const char *turn, uint64_t after, size_t max,
                        struct buf *out);

#endif
