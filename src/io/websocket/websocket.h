/* SPDX-License-Identifier: MIT
 * Outbound websockets: messages in and out, TLS verified, a silent one closed. Wraps libwebsockets,
 * which runs on a thread of its own; all functions and callbacks here belong to the loop's. */
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
    WEBSOCKET_MAX_TEXT = 1 << 20,   /* of a message, whole; more closes the socket */
    WEBSOCKET_MAX_QUEUED = 4 << 20, /* bytes that wait to be sent */
};

enum websocket_event {
    WEBSOCKET_OPEN,
    WEBSOCKET_TEXT,
    WEBSOCKET_BINARY,
    WEBSOCKET_CLOSED, /* the last one: the socket is freed when its callback returns */
};

struct websocket_options {
    const char *ca_file;        /* trusted instead of the system's authorities; NULL: those */
    int64_t connect_timeout_ms; /* until it is open; 0: 10 s */
    struct proxy proxy; /* an http: one; with another kind no socket opens but exempt ones */
};

struct websocket_header {
    const char *name, *value;
};

struct websocket_spec {
    const char *url;                        /* wss:; ws: to a loopback address only */
    int64_t ping_ms;                        /* 0: 10 s */
    int64_t silent_ms;                      /* no byte received for so long: closed; 0: 30 s */
    const struct websocket_header *headers; /* of the handshake; 4 KiB in all */
    size_t header_count;
    bool binary;      /* binary messages are wanted; else one closes the socket */
    int close_status; /* of the close frame that websocket_close sends; 0: 1000 */
};

struct websocket_client; /* all of a host's sockets */
struct websocket_conn;   /* one of them */

/* `text` is that of TEXT (UTF-8, NUL-terminated), the bytes of BINARY, or, of CLOSED, why in one
 * line without URL; valid until it returns. */
typedef void websocket_event_fn(void *arg, enum websocket_event event, struct str text);

/* Whether libwebsockets is there. -1 with err. */
int websocket_check_available(struct tc_err *err) MUST_CHECK;
/* Costs nothing yet: library and thread come with the first socket. `options` may be NULL. */
struct websocket_client *websocket_new(struct loop *l, const struct websocket_options *options);
/* Drops what is open, each with its CLOSED. NULL is fine. Not from a callback. */
void websocket_free(struct websocket_client *w);

/* Connects. NULL with err when the URL cannot be used; else all comes from the loop, CLOSED once
 * and last. Nothing is followed: no redirect, no proxy of the environment. */
struct websocket_conn *websocket_open(struct websocket_client *w, const struct websocket_spec *spec,
                                      websocket_event_fn *on_event, void *arg, struct tc_err *err);
/* A text or a binary frame. -1: it is not open, the message is too long, or too much waits. */
int websocket_send(struct websocket_conn *c, struct str text);
int websocket_send_binary(struct websocket_conn *c, struct str data);
/* Says goodbye: CLOSED follows within a second, and nothing else. */
void websocket_close(struct websocket_conn *c);

#endif
