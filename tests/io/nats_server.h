/* SPDX-License-Identifier: MIT
 * Starts a NATS server for a test: on a free loopback port, with its storage below the folder of
 * the test. The server ends with the test. */
#ifndef TESTS_IO_NATS_SERVER_H
#define TESTS_IO_NATS_SERVER_H

#include <stdbool.h>
#include <sys/types.h>

#include "io/nats/nats_client.h"

struct nats_server {
    pid_t pid;
    int port; /* the same after each start */
    char url[64], store[256];
};

/* Returns false if this system has no nats-server. extra: additional lines of the configuration, or
 * "". */
bool nats_server_start(struct nats_server *s, const char *extra);
/* Starts the server, and connects a client, which the caller owns; `changed` as in
 * nats_client_spec. Returns NULL and skips the test if this system has no nats-server. */
struct nats_client *nats_server_connect(struct nats_server *s, struct loop *loop,
                                        void (*changed)(void *ctx, bool connected,
                                                        const char *text));
/* Suspends the server; returns when it is suspended. */
void nats_server_stop(struct nats_server *s);
void nats_server_kill(struct nats_server *s);

#endif
