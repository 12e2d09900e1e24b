/* SPDX-License-Identifier: MIT
 * A client that sends raw bytes to the HTTP server under test. It runs the loop of the server while
 * it waits. */
#ifndef TESTS_IO_HTTPD_CLIENT_H
#define TESTS_IO_HTTPD_CLIENT_H

#include <stdbool.h>

#include "base/bytes/buf.h"
#include "io/http/server/httpd.h"

struct client {
    struct loop *loop;
    int fd;
    struct buf in; /* all received bytes */
    bool closed;
};

struct client client_connect(struct loop *loop, const struct httpd *h);
struct client client_connect_path(struct loop *loop, const char *path);
/* Reads the bytes that have arrived. */
void client_read(struct client *c);
/* Sends all bytes while the server reads. */
void client_send(struct client *c, const char *bytes, size_t n);
/* Returns the number of responses that have begun to arrive. */
unsigned client_count_answers(const struct client *c);
/* Waits for this number of responses with their bodies, or for the end of the connection. */
void client_await(struct client *c, unsigned answers);
void client_await_end(struct client *c);
void client_hang_up(struct client *c);

#endif
