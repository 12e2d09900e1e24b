/* SPDX-License-Identifier: MIT
 * One connection to NATS servers as its worker thread sees it: every call of libnats that may wait
 * for the network. What comes from libnats' own threads is queued for the loop. */
#ifndef IO_NATS_NATS_CONNECTION_H
#define IO_NATS_NATS_CONNECTION_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/str.h"
#include "io/loop/loop.h"
#include "io/nats/nats_client.h"

struct nats_connection;

/* A report of a thread of libnats. */
struct nats_incoming {
    STAILQ_ENTRY(nats_incoming) next;
    enum nats_incoming_kind {
        NATS_INCOMING_MESSAGE,
        NATS_INCOMING_UP,     /* connected, or connected again */
        NATS_INCOMING_DOWN,   /* not connected; libnats goes on trying */
        NATS_INCOMING_CLOSED, /* disconnected; nobody connects again */
        NATS_INCOMING_UNSENT, /* the request was not sent */
        NATS_INCOMING_FAULT,  /* text: what the server or the library complains of */
    } kind;
    uint64_t id; /* of a subscription, of a message; or of a request (UNSENT) */
    struct nats_client_message message; /* a copy, whose texts are in this block */
    int64_t max_payload;                /* of UP: bytes of the largest message the server takes */
    char text[200];                     /* of UP: the server; else the reason */
};

/* A message to publish. Texts may be NULL where said. */
struct nats_outgoing {
    const char *subject, *reply; /* reply: or NULL */
    const char *operation;       /* KV-Operation, or NULL */
    const char *host;            /* Turncast-Host, or NULL */
    int64_t expected;            /* last sequence of the subject; negative: any */
    struct str data;
};

/* Loads the library. `arrived` is called on the loop's thread when something waits for
 * nats_connection_pop_message. spec is borrowed. NULL with err. Loop thread. */
struct nats_connection *nats_connection_new(const struct nats_client_spec *spec,
                                            void (*arrived)(void *ctx), void *ctx,
                                            struct tc_err *err);
/* After nats_connection_close. If threads of the library did not end then, the memory that they use
 * stays allocated, and what they still report is dropped. Loop thread; no worker thread uses the
 * connection any more. NULL is fine. */
void nats_connection_free(struct nats_connection *n);

/* ---- worker thread; each may wait for seconds */

/* Begins to connect, and goes on trying until it succeeds. False: only another call may succeed
 * (a wrong password, a missing file); the reason arrives as NATS_INCOMING_CLOSED. */
bool nats_connection_open(struct nats_connection *n);
/* Ends the connection and what the library has started. */
void nats_connection_close(struct nats_connection *n);
/* Again after nats_connection_open. queue: the group of subscribers of which one gets each message,
 * or NULL. */
void nats_connection_subscribe(struct nats_connection *n, uint64_t id, const char *subject,
                               const char *queue);
void nats_connection_unsubscribe(struct nats_connection *n, uint64_t id);
/* False: it was not sent. */
bool nats_connection_publish(struct nats_connection *n, const struct nats_outgoing *m);
/* Reports NATS_INCOMING_UNSENT. */
void nats_connection_report_unsent(struct nats_connection *n, uint64_t request);

/* ---- loop thread */

/* The next that arrived, or NULL. Freed by free(3). */
struct nats_incoming *nats_connection_pop_message(struct nats_connection *n);
/* Messages that were dropped because the loop did not keep up, since the last call. */
uint64_t nats_connection_count_lost(struct nats_connection *n);

#endif
