/* SPDX-License-Identifier: MIT
 * A strict HTTP/1.1 server of one thread on a free loopback port: request i gets what step i
 * says, and what is wrong with a request is written down. */
#ifndef TESTS_FAKE_HTTPD_H
#define TESTS_FAKE_HTTPD_H

#include <stddef.h>

enum httpd_what {
    HTTPD_REPLY,       /* sends the bytes and keeps the connection */
    HTTPD_REPLY_CLOSE, /* sends the bytes and closes */
    HTTPD_CLOSE,       /* reads the request and closes */
    HTTPD_RESET,       /* reads the request and resets */
    HTTPD_LEAVE,       /* reads the request, closes, and listens no longer */
    HTTPD_RESET_EARLY, /* resets once it has the head, with most of the body unread */
    HTTPD_DRIP,        /* sends the bytes, then one more every few milliseconds, for ever */
    HTTPD_SILENT,      /* reads the request and says nothing */
    HTTPD_FLOOD,       /* sends the bytes, then nine MiB */
};

struct httpd_step {
    enum httpd_what what;
    const char *bytes;
};

struct httpd;

/* `steps` has to stay; a request beyond them is a fault. Bails when it cannot listen. */
struct httpd *httpd_start(const struct httpd_step *steps, size_t count);
int httpd_port(const struct httpd *h);
/* So far; any time. */
unsigned httpd_requests(struct httpd *h);
unsigned httpd_count_connections(struct httpd *h);
/* Head and body of request i as they came; "" when there was none. Valid until httpd_stop. */
const char *httpd_request(struct httpd *h, unsigned i);
/* What was wrong; "" when nothing was. Valid until httpd_stop. */
const char *httpd_faults(struct httpd *h);
void httpd_stop(struct httpd *h);

#endif
