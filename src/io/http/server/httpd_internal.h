/* SPDX-License-Identifier: MIT
 * Internal interface of the HTTP server: server, connection, pending request, stream. */
#ifndef IO_HTTP_SERVER_HTTPD_INTERNAL_H
#define IO_HTTP_SERVER_HTTPD_INTERNAL_H

#include <sys/queue.h>
#include <sys/types.h>

#include "base/bytes/buf.h"
#include "io/http/server/httpd.h"
#include "io/http/server/httpd_error.h"
#include "io/http/server/httpd_local.h"
#include "io/http/server/httpd_parse.h"

struct httpd_route {
    struct httpd_route *next;
    char *path;
    size_t len;
    unsigned methods;
    void (*fn)(void *arg, struct httpd_request *request);
    void *arg;
};

/* A client address with open connections. */
struct httpd_peer {
    unsigned connections;
    char name[64]; /* numeric address, or "local" */
};

struct httpd {
    struct loop *loop;
    struct httpd_options options; /* copy of the options, whose strings are these: */
    char *address, **hosts, **origins;
    char *path; /* of the Unix socket; NULL: listens at the address */
    dev_t path_dev;
    ino_t path_ino;
    int fd;
    int spare; /* a reserved descriptor, to reject connections when no others are left; or -1 */
    struct loop_fd *listener;
    struct loop_timer *pause; /* pause of the listener, if that fails, too */
    int64_t told_ms;          /* time of the last log line about rejected connections; 0: none */
    int64_t refusals_ms;      /* start of the current minute for counting such lines; 0: none */
    unsigned refusals;        /* refused Host or Origin values logged in that minute */
    uint16_t port;
    struct httpd_route *routes; /* longest path first */
    LIST_HEAD(, httpd_conn) conns;
    unsigned conn_count;
    uint64_t answers[HTTPD_STATUS_END - HTTPD_STATUS_BEGIN]; /* counters by status */
    void *peers;                                             /* a tree, tsearch(3) */
    struct loop_timer *drain;                                /* NULL: no shutdown */
    int64_t drain_until_ms;
    void (*drained)(void *arg);
    void *drained_arg;
};

/* Phase of a connection, which has at most one request at a time. */
enum httpd_phase {
    HTTPD_READING,   /* reading or waiting for a request */
    HTTPD_HANDLING,  /* a handler has its request */
    HTTPD_WRITING,   /* sending the response */
    HTTPD_STREAMING, /* streaming */
    HTTPD_LINGERING, /* waiting for the client to close */
};

struct httpd_conn {
    struct httpd *owner;
    LIST_ENTRY(httpd_conn) next;
    int fd;
    struct loop_fd *on_loop;
    struct loop_timer *timer; /* timer of the phase */
    enum httpd_phase phase;
    struct httpd_parse parse;
    struct buf in, out;
    size_t sent;                           /* bytes of out that were sent */
    struct httpd_pending_request *pending; /* in HANDLING, otherwise NULL */
    struct httpd_stream *stream;           /* in STREAMING, otherwise NULL */
    bool is_head;                          /* the response has no body */
    bool is_old;                           /* HTTP/1.0: no chunked encoding */
    char *origin;    /* origin of the page that may read the response; owned; NULL: none */
    bool closes;     /* close after this response */
    int64_t late_ms; /* in HANDLING: deadline of httpd_extend_deadline; 0: deadline_ms */
    struct httpd_peer *peer;
};

/* A callback that is called once, from the loop. */
struct httpd_once {
    struct loop *loop;
    void (*fn)(void *arg); /* NULL: none, or already called */
    void *arg;
    bool is_posted;
};

/* A request that a handler has. */
struct httpd_pending_request {
    struct httpd_request request; /* first member: handlers have its address */
    struct httpd_conn *conn;      /* NULL if the client is gone */
    struct httpd_local *local;    /* instead of a connection; NULL if the client is gone */
    struct httpd_once gone;
    struct httpd_parse parse; /* owns the strings of request */
    char *path, *key;
    struct httpd_header headers[];
};

enum httpd_stream_state {
    HTTPD_STREAM_STILL,   /* the end was written */
    HTTPD_STREAM_DUE,     /* data was written: the connection's timer sends it */
    HTTPD_STREAM_BLOCKED, /* waits for the client to read; after the timer it is disconnected */
    HTTPD_STREAM_CUT,     /* too much is unread: the timer disconnects at once */
};

struct httpd_stream {
    struct httpd_conn *conn;   /* NULL if the client is gone */
    struct httpd_local *local; /* instead of a connection; NULL if the client is gone */
    struct httpd_once gone;
    struct httpd_once room; /* called when everything is read */
    enum httpd_stream_state state;
};

/* Opens the socket and starts accepting. */
int httpd_listen_begin(struct httpd *h, struct tc_err *err);
void httpd_listen_end(struct httpd *h);

void httpd_accept_begin(struct httpd *h);
void httpd_accept_end(struct httpd *h);
/* Stops accepting permanently. */
void httpd_accept_stop(struct httpd *h);
void httpd_peer_release(struct httpd *h, struct httpd_peer *peer);

/* Takes over the descriptor and the peer. */
void httpd_conn_new(struct httpd *h, int fd, struct httpd_peer *peer);
/* Closes the connection. Its request or stream, if any, is gone, without a callback. */
void httpd_conn_free(struct httpd_conn *c);
/* The same with the callback. Must not be called while the connection runs a handler. */
void httpd_conn_drop(struct httpd_conn *c);
/* Detaches request and stream from the connection. Returns the callback to be called, or NULL. */
struct httpd_once *httpd_conn_detach_request(struct httpd_conn *c);
/* `ms`: timeout of the phase; negative: none. */
void httpd_conn_set_phase(struct httpd_conn *c, enum httpd_phase phase, int64_t ms);
/* Sets the loop events that the phase needs. */
void httpd_conn_update_events(struct httpd_conn *c);
/* Sends as much as possible. -1: the connection is broken. */
int httpd_conn_flush(struct httpd_conn *c);
/* Starts sending a complete response. */
void httpd_conn_send_answer(struct httpd_conn *c, const struct httpd_answer *a);

/* The last response was sent: waits until the client has read it before closing. */
void httpd_conn_linger(struct httpd_conn *c);

/* Passes the request of conn to a handler, or answers it with an error. */
void httpd_dispatch_request(struct httpd_conn *c);
/* Answers a request that the parser refused. */
void httpd_refuse_parse(struct httpd_conn *c);
/* 408: receiving the request took too long; 503 and 504: the response did. */
void httpd_refuse_late(struct httpd_conn *c, int status);
/* 421: the Host is not permitted; 403: the Origin is not. Logged, rate-limited. */
void httpd_refuse_name(struct httpd_conn *c, int status, const char *name);
/* `allow`: "GET, HEAD" */
void httpd_refuse_method(struct httpd_conn *c, const char *allow);
void httpd_refuse_path(struct httpd_conn *c);
void httpd_refuse_drain(struct httpd_conn *c);
/* Appends a complete response for a rejected connection. */
void httpd_error_write_busy(struct buf *out);
void httpd_pending_free(struct httpd_pending_request *p);

/* Writes the head of a response to `out`; a stream has no length. Returns whether a body
 * follows. */
bool httpd_response_head_write(struct httpd_conn *c, const struct httpd_answer *a, bool is_stream);
const char *httpd_reason_phrase(int status);

/* Aborts the connection's stream, as if its client had disconnected. */
void httpd_stream_close(struct httpd_conn *c);
/* Called for LOOP_WRITE. */
void httpd_stream_flushed(struct httpd_stream *s);
/* The connection's timer has fired. */
void httpd_stream_timed_out(struct httpd_stream *s);

/* Functions of httpd.h for a request without a connection (httpd_local.h). */
void httpd_local_answer(struct httpd_local *l, const struct httpd_answer *a);
void httpd_local_begin_stream(struct httpd_local *l, struct httpd_stream *s);
void httpd_local_write(const struct httpd_local *l, struct str bytes);
void httpd_local_end_stream(struct httpd_local *l);
size_t httpd_local_pending_bytes(const struct httpd_local *l);

/* The longest route that covers the path; NULL: none. */
const struct httpd_route *httpd_dispatch_find_route(const struct httpd *h, struct str path);
/* Errors of a server that shuts down, and of a path without a route. */
extern const struct httpd_error httpd_error_drain, httpd_error_path;

void httpd_once_set(struct httpd_once *n, bool is_due, void (*fn)(void *arg), void *arg);
/* Schedules the callback from the loop; once. NULL is allowed. */
void httpd_once_post(struct httpd_once *n);
void httpd_once_fini(struct httpd_once *n);

#endif
