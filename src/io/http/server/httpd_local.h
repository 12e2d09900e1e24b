/* SPDX-License-Identifier: MIT
 * Requests that arrive by another way than a connection of the HTTP server: whoever receives them
 * gives them to the server's routes, and gets what a handler answers. Host and Origin are not
 * checked, and no key is asked for: the caller says on whose behalf the request is. Loop thread
 * only. */
#ifndef IO_HTTP_SERVER_HTTPD_LOCAL_H
#define IO_HTTP_SERVER_HTTPD_LOCAL_H

#include "io/http/server/httpd.h"

/* Receiver of the answer: either `answered` is called once, or `wrote` any number of times and then
 * `ended` once. Their arguments are borrowed. */
struct httpd_local_client {
    void (*answered)(void *ctx, const struct httpd_answer *a);
    void (*wrote)(void *ctx, struct str bytes);
    void (*ended)(void *ctx);
    void *ctx;
};

struct httpd_local; /* one request */

/* Gives a POST of JSON to the route of `path`, on behalf of the API key of that name. Texts are
 * copied. A path without a route for it is answered with 404, and everything with 503 while the
 * server shuts down. The client may be called before this returns. Freed by httpd_local_free. */
struct httpd_local *httpd_local_request(struct httpd *h, const char *path, struct str body,
                                        const char *key, const struct httpd_local_client *client);
/* Bytes of the stream that the client has not passed on yet: the route waits with more. */
void httpd_local_set_pending_bytes(struct httpd_local *l, size_t n);
/* The client is not called any more. If the answer is not complete, its request or stream is gone,
 * as when a client of a connection leaves. NULL is fine. */
void httpd_local_free(struct httpd_local *l);

#endif
