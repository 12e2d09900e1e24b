/* SPDX-License-Identifier: MIT
 * Long-lived response to one client: follows a turn, respects backpressure, sends keep-alive
 * comments, and ends when the client leaves or its key is revoked. Loop thread only. */
#ifndef API_SHARED_EVENT_STREAM_H
#define API_SHARED_EVENT_STREAM_H

#include "base/bytes/buf.h"
#include "core/turnlog/turnlog.h"
#include "io/http/server/httpd.h"

#define FEED_KEEP_ALIVE_MS 15000
#define FEED_HOLD_MS 1000 /* what has not begun by then begins without an event */

struct api_context;
struct event_stream;

/* Format of a stream; any function may be NULL. Each appends to `out`, which is sent to the client.
 */
struct event_stream_ops {
    void (*event)(void *ctx, struct buf *out, const struct turnlog_item *item);
    void (*gap)(void *ctx, struct buf *out, const struct turnlog_item *item);
    /* Of event_stream_start_deferred: the stream of its request, or NULL when it was answered as a
     * whole. Without this the answer is one, which `over` gives. */
    struct httpd_stream *(*begin)(void *ctx);
    /* The host ends before the turn has, or before its owner had said all; the stream ends behind
     * what is written. NULL: nothing is written. */
    void (*drain)(void *ctx, struct buf *out);
    /* All has been told; the answer ends behind it. */
    void (*over)(void *ctx, struct buf *out);
    /* Last of all: `left` when the client did not wait for the end. Frees ctx. */
    void (*closed)(void *ctx, bool left);
};

struct event_stream_spec {
    const struct event_stream_ops *ops;
    void *ctx;
    const char *turn;      /* NULL: none is followed, its owner writes */
    const char *principal; /* the feed ends when its key does */
    uint64_t after;        /* events up to this seq are known */
    uint64_t until;        /* those behind this one are not told; 0: all are */
    bool sees_all;         /* also what the agent's switches hide */
    bool awaits; /* asked for the turn: it may end with the last of those (on_disconnect) */
};

/* Takes over the stream. The turn has been found by turnlog_find_turn since the loop last went on.
 * Nothing is called before it does. */
struct event_stream *event_stream_start(struct api_context *a, const struct event_stream_spec *spec,
                                        struct httpd_stream *stream);
/* The same before it is known how the request is answered. It stays ctx's: `closed` answers it when
 * nothing else did. `awaits` is set. */
struct event_stream *event_stream_start_deferred(struct api_context *a,
                                                 const struct event_stream_spec *spec,
                                                 struct httpd_request *request);
/* Some client awaits the end of that turn. */
bool event_stream_has_waiter(const struct api_context *a, const char *turn);
/* Every turn that some client awaits the end of; one may come more than once. */
void event_stream_each_awaited(const struct api_context *a,
                               void (*each)(void *ctx, const char *turn), void *ctx);
void event_stream_write(struct event_stream *f, struct str bytes);
/* Whether the client has been told all events so far. */
bool event_stream_is_drained(const struct event_stream *f);
/* No more is told; `over` has the last word. */
void event_stream_finish(struct event_stream *f);
/* Ends those whose key is gone or another. */
void event_stream_end_revoked(struct api_context *a);
/* The host ends: `drain` of each whose turn is not over, and of each without a turn. */
void event_stream_drain(struct api_context *a);
/* Ends all, as if the clients had left. */
void event_stream_end_all(struct api_context *a);
size_t event_stream_count(const struct api_context *a);

#endif
