/* SPDX-License-Identifier: MIT
 * What the files of the HTTP server share: the server, a connection, a request of it. */
#ifndef IO_HTTPD_IMPL_H
#define IO_HTTPD_IMPL_H

#include "base/buf.h"
#include "io/httpd.h"
#include "io/httpd_parse.h"

struct httpd_route {
    struct httpd_route *next;
    char *path;
    size_t len;
    unsigned methods;
    void (*fn)(void *arg, struct httpd_request *request);
    void *arg;
};

struct httpd {
    struct loop *loop;
    struct httpd_options options; /* its numbers; the strings are these: */
    char *address, **hosts, **origins;
    int fd;
    struct loop_fd *listener;
    struct loop_timer *pause; /* of the listener, when descriptors have run out */
    uint16_t port;
    struct httpd_route *routes; /* the longest path first */
    struct httpd_conn *conns;
    unsigned conn_count;
};

/* What a connection does. Only one request of it is known at a time. */
enum httpd_phase {
    HTTPD_READING,   /* a request, or waits for one */
    HTTPD_HANDLING,  /* its request is with a handler */
    HTTPD_WRITING,   /* the answer goes out */
    HTTPD_LINGERING, /* all is said: the client shall read it before the connection is cut */
};

struct httpd_conn {
    struct httpd *owner;
    struct httpd_conn *next, **at;
    int fd;
    struct loop_fd *on_loop;
    struct loop_timer *timer; /* of the phase */
    enum httpd_phase phase;
    struct httpd_parse parse;
    struct buf in, out;
    size_t sent; /* of out */
    struct httpd_pending *pending;
    bool is_head; /* the answer has no body */
    bool closes;  /* after this answer */
    char peer[64];
};

/* A request that is with its handler. */
struct httpd_pending {
    struct httpd_request request; /* first: a handler has its address */
    struct httpd_conn *conn;      /* NULL once it is gone */
    struct httpd_parse parse;     /* owns the strings of request */
    char *path;
    struct httpd_header headers[];
};

/* Takes over the descriptor. */
void httpd_conn_new(struct httpd *h, int fd, const char *peer);
/* Its request, if there is one, is gone. */
void httpd_conn_free(struct httpd_conn *c);
/* The request is no longer of the connection. */
void httpd_conn_part(struct httpd_conn *c);
/* Puts an answer into `out`: numbers and strings that have been checked; `allow` is for 405, else
 * NULL. */
void httpd_conn_say(struct httpd_conn *c, int status, const char *content_type, struct str body,
                    const char *allow);

/* The request that conn has read goes to who answers it: a handler, or the server itself. */
void httpd_dispatch(struct httpd_conn *c);
/* The server's own answer: the name of the status. */
void httpd_refuse(struct httpd_conn *c, int status, const char *allow);

const char *httpd_reason(int status);

#endif
