/* SPDX-License-Identifier: MIT
 * Long-lived response to one client: follows a turn, respects backpressure, sends keep-alive
 * comments, and ends when the client leaves or its key is revoked. Loop thread only. */
#ifndef API_SHARED_EVENT_STREAM_H
#define API_SHARED_EVENT_STREAM_H

#include "base/bytes/buf.h"
#include "core/turnlog/turnlog.h"
#include "io/http/server/httpd.h"

#define FEED_KEEP_ALIVE_MS 15000
#define FEED_HOLD_MS 1000 /* a deferred response begins after this time, even without an event */

struct api_context;
struct event_stream;

/* Format of a stream; each function may be NULL, and appends to `out`, which is sent to the
 * client. */
struct event_stream_ops {
    void (*event)(void *ctx, struct buf *out, const struct turnlog_item *item);
    void (*gap)(void *ctx, struct buf *out, const struct turnlog_item *item);
    /* For event_stream_start_deferred: begins the response and returns its stream; NULL: the
     * request was answered in one piece. Without this function, `over` sends the response in one
     * piece. */
    struct httpd_stream *(*begin)(void *ctx);
    /* The host shuts down before the turn, or the owner of the stream, has finished: writes a last
     * message, after which the stream ends. NULL: nothing is written. */
    void (*drain)(void *ctx, struct buf *out);
    /* All events are written; the response ends after this. */
    void (*over)(void *ctx, struct buf *out);
    /* Called last: `left` if the client disconnected early. Frees ctx. */
    void (*closed)(void *ctx, bool left);
};

struct event_stream_spec {
    const struct event_stream_ops *ops;
    void *ctx;
    const char *turn;      /* NULL: no turn; the owner writes */
    const char *principal; /* the stream ends when the key of this principal is revoked */
    uint64_t after;        /* events up to this seq are known to the client */
    uint64_t until;        /* events after this one are not sent; 0: no limit */
    bool sees_all;         /* includes events that visibility hides */
    bool awaits; /* the client waits for the turn, which may be cancelled when its last waiting
                  * client leaves (http.on_disconnect) */
};

/* Takes over the stream. The caller has just found the turn with turnlog_find_turn, without
 * returning to the loop. Callbacks start from the loop only. */
struct event_stream *event_stream_start(struct api_context *a, const struct event_stream_spec *spec,
                                        struct httpd_stream *stream);
/* The same, but the form of the response is decided later. The request stays ctx's: `closed` must
 * answer it if nothing else did. Implies `awaits`. */
struct event_stream *event_stream_start_deferred(struct api_context *a,
                                                 const struct event_stream_spec *spec,
                                                 struct httpd_request *request);
/* Whether a client waits for the end of that turn. */
bool event_stream_has_waiter(const struct api_context *a, const char *turn);
/* Calls `each` for every turn for whose end a client waits; possibly several times for one turn. */
void event_stream_visit_awaited(const struct api_context *a,
                                void (*each)(void *ctx, const char *turn), void *ctx);
void event_stream_write(struct event_stream *f, struct str bytes);
/* Whether all events so far have been sent to the client. */
bool event_stream_is_drained(const struct event_stream *f);
/* Sends no further events; ends the stream with `over`. */
void event_stream_finish(struct event_stream *f);
/* Ends streams whose key was revoked or changed. */
void event_stream_end_revoked(struct api_context *a);
/* The host shuts down: calls `drain` of each stream that has no turn, or a turn that has not
 * ended. */
void event_stream_drain(struct api_context *a);
/* Ends all streams as if the clients had disconnected. */
void event_stream_end_all(struct api_context *a);
size_t event_stream_count(const struct api_context *a);

#endif
