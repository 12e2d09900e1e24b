/* SPDX-License-Identifier: MIT
 * Client of one stream of server-sent events: connects, splits the stream into frames, and connects
 * again after an interruption, behind the last frame (Last-Event-ID) where the service keeps
 * frames. Loop thread only. */
#ifndef REMOTE_SSE_EVENT_SOURCE_H
#define REMOTE_SSE_EVENT_SOURCE_H

#include <stdbool.h>

#include "dialect/protocol/sse.h"
#include "io/http/client/httpc.h"

struct event_source_spec {
    const char *url, *method; /* GET, or POST with the body, which then is sent at most once */
    const char *body;         /* JSON, or NULL */
    const struct httpc_header *headers;
    size_t header_count;
    int64_t outage_ms; /* how long to try to connect */
    bool resumes;      /* the service tells again what follows Last-Event-ID */
    bool numbered;     /* IDs are rising numbers: a frame that is not behind the last is skipped */
    bool beats;        /* a comment comes at least every 30 s: silence is an interruption */
};

/* Why it has ended. */
enum event_source_end {
    EVENT_SOURCE_EOF,         /* the service has ended the stream properly */
    EVENT_SOURCE_REFUSED,     /* with an HTTP status */
    EVENT_SOURCE_INVALID,     /* the response is no event stream */
    EVENT_SOURCE_UNREACHABLE, /* for too long, and nothing had been received */
    EVENT_SOURCE_LOST,        /* interrupted, and it cannot be resumed, or not within outage_ms */
};

struct event_source_closed {
    enum event_source_end how;
    int status;       /* 0: no response */
    struct str body;  /* of the refusal */
    const char *text; /* one line without secrets */
};

struct event_source_events {
    /* The response has begun; again after each interruption. */
    void (*opened)(void *ctx);
    void (*frame)(void *ctx, const struct sse_event *frame);
    void (*dropped)(void *ctx, uint64_t bytes); /* a frame that was too long */
    void (*closed)(void *ctx, const struct event_source_closed *closed);
};

struct event_source;

/* `http`, `loop`, events and ctx must outlive it. */
struct event_source *event_source_new(struct loop *loop, struct httpc *http,
                                      const struct event_source_events *events, void *ctx);
/* Begins to read. Copies the spec. Another stream that it reads is forgotten, and its last ID. */
void event_source_open(struct event_source *s, const struct event_source_spec *spec);
/* Connects again, behind the last frame: after EVENT_SOURCE_EOF. */
void event_source_reopen(struct event_source *s);
/* Stops it; no callback follows. NULL is fine. */
void event_source_free(struct event_source *s);

#endif
