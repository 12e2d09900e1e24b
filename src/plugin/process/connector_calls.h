/* SPDX-License-Identifier: MIT
 * Calls that wait for an answer: of the connector to the host (tc_submit…), and HTTP requests of
 * the host to the connector. connector_calls.c writes the members. Loop thread. */
#ifndef PLUGIN_PROCESS_CONNECTOR_CALLS_H
#define PLUGIN_PROCESS_CONNECTOR_CALLS_H

#include "base/bytes/pack.h"
#include "plugin/channel.h"

struct connector_process;

/* A call to the host whose result the connector waits for. */
struct pending_call {
    struct connector_process *process; /* NULL: the result is discarded */
    uint64_t number;
    int64_t since_ms;
};

/* A request to a route that the connector has not answered. */
struct pending_hit {
    struct pending_hit *next;
    uint64_t number;
    void (*answered)(void *arg, const struct tc_answer *answer);
    void *arg;
    bool is_later; /* on_hit has returned, and the response will be sent later */
};

struct connector_calls {
    struct pending_call *pending; /* the call whose result the connector waits for; NULL: none */
    struct pending_hit *hits;
    uint64_t last_hit;
};

/* Frames IPC_CALL and IPC_ANSWER. Return how the frame is invalid, or NULL. */
const char *connector_calls_handle_call(struct connector_process *g, struct unpacker *u);
const char *connector_calls_handle_answer(struct connector_process *g, struct unpacker *u);
/* The first answers with TC_NOT_KEPT the calls that the host has not answered in time, the second
 * all calls. The third drops all calls without an answer. */
void connector_calls_refuse_expired(struct connector_process *g);
void connector_calls_refuse_all(struct connector_process *g);
void connector_calls_drop(struct connector_process *g);
/* Returns the number of the request. */
uint64_t connector_calls_expect_answer(struct connector_process *g, const struct channel_hit *h);
/* The process has handled the request. If it neither answered nor announced an answer, the request
 * is answered with nothing. */
void connector_calls_finish_task(struct connector_process *g, uint64_t number);
/* After a death: answers the requests for which the process had announced an answer with nothing.
 */
void connector_calls_end_later_hits(struct connector_process *g);
/* Answers all requests with nothing. */
void connector_calls_fini(struct connector_process *g);

#endif
