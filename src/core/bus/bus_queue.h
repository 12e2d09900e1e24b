/* SPDX-License-Identifier: MIT
 * Takes messages from the work queue: a durable consumer that all hosts share, of which one message
 * is asked for at a time, and what its taker says of a message. Loop thread only.
 *
 * A message that was taken is delivered again, here or to another host, when its taker has said
 * nothing for BUS_QUEUE_LEASE_S. So none is lost, and one may be taken twice: the queue only wakes
 * up, and whoever takes a message decides elsewhere whether it is still to be done. */
#ifndef CORE_BUS_BUS_QUEUE_H
#define CORE_BUS_BUS_QUEUE_H

#include "core/bus/bus_link.h"

#define BUS_QUEUE_LEASE_S 30
#define BUS_QUEUE_ACK_MAX 256 /* bytes of a ticket, with the end */

struct bus_queue;

/* A message that was taken; borrowed for the call. */
struct bus_queue_item {
    const char *ticket; /* what its taker names it by, to be copied */
    struct str body;
    unsigned deliveries; /* from 1 */
};

struct bus_queue_spec {
    struct bus_link *link;
    const char *name;    /* of the consumer, the same on all hosts; copied */
    const char *subject; /* whose messages it takes; copied */
    /* Whether another message can be taken now; asked whenever one is about to be asked for. */
    bool (*has_room)(void *ctx);
    void (*take)(void *ctx, const struct bus_queue_item *item);
    void *ctx;
};

/* Begins with bus_queue_resume. */
struct bus_queue *bus_queue_new(const struct bus_queue_spec *spec);
/* The link has become active: creates the consumer if there is none, and asks for messages. */
void bus_queue_resume(struct bus_queue *q);
/* There may be room again. */
void bus_queue_pull(struct bus_queue *q);
void bus_queue_free(struct bus_queue *q); /* before the client. NULL is fine */

/* ---- of a message that was taken; nothing of it is certain to arrive */

/* Its taker works on it, for another BUS_QUEUE_LEASE_S. */
void bus_queue_extend(struct bus_link *l, const char *ticket);
/* Somebody else may take it, not before delay_ms. */
void bus_queue_release(struct bus_link *l, const char *ticket, int64_t delay_ms);
/* It is done, and is removed. on_reply (or NULL) is called when the servers have done so, or do not
 * answer. */
void bus_queue_finish(struct bus_link *l, const char *ticket, nats_client_on_reply *on_reply,
                      void *ctx);

#endif
