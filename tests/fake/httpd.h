/* SPDX-License-Identifier: MIT
 * A strict HTTP/1.1 server with one thread on a free loopback port: request i is handled by step i,
 * and violations of the protocol are recorded. */
#ifndef TESTS_FAKE_HTTPD_H
#define TESTS_FAKE_HTTPD_H

#include <stddef.h>

enum httpd_what {
    HTTPD_REPLY,       /* sends the bytes and keeps the connection */
    HTTPD_REPLY_CLOSE, /* sends the bytes and closes */
    HTTPD_CLOSE,       /* reads the request and closes */
    HTTPD_RESET,       /* reads the request and resets */
    HTTPD_LEAVE,       /* reads the request, closes, and stops listening */
    HTTPD_RESET_EARLY, /* resets when the head has arrived, with most of the body unread */
    HTTPD_DRIP,        /* sends the bytes, then single bytes with pauses, for ever */
    HTTPD_SILENT,      /* reads the request and does not respond */
    HTTPD_FLOOD,       /* sends the bytes, then nine MiB */
};

struct httpd_step {
    enum httpd_what what;
    const char *bytes;
};

struct httpd;

/* `steps` must stay valid; a request without a step is a fault. Bails out if it cannot listen. */
struct httpd *httpd_start(const struct httpd_step *steps, size_t count);
int httpd_port(const struct httpd *h);
/* The current numbers; callable at any time. */
unsigned httpd_requests(struct httpd *h);
unsigned httpd_count_connections(struct httpd *h);
/* Returns head and body of request i unchanged; "" without one. Valid until httpd_stop. */
const char *httpd_request(struct httpd *h, unsigned i);
/* Returns the recorded faults; "" without any. Valid until httpd_stop. */
const char *httpd_faults(struct httpd *h);
void httpd_stop(struct httpd *h);

#endif
