/* SPDX-License-Identifier: MIT
 * The host's HTTP server: routes, who may ask, and one answer for each request, at once, later, or
 * as a stream. Requests are read by httpd_parse alone, which refuses what is not plain. Loop thread
 * only. */
#ifndef IO_HTTP_SERVER_HTTPD_H
#define IO_HTTP_SERVER_HTTPD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "base/sys/err.h"
#include "io/loop/loop.h"

enum { /* of a request */
       HTTPD_MAX_HEAD = 32 << 10,
       HTTPD_MAX_TARGET = 8 << 10,
       HTTPD_MAX_BODY = 1 << 20, /* unless httpd_options.body_bytes says otherwise */
};

/* All borrowed for httpd_new. Durations in milliseconds; 0: the value said here. */
struct httpd_options {
    const char *address; /* a numeric one; NULL: 127.0.0.1 */
    uint16_t port;       /* 0: the system picks one */
    /* Listens there instead: only its user can connect, hosts and origins do not matter. A socket
     * that nobody answers is replaced. */
    const char *unix_path;
    bool allow_remote; /* else an address that is not loopback is refused */
    /* Names the server answers to, beside its address and the loopback names; "*": any. Without
     * port. */
    const char *const *hosts;
    size_t host_count;
    /* Web pages that may ask: "https://example.org". A request without Origin is not theirs. */
    const char *const *origins;
    size_t origin_count;
    int64_t deadline_ms;      /* of an answer, then it is 503; 10 s */
    int64_t arrival_ms;       /* of a whole request, from its first byte; 20 s */
    int64_t idle_ms;          /* between requests, and of a client that does not read; 60 s */
    size_t body_bytes;        /* of a request's body; HTTPD_MAX_BODY */
    size_t stream_bytes;      /* of a stream that are not read yet, before the last write; 1 MiB */
    unsigned max_connections; /* 8192, and what the limit of open files has room for */
    unsigned max_per_address; /* 64, and any number from loopback: a proxy's clients come so */
};

enum { HTTPD_STATUS_BEGIN = 200, HTTPD_STATUS_END = 600 }; /* of an answer */

enum httpd_methods {
    HTTPD_GET = 1, /* HEAD goes with it */
    HTTPD_POST = 2,
    HTTPD_PUT = 4,
    HTTPD_DELETE = 8,
    HTTPD_PATCH = 16,
    HTTPD_OPTIONS = 32,
    HTTPD_ANY = 63,
    /* Not a method: answers of this route may take any time, deadline_ms is not theirs. */
    HTTPD_NO_DEADLINE = 64,
    /* Nor this: the route is the path alone, although it ends with a slash. */
    HTTPD_EXACT = 128,
};

struct httpd_header {
    const char *name, *value;
};

/* The handler's until it answers or begins a stream, whatever becomes of the client or of the
 * server. */
struct httpd_request {
    const char *method; /* "GET"… */
    const char *path;   /* not decoded: what a route is compared with */
    const char *query;  /* not decoded; "" when there is none */
    const struct httpd_header *headers;
    size_t header_count;
    struct str body;  /* NUL-terminated */
    const char *peer; /* numeric address, "local" from a unix socket */
    const char *key;  /* name of the API key on whose behalf it is (httpd_local.h); NULL: its
                       * headers say that */
    bool gone;        /* nobody waits for the answer: the client left, or it had its 503 */
};

struct httpd;

/* Listens. NULL with err: the address is no address, not loopback without allow_remote, taken.
 * Raises the soft limit of open files when max_connections needs it. */
struct httpd *httpd_new(struct loop *l, const struct httpd_options *options, struct tc_err *err);
/* Closes every connection; requests that are with handlers still have to be answered. NULL is
 * fine. Not from a handler. */
void httpd_free(struct httpd *h);
/* The end begins: nobody connects any more, what is asked for is 503, answers go out, and streams
 * end when their owners have nothing to say. `done` is called, from the loop, when all clients have
 * left, or after that time. Once; httpd_free is next. */
void httpd_drain_begin(struct httpd *h, int64_t ms, void (*done)(void *arg), void *arg);
uint16_t httpd_bound_port(const struct httpd *h); /* 0 with a unix socket */

/* Answers with that status so far, streams among them. */
uint64_t httpd_count_answers(const struct httpd *h, int status);
unsigned httpd_count_connections(const struct httpd *h);

/* Another limit of bodies, for connections that come from now on. */
void httpd_set_body_bytes(struct httpd *h, size_t bytes);
/* Other names, from the next request on. */
void httpd_set_allowed_names(struct httpd *h, const char *const *hosts, size_t host_count,
                             const char *const *origins, size_t origin_count);

/* Requests for `path` go to fn; a path that ends with a slash stands for all below it, too. The
 * longest one that fits has it; the same path again replaces. Other methods get 405, other paths
 * 404. */
void httpd_route(struct httpd *h, const char *path, unsigned methods,
                 void (*fn)(void *arg, struct httpd_request *request), void *arg);
/* No more requests go there. */
void httpd_unroute(struct httpd *h, const char *path);

/* The value of the first header of that name, any case; or NULL. */
const char *httpd_find_header(const struct httpd_request *r, const char *name);

/* Instead of deadline_ms, from now on: then it is 504. */
void httpd_extend(struct httpd_request *r, int64_t ms);
/* fn(arg) is called once when nobody waits for the answer any longer, so that what it waits for
 * can be cancelled: soon, from the loop; of a request that is gone already, too; not by httpd_free.
 * The request still has to be answered, which fn may do. fn NULL: no longer. */
void httpd_set_on_gone(struct httpd_request *r, void (*fn)(void *arg), void *arg);

/* All borrowed for the call. */
struct httpd_answer {
    int status;               /* 200…599, else it is 500 */
    const char *content_type; /* NULL: plain text */
    /* More of them. Left out, and logged: what is no header (a line break in it), and those that
     * are the server's own. Cache-Control is "no-store" unless it is here. */
    const struct httpd_header *headers;
    size_t header_count;
    struct str body; /* not of a stream; none goes out with 204 and 304 */
};

/* Answers and frees the request: exactly once, in the handler or at any time after. Nothing is
 * sent when it is gone. */
void httpd_answer_full(struct httpd_request *r, const struct httpd_answer *a);
/* The same without more headers. */
void httpd_answer(struct httpd_request *r, int status, const char *content_type, struct str body);

/* An answer of unknown length. It has no deadline; what is written in one round of the loop goes
 * out together. A client that does not read is dropped, never waited for: the stream is gone then,
 * as when the client leaves. */
struct httpd_stream;

/* Frees the request and begins its answer; never NULL. If the request is gone, or its answer has no
 * body (HEAD), the stream is gone from the start. */
struct httpd_stream *httpd_stream_begin(struct httpd_request *r, int status,
                                        const char *content_type, const struct httpd_header *more,
                                        size_t n);
/* Never blocks and never calls back. Does nothing when the stream is gone. */
void httpd_stream_write(struct httpd_stream *s, struct str bytes);
/* Writes bytes that only show that the server is alive; skipped while other bytes are pending. */
void httpd_stream_keep_alive(struct httpd_stream *s, struct str bytes);
bool httpd_stream_is_gone(const struct httpd_stream *s);
/* As httpd_set_on_gone: called once when the stream goes before its end. fn may end it. */
void httpd_stream_set_on_gone(struct httpd_stream *s, void (*fn)(void *arg), void *arg);
/* Bytes that the client has not taken. */
size_t httpd_stream_pending_bytes(const struct httpd_stream *s);
/* Calls fn(arg) once from the loop when the client has taken all bytes; never if the stream goes.
 */
void httpd_set_on_room(struct httpd_stream *s, void (*fn)(void *arg), void *arg);
/* Ends the answer and frees the stream, also one that is gone. */
void httpd_stream_end(struct httpd_stream *s);

#endif
