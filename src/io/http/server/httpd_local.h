/* SPDX-License-Identifier: MIT
 * Requests that do not arrive over a connection of the HTTP server: the receiver passes them to the
 * server's routes, and gets the responses. Host, Origin and API key are not checked: the caller
 * states the principal. Loop thread only. */
#ifndef IO_HTTP_SERVER_HTTPD_LOCAL_H
#define IO_HTTP_SERVER_HTTPD_LOCAL_H

#include "io/http/server/httpd.h"

/* Receiver of the response: either `answered` is called once, or `wrote` any number of times and
 * then `ended` once. Arguments are borrowed. */
struct httpd_local_client {
    void (*answered)(void *ctx, const struct httpd_answer *a);
    void (*wrote)(void *ctx, struct str bytes);
    void (*ended)(void *ctx);
    void *ctx;
};

struct httpd_local; /* a request */

/* Passes a POST of JSON to the route of `path`, on behalf of the API key of that name. Copies
 * texts. A path without such a route is answered with 404, and everything with 503 during shutdown.
 * May call the client before returning. Free it with httpd_local_free. */
struct httpd_local *httpd_local_request(struct httpd *h, const char *path, struct str body,
                                        const char *key, const struct httpd_local_client *client);
/* Bytes of the stream that the client has not passed on yet: the route waits before writing
 * more. */
void httpd_local_set_pending_bytes(struct httpd_local *l, size_t n);
/* The callbacks are no longer called. An incomplete request or stream ends, as when a client
 * disconnects. NULL is allowed. */
void httpd_local_free(struct httpd_local *l);

#endif
