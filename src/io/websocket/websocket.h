/* SPDX-License-Identifier: MIT
 * Outbound websockets: sends and receives messages; TLS is verified, a silent connection is closed.
 * Wraps libwebsockets, which runs on a separate thread; all functions and callbacks here are for
 * the loop's thread. */
#ifndef IO_WEBSOCKET_WEBSOCKET_H
#define IO_WEBSOCKET_WEBSOCKET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/str.h"
#include "base/sys/err.h"
#include "io/http/proxy.h"
#include "io/loop/loop.h"

enum {
    WEBSOCKET_MAX_TEXT = 1 << 20,   /* limit of a whole message; a larger one closes the socket */
    WEBSOCKET_MAX_QUEUED = 4 << 20, /* limit of bytes that wait to be sent */
};

/* The reason of a CLOSED event begins so when the service has closed the connection with a status,
 * which follows. */
#define WEBSOCKET_CLOSED_BY_SERVICE "closed by the service: "

enum websocket_event {
    WEBSOCKET_OPEN,
    WEBSOCKET_TEXT,
    WEBSOCKET_BINARY,
    WEBSOCKET_CLOSED, /* last event: the socket is freed when its callback returns */
};

struct websocket_options {
    const char *ca_file;        /* CA certificates instead of the system's; NULL: the system's */
    int64_t connect_timeout_ms; /* until it is open; 0: 10 s */
    struct proxy proxy; /* an http: proxy; with another kind, only sockets to exempt hosts open */
};

struct websocket_header {
    const char *name, *value;
};

struct websocket_spec {
    const char *url;                        /* wss:; ws: to a loopback address only */
    int64_t ping_ms;                        /* 0: 10 s */
    int64_t silent_ms;                      /* closed if no byte is received for this time; 0: 30
                                             * s */
    const struct websocket_header *headers; /* headers of the handshake; 4 KiB in total */
    size_t header_count;
    bool binary;      /* accepts binary messages; otherwise one closes the socket */
    int close_status; /* status of the close frame that websocket_close sends; 0: 1000 */
};

struct websocket_client; /* all sockets of a host */
struct websocket_conn;   /* one socket */

/* `text`: of TEXT the message (UTF-8, NUL-terminated), of BINARY the bytes, of CLOSED the reason in
 * one line without the URL; valid during the call. */
typedef void websocket_event_fn(void *arg, enum websocket_event event, struct str text);

/* Whether libwebsockets is available. -1 with err. */
int websocket_check_available(struct tc_err *err) MUST_CHECK;
/* Loads library and thread only with the first socket. `options` may be NULL. */
struct websocket_client *websocket_new(struct loop *l, const struct websocket_options *options);
/* Closes open sockets, each with CLOSED. NULL is allowed. Must not be called from a callback. */
void websocket_free(struct websocket_client *w);

/* Connects. NULL with err if the URL is invalid; otherwise all events come from the loop, with
 * CLOSED last and once. Does not follow redirects, and ignores proxies of the environment. */
struct websocket_conn *websocket_open(struct websocket_client *w, const struct websocket_spec *spec,
                                      websocket_event_fn *on_event, void *arg, struct tc_err *err);
/* Sends a text or a binary frame. -1: not open, the message is too long, or too many bytes wait. */
int websocket_send(struct websocket_conn *c, struct str text);
int websocket_send_binary(struct websocket_conn *c, struct str data);
/* Sends a close frame: CLOSED follows within a second, and no other event. */
void websocket_close(struct websocket_conn *c);

#endif
