/* SPDX-License-Identifier: MIT
 * A request to the service, with repetitions. */
#ifndef REMOTE_SSE_SSE_CALL_H
#define REMOTE_SSE_SSE_CALL_H

#include <sys/queue.h>

#include "io/http/client/httpc.h"
#include "io/loop/loop.h"
#include "remote/sse/sse_run.h"

LIST_HEAD(sse_calls, sse_call);

struct sse_call_spec {
    const char *method, *url, *body, *key; /* body, key: or NULL */
    const struct httpc_header *headers;    /* valid until the call has ended */
    size_t header_count;
    int64_t outage_ms;
    unsigned flags; /* SSE_REPEATABLE */
};

/* `done` is called once, from the loop. Copies the strings of the spec. */
void sse_call_start(struct sse_calls *calls, struct loop *loop, struct httpc *http,
                    const struct sse_call_spec *spec,
                    void (*done)(void *ctx,
                                 void (*then)(struct sse_run *, const struct sse_reply *),
                                 const struct sse_reply *reply),
                    void *ctx, void (*then)(struct sse_run *, const struct sse_reply *));
/* Drops all calls; no callback follows. */
void sse_call_free_all(struct sse_calls *calls);
/* Appends the message in the body of an error response to `out`: its "error.message",
 * "json.message", "error" or "message", or plain text; shortened. Appends nothing if there is
 * none. */
void sse_call_add_message(struct buf *out, struct str body);

#endif
