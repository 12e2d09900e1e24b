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

/* A peer address with open connections. */
struct httpd_peer {
    unsigned connections;
    char name[64]; /* numeric address, or "local" */
};

struct httpd {
    struct loop *loop;
    struct httpd_options options; /* its numbers; the strings are these: */
    char *address, **hosts, **origins;
    char *path; /* of the unix socket; NULL: it listens at the address */
    dev_t path_dev;
    ino_t path_ino;
    int fd;
    int spare; /* a descriptor for when there are no more, or -1 */
    struct loop_fd *listener;
    struct loop_timer *pause; /* of the listener, when not even that helps */
    int64_t told_ms;          /* that connections are turned away; 0: not yet */
    int64_t refusals_ms;      /* when the minute began in which these were logged; 0: never */
    unsigned refusals;        /* of a Host or an Origin, in that minute */
    uint16_t port;
    struct httpd_route *routes; /* the longest path first */
    LIST_HEAD(, httpd_conn) conns;
    unsigned conn_count;
    uint64_t answers[HTTPD_STATUS_END - HTTPD_STATUS_BEGIN]; /* by status */
    void *peers;                                             /* a tree, tsearch(3) */
    struct loop_timer *drain;                                /* NULL: the end has not begun */
    int64_t drain_until_ms;
    void (*drained)(void *arg);
    void *drained_arg;
};

/* Phase of a connection. It has at most one request at a time. */
enum httpd_phase {
    HTTPD_READING,   /* a request, or waits for one */
    HTTPD_HANDLING,  /* its request is with a handler */
    HTTPD_WRITING,   /* the answer goes out */
    HTTPD_STREAMING, /* an answer without an end yet */
    HTTPD_LINGERING, /* the end of the client's reading */
};

struct httpd_conn {
    struct httpd *owner;
    LIST_ENTRY(httpd_conn) next;
    int fd;
    struct loop_fd *on_loop;
    struct loop_timer *timer; /* of the phase */
    enum httpd_phase phase;
    struct httpd_parse parse;
    struct buf in, out;
    size_t sent;                           /* of out */
    struct httpd_pending_request *pending; /* HANDLING: it, else NULL */
    struct httpd_stream *stream;           /* STREAMING: it, else NULL */
    bool is_head;                          /* the answer has no body */
    bool is_old;                           /* HTTP/1.0: the answer has no chunks */
    char *origin;    /* of the page that may read the answer; owned; NULL: none */
    bool closes;     /* after this answer */
    int64_t late_ms; /* HANDLING: the time of an answer that httpd_extend gave; 0: deadline_ms */
    struct httpd_peer *peer;
};

/* Something a handler wants to be told once, from the loop. */
struct httpd_once {
    struct loop *loop;
    void (*fn)(void *arg); /* NULL: nobody, or it has been told */
    void *arg;
    bool is_posted;
};

/* A request that is with its handler. */
struct httpd_pending_request {
    struct httpd_request request; /* first: a handler has its address */
    struct httpd_conn *conn;      /* NULL once it is gone */
    struct httpd_local *local;    /* in place of a connection, until it is gone; or NULL */
    struct httpd_once gone;
    struct httpd_parse parse; /* owns the strings of request */
    char *path, *key;
    struct httpd_header headers[];
};

enum httpd_stream_state {
    HTTPD_STREAM_STILL,   /* all has been sent */
    HTTPD_STREAM_DUE,     /* something was written: the connection's timer sends it */
    HTTPD_STREAM_BLOCKED, /* the client has to read first; the timer drops it */
    HTTPD_STREAM_CUT,     /* too much is unread: the timer drops it at once */
};

struct httpd_stream {
    struct httpd_conn *conn;   /* NULL once it is gone */
    struct httpd_local *local; /* in place of a connection, until it is gone; or NULL */
    struct httpd_once gone;
    struct httpd_once room; /* told when all is taken */
    enum httpd_stream_state state;
};

/* Opens the socket and begins to accept. */
int httpd_listen_begin(struct httpd *h, struct tc_err *err);
void httpd_listen_end(struct httpd *h);

void httpd_accept_begin(struct httpd *h);
void httpd_accept_end(struct httpd *h);
/* For good. */
void httpd_accept_stop(struct httpd *h);
void httpd_peer_release(struct httpd *h, struct httpd_peer *peer);

/* Takes over the descriptor and the peer. */
void httpd_conn_new(struct httpd *h, int fd, struct httpd_peer *peer);
/* Closes the connection. Its request or stream, if any, is gone, without a callback. */
void httpd_conn_free(struct httpd_conn *c);
/* The same, and who waits is told. Not while the connection runs a handler. */
void httpd_conn_drop(struct httpd_conn *c);
/* Detaches request and stream from the connection. Returns the callback that is to be told of it,
 * or NULL. */
struct httpd_once *httpd_conn_detach_request(struct httpd_conn *c);
/* `ms`: until the timer of the phase; negative: never. */
void httpd_conn_set_phase(struct httpd_conn *c, enum httpd_phase phase, int64_t ms);
/* Waits for what the phase waits for. */
void httpd_conn_update_events(struct httpd_conn *c);
/* Writes what the client takes. -1: the connection is broken. */
int httpd_conn_flush(struct httpd_conn *c);
/* A whole answer begins to go out. */
void httpd_conn_send_answer(struct httpd_conn *c, const struct httpd_answer *a);

/* All has gone out, and it is the last: the client shall read it before the connection is cut. */
void httpd_conn_linger(struct httpd_conn *c);

/* The request that conn has read goes to who answers it: a handler, or the server itself. */
void httpd_dispatch_request(struct httpd_conn *c);
/* Answers a request that the parser refused. */
void httpd_refuse_parse(struct httpd_conn *c);
/* 408: the request took too long to come; 503 and 504: its answer did. */
void httpd_refuse_late(struct httpd_conn *c, int status);
/* 421: the Host is not allowed; 403: the Origin is not. Logged, some in a minute. */
void httpd_refuse_name(struct httpd_conn *c, int status, const char *name);
/* `allow`: "GET, HEAD" */
void httpd_refuse_method(struct httpd_conn *c, const char *allow);
void httpd_refuse_path(struct httpd_conn *c);
void httpd_refuse_drain(struct httpd_conn *c);
/* Appends a whole answer for somebody who gets no connection. */
void httpd_error_busy(struct buf *out);
void httpd_pending_free(struct httpd_pending_request *p);

/* Puts the head of an answer into `out`, its length being unknown when it is a stream's. Whether a
 * body comes behind it. */
bool httpd_response_head_write(struct httpd_conn *c, const struct httpd_answer *a, bool is_stream);
const char *httpd_reason_phrase(int status);

/* The server ends the connection's stream: its client sees an end, its owner a client that left. */
void httpd_stream_close(struct httpd_conn *c);
/* After LOOP_WRITE. */
void httpd_stream_flushed(struct httpd_stream *s);
/* The connection's timer has run out. */
void httpd_stream_timed_out(struct httpd_stream *s);

/* The functions of httpd.h for a request without a connection (httpd_local.h). */
void httpd_local_answer(struct httpd_local *l, const struct httpd_answer *a);
void httpd_local_begin_stream(struct httpd_local *l, struct httpd_stream *s);
void httpd_local_write(const struct httpd_local *l, struct str bytes);
void httpd_local_end_stream(struct httpd_local *l);
size_t httpd_local_pending_bytes(const struct httpd_local *l);

/* The longest one that covers the path; NULL: there is none. */
const struct httpd_route *httpd_dispatch_find_route(const struct httpd *h, struct str path);
/* The errors of a server that shuts down, and of a path without a route. */
extern const struct httpd_error httpd_error_drain, httpd_error_path;

void httpd_once_set(struct httpd_once *n, bool is_due, void (*fn)(void *arg), void *arg);
/* Soon, from the loop; once. NULL is fine. */
void httpd_once_post(struct httpd_once *n);
void httpd_once_fini(struct httpd_once *n);

#endif
