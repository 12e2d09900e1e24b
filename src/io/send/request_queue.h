/* SPDX-License-Identifier: MIT
 * Request queue of one conversation: priorities, one request in flight, a newer live edit
 * replaces the older of the same message. Intrusive; owns no item. Pure. */
#ifndef IO_SEND_REQUEST_QUEUE_H
#define IO_SEND_REQUEST_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "io/send/token_bucket.h"

enum { SEND_MAX_RATES = 12 };

enum send_priority { PRIORITY_FINAL, PRIORITY_REQUEST, PRIORITY_NOTICE, PRIORITY_LIVE };
enum { PRIORITY_COUNT = PRIORITY_LIVE + 1 };

/* Embedded in the struct of a request. The caller fills the first part before request_queue_push,
 * and keeps the struct until the item has left the queue. */
struct queued_request {
    enum send_priority priority;
    uint32_t rates;        /* bit i: counts towards rate i of the instance */
    const char *key;       /* live edits: the edited message; NULL: replaces no other */
    int64_t deadline_ms;   /* latest start; 0: no deadline */
    int64_t not_before_ms; /* earliest start; later requests of the queue wait, too */
    bool is_ahead;         /* placed before others of its priority */
    bool spares_live;      /* a final that is not a turn's outcome: live edits continue after it */
    /* set by the queue */
    struct request_queue *queue;
    struct queued_request *next;
    unsigned attempts; /* failed attempts */
    bool is_unsent;    /* the last attempt did not reach the service */
    int64_t taken_ms;
};

struct request_queue {
    struct queued_request *first[PRIORITY_COUNT], **end[PRIORITY_COUNT];
    struct queued_request *in_flight;
    int64_t next_deadline_ms; /* lower bound of the deadlines of waiting requests; 0: none has
                               * one */
};

void request_queue_init(struct request_queue *l);
/* Adds a request after those of its priority, or before them (is_ahead). Returns the chain of
 * waiting live edits that become obsolete: the one of the same key, whose place it takes, or all of
 * them if it is a final that ends live edits. */
struct queued_request *request_queue_push(struct request_queue *l, struct queued_request *item);
/* The next request; NULL if none waits or one is in flight. */
struct queued_request *request_queue_peek(const struct request_queue *l);
/* Marks the next request as in flight and returns it. */
struct queued_request *request_queue_start(struct request_queue *l);
/* The item in flight has ended. */
void request_queue_finish(struct request_queue *l);
/* Puts the request in flight back, as the first of its priority. False: it is an obsolete live
 * edit, which has left the queue. */
bool request_queue_requeue(struct request_queue *l);
/* Limits the delay of requests that did not reach the service to `until_ms`. */
void request_queue_cap_delay(struct request_queue *l, int64_t until_ms);
/* Removes the chain of waiting requests whose deadline has passed. */
struct queued_request *request_queue_expire(struct request_queue *l, int64_t now_ms);
/* Removes the chain of all waiting requests. */
struct queued_request *request_queue_clear(struct request_queue *l);
/* Whether no request waits or is in flight. */
bool request_queue_is_idle(const struct request_queue *l);

#endif
