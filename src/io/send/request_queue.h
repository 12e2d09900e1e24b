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
 * and keeps all of it until the item has left the conversation. */
struct queued_request {
    enum send_priority priority;
    uint32_t rates;        /* bit i: counts on rate i of the instance */
    const char *key;       /* live edits: the message that is edited; NULL: replaces nothing */
    int64_t deadline_ms;   /* not started after it; 0: no deadline */
    int64_t not_before_ms; /* not started before it; later requests of the queue wait as well */
    bool is_ahead;         /* goes in front of those of its priority */
    bool spares_live;      /* a final that is no turn's outcome: live edits go on behind it */
    /* set by the queue */
    struct request_queue *queue;
    struct queued_request *next;
    unsigned attempts; /* failed attempts */
    bool is_unsent;    /* the last one did not reach the service */
    int64_t taken_ms;
};

struct request_queue {
    struct queued_request *first[PRIORITY_COUNT], **end[PRIORITY_COUNT];
    struct queued_request *in_flight;
    int64_t next_deadline_ms; /* no waiting request has an earlier deadline; 0: none has one */
};

void request_queue_init(struct request_queue *l);
/* Adds a request after those of its priority, or before them (is_ahead). Returns the chain of
 * waiting live edits that it makes obsolete: the one of the same key, whose place it takes, or all
 * of them if it is a final that does not spare them. */
struct queued_request *request_queue_push(struct request_queue *l, struct queued_request *item);
/* The next request; NULL if none waits or one is in flight. */
struct queued_request *request_queue_peek(const struct request_queue *l);
/* Marks the next request as in flight and returns it. */
struct queued_request *request_queue_start(struct request_queue *l);
/* The item in flight has ended. */
void request_queue_finish(struct request_queue *l);
/* Puts the request in flight back, as the first of its priority. False: it is a live edit that is
 * obsolete by now; then it has left the queue. */
bool request_queue_requeue(struct request_queue *l);
/* Requests that did not reach the service wait until `until_ms` at most. */
void request_queue_cap_delay(struct request_queue *l, int64_t until_ms);
/* Takes the chain of those that wait and have passed their deadline. */
struct queued_request *request_queue_expire(struct request_queue *l, int64_t now_ms);
/* Takes the chain of all that wait. */
struct queued_request *request_queue_clear(struct request_queue *l);
/* Nothing waits, nothing is in flight. */
bool request_queue_is_idle(const struct request_queue *l);

#endif
