/* SPDX-License-Identifier: MIT
 * The host's HTTP server: routes, access checks, and one response for each request, at once, later,
 * or as a stream. Only httpd_parse reads requests; it refuses ambiguous ones. Loop thread only. */
#ifndef IO_HTTP_SERVER_HTTPD_H
#define IO_HTTP_SERVER_HTTPD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "base/sys/err.h"
#include "io/loop/loop.h"

enum { /* limit of a request head */
       HTTPD_MAX_HEAD = 32 << 10,
       HTTPD_MAX_TARGET = 8 << 10,
       HTTPD_MAX_BODY = 1 << 20, /* default of httpd_options.body_bytes */
};

/* All borrowed for httpd_new. Durations in milliseconds; 0: the default stated here. */
struct httpd_options {
    const char *address; /* a numeric address; NULL: 127.0.0.1 */
    uint16_t port;       /* 0: chosen by the system */
    /* Path of a Unix socket to listen at instead: only its user can connect, and hosts and origins
     * are not checked. A socket without a listener is replaced. */
    const char *unix_path;
    bool allow_remote; /* otherwise an address that is not loopback is refused */
    /* Names of the server, in addition to its address and the loopback names; "*": any. Without
     * port. */
    const char *const *hosts;
    size_t host_count;
    /* Origins of web pages that may send requests: "https://example.org". A request without Origin
     * is not from a page. */
    const char *const *origins;
    size_t origin_count;
    int64_t deadline_ms;      /* of a response, after which it is 503; 10 s */
    int64_t arrival_ms;       /* of a whole request, from its first byte; 20 s */
    int64_t idle_ms;          /* between requests, and of a client that does not read; 60 s */
    size_t body_bytes;        /* limit of a request body; HTTPD_MAX_BODY */
    size_t stream_bytes;      /* limit of unread bytes of a stream before the last write; 1 MiB */
    unsigned max_connections; /* 8192, limited by the number of open files */
    unsigned max_per_address; /* 64; unlimited from loopback, because clients of a proxy come from
                               * there */
};

enum { HTTPD_STATUS_BEGIN = 200, HTTPD_STATUS_END = 600 }; /* limit of a response head */

enum httpd_methods {
    HTTPD_GET = 1, /* includes HEAD */
    HTTPD_POST = 2,
    HTTPD_PUT = 4,
    HTTPD_DELETE = 8,
    HTTPD_PATCH = 16,
    HTTPD_OPTIONS = 32,
    HTTPD_ANY = 63,
    /* Not a method: responses of this route have no deadline. */
    HTTPD_NO_DEADLINE = 64,
    /* Not a method: the route is only this path, although it ends with a slash. */
    HTTPD_EXACT = 128,
};

struct httpd_header {
    const char *name, *value;
};

/* Owned by the handler until it answers or begins a stream, even if the client or the server is
 * gone. */
struct httpd_request {
    const char *method; /* "GET"… */
    const char *path;   /* not decoded; compared with routes */
    const char *query;  /* not decoded; "" if there is none */
    const struct httpd_header *headers;
    size_t header_count;
    struct str body;  /* NUL-terminated */
    const char *peer; /* numeric address, "local" for a Unix socket */
    const char *key;  /* name of the API key that it acts for (httpd_local.h); NULL: its headers
                       * identify the client */
    bool gone;        /* the client has disconnected, or got a 503 */
};

struct httpd;

/* Listens. NULL with err: the address is invalid, in use, or not loopback without allow_remote.
 * Raises the soft limit of open files if max_connections requires it. */
struct httpd *httpd_new(struct loop *l, const struct httpd_options *options, struct tc_err *err);
/* Closes every connection; handlers must still answer their requests. NULL is allowed. Must not be
 * called from a handler. */
void httpd_free(struct httpd *h);
/* Begins the shutdown: accepts no connections, answers new requests with 503, completes responses,
 * and ends idle streams. `done` is called, from the loop, when all clients have disconnected, or
 * after that time. Call it once; httpd_free follows. */
void httpd_drain_begin(struct httpd *h, int64_t ms, void (*done)(void *arg), void *arg);
uint16_t httpd_bound_port(const struct httpd *h); /* 0 for a Unix socket */

/* Number of responses with that status so far, streams included. */
uint64_t httpd_count_answers(const struct httpd *h, int status);
unsigned httpd_count_connections(const struct httpd *h);

/* Sets another limit of bodies, for new connections. */
void httpd_set_body_bytes(struct httpd *h, size_t bytes);
/* Sets other host names, from the next request on. */
void httpd_set_allowed_names(struct httpd *h, const char *const *hosts, size_t host_count,
                             const char *const *origins, size_t origin_count);

/* Passes requests for `path` to fn; a path that ends with a slash includes all paths below it. The
 * longest matching path is used; the same path again replaces the route. Other methods get 405,
 * other paths 404. */
void httpd_route(struct httpd *h, const char *path, unsigned methods,
                 void (*fn)(void *arg, struct httpd_request *request), void *arg);
/* Removes the route. */
void httpd_unroute(struct httpd *h, const char *path);

/* The value of the first header of that name, ignoring case; or NULL. */
const char *httpd_find_header(const struct httpd_request *r, const char *name);

/* Replaces deadline_ms for this request, from now on; the response after it is 504. */
void httpd_extend_deadline(struct httpd_request *r, int64_t ms);
/* Calls fn(arg) once when no client waits for the response any longer, so that the work can be
 * cancelled: soon, from the loop; also if that is the case already; but not because of httpd_free.
 * The request must still be answered, possibly by fn. fn NULL: no callback. */
void httpd_set_on_gone(struct httpd_request *r, void (*fn)(void *arg), void *arg);

/* All borrowed for the call. */
struct httpd_answer {
    int status;               /* 200 to 599, otherwise it becomes 500 */
    const char *content_type; /* NULL: plain text */
    /* Further headers. Invalid ones (with a line break), and those that the server sets, are left
     * out and logged. Default Cache-Control: "no-store". */
    const struct httpd_header *headers;
    size_t header_count;
    struct str body; /* not for a stream; not sent with 204 and 304 */
};

/* Answers and frees the request: call it exactly once, in the handler or later. Sends nothing if
 * the client is gone. */
void httpd_answer_full(struct httpd_request *r, const struct httpd_answer *a);
/* The same without further headers. */
void httpd_answer(struct httpd_request *r, int status, const char *content_type, struct str body);

/* A response of unknown length, without a deadline; writes within one round of the loop are sent
 * together. A client that does not read is disconnected: the stream is then gone, as if the client
 * had disconnected. */
struct httpd_stream;

/* Frees the request and begins its response; never NULL. If the client is gone, or the response has
 * no body (HEAD), the stream is gone from the start. */
struct httpd_stream *httpd_stream_begin(struct httpd_request *r, int status,
                                        const char *content_type, const struct httpd_header *more,
                                        size_t n);
/* Never blocks and never calls back. No effect if the stream is gone. */
void httpd_stream_write(struct httpd_stream *s, struct str bytes);
/* Writes keep-alive bytes; skipped while other bytes are pending. */
void httpd_stream_keep_alive(struct httpd_stream *s, struct str bytes);
bool httpd_stream_is_gone(const struct httpd_stream *s);
/* Like httpd_set_on_gone: called once if the stream is gone before its end. fn may end it. */
void httpd_stream_set_on_gone(struct httpd_stream *s, void (*fn)(void *arg), void *arg);
/* Bytes that the client has not read. */
size_t httpd_stream_pending_bytes(const struct httpd_stream *s);
/* Calls fn(arg) once from the loop when the client has read all bytes; never if the stream is
 * gone. */
void httpd_set_on_room(struct httpd_stream *s, void (*fn)(void *arg), void *arg);
/* Ends the response and frees the stream, whether it is gone or not. */
void httpd_stream_end(struct httpd_stream *s);

#endif
