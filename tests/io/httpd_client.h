/* SPDX-License-Identifier: MIT
 * A client of raw bytes for tests of the HTTP server: it turns the server's loop while it waits. */
#ifndef TESTS_IO_HTTPD_CLIENT_H
#define TESTS_IO_HTTPD_CLIENT_H

#include <stdbool.h>

#include "base/bytes/buf.h"
#include "io/http/server/httpd.h"

struct client {
    struct loop *loop;
    int fd;
    struct buf in; /* all it has got */
    bool closed;
};

struct client client_connect(struct loop *loop, const struct httpd *h);
struct client client_connect_path(struct loop *loop, const char *path);
/* What is there. */
void client_read(struct client *c);
/* Sends all of it, while the server reads. */
void client_send(struct client *c, const char *bytes, size_t n);
/* The answers that have begun to come. */
unsigned client_answers(const struct client *c);
/* Until it has so many answers, with their bodies, or the connection has ended. */
void client_await(struct client *c, unsigned answers);
void client_await_end(struct client *c);
void client_hang_up(struct client *c);

#endif
