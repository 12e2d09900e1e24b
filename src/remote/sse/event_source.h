/* SPDX-License-Identifier: MIT
 * Client of a stream of server-sent events: connects, splits the stream into frames, and reconnects
 * after an interruption, behind the last frame (Last-Event-ID) if the service keeps frames. Loop
 * thread only. */
#ifndef REMOTE_SSE_EVENT_SOURCE_H
#define REMOTE_SSE_EVENT_SOURCE_H

#include <stdbool.h>

#include "dialect/protocol/sse.h"
#include "io/http/client/httpc.h"

struct event_source_spec {
    const char *url, *method; /* GET, or POST with the body, which is sent at most once */
    const char *body;         /* JSON, or NULL */
    const struct httpc_header *headers;
    size_t header_count;
    int64_t outage_ms; /* time limit for connecting */
    bool resumes;      /* the service resumes behind Last-Event-ID */
    bool numbered;     /* IDs are increasing numbers: skips a frame that is not newer than the
                        * last */
    bool beats;        /* a comment arrives at least every 30 s, so longer silence counts as an
                        * interruption */
};

/* Reason for the end of a stream. */
enum event_source_end {
    EVENT_SOURCE_EOF,         /* the service ended the stream properly */
    EVENT_SOURCE_REFUSED,     /* HTTP error status */
    EVENT_SOURCE_INVALID,     /* the response is not an event stream */
    EVENT_SOURCE_UNREACHABLE, /* not reachable within the time limit, and no frame had been
                               * received */
    EVENT_SOURCE_LOST,        /* interrupted, and not resumable, or not within outage_ms */
};

struct event_source_closed {
    enum event_source_end how;
    int status;       /* 0: no response */
    struct str body;  /* body of the refusal */
    const char *text; /* one line without secrets */
};

struct event_source_events {
    /* A response has begun; called again after each interruption. */
    void (*opened)(void *ctx);
    void (*frame)(void *ctx, const struct sse_event *frame);
    void (*dropped)(void *ctx, uint64_t bytes); /* a frame above the size limit was skipped */
    void (*closed)(void *ctx, const struct event_source_closed *closed);
};

struct event_source;

/* `http`, `loop`, events and ctx must outlive it. */
struct event_source *event_source_new(struct loop *loop, struct httpc *http,
                                      const struct event_source_events *events, void *ctx);
/* Starts reading. Copies the spec. Ends an earlier stream, and forgets its last ID. */
void event_source_open(struct event_source *s, const struct event_source_spec *spec);
/* Reconnects behind the last frame: after EVENT_SOURCE_EOF. */
void event_source_reopen(struct event_source *s);
/* Stops reading; no callback follows. NULL is allowed. */
void event_source_free(struct event_source *s);

#endif
