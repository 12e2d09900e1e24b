/* SPDX-License-Identifier: MIT
 * Receives messages from the work queue through a durable consumer that all hosts share, one at a
 * time, and acknowledges them. Loop thread only.
 *
 * A message that is not acknowledged or extended for BUS_QUEUE_LEASE_S is delivered again, here or
 * to another host. So no message is lost, and one may be delivered twice: the queue only wakes
 * hosts; a receiver must check elsewhere whether the work is still to be done. */
#ifndef CORE_BUS_BUS_QUEUE_H
#define CORE_BUS_BUS_QUEUE_H

#include "core/bus/bus_link.h"

#define BUS_QUEUE_LEASE_S 30
#define BUS_QUEUE_ACK_MAX 256 /* bytes of a ticket, including the NUL */

struct bus_queue;

/* A received message; borrowed for the call. */
struct bus_queue_item {
    const char *ticket; /* ticket for acknowledgements; copy it */
    struct str body;
    unsigned deliveries; /* number of deliveries, from 1 */
};

struct bus_queue_spec {
    struct bus_link *link;
    const char *name;    /* name of the consumer, the same on all hosts; copied */
    const char *subject; /* subject of its messages; copied */
    /* Whether another message can be accepted; called before each request. */
    bool (*has_room)(void *ctx);
    void (*on_item)(void *ctx, const struct bus_queue_item *item);
    void *ctx;
};

/* Begins with bus_queue_resume. */
struct bus_queue *bus_queue_new(const struct bus_queue_spec *spec);
/* The link has become active: creates the consumer if necessary, and requests messages. */
void bus_queue_resume(struct bus_queue *q);
/* A message may be accepted again. */
void bus_queue_pull(struct bus_queue *q);
void bus_queue_free(struct bus_queue *q); /* Call it before the client is freed. NULL is allowed */

/* ---- acknowledgements; delivery is not guaranteed */

/* Extends the message by another BUS_QUEUE_LEASE_S. */
void bus_queue_extend(struct bus_link *l, const char *ticket);
/* Returns the message for another host, not before delay_ms. */
void bus_queue_release(struct bus_link *l, const char *ticket, int64_t delay_ms);
/* Removes the completed message. on_reply (or NULL) is called when the servers have confirmed, or
 * do not reply. */
void bus_queue_finish(struct bus_link *l, const char *ticket, nats_client_on_reply *on_reply,
                      void *ctx);

#endif
