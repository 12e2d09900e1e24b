/* SPDX-License-Identifier: MIT
 * A nats-server of its own for a test: on a free loopback port, with a store below the test's
 * folder. It dies with the test. */
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

/* False: this system has no nats-server. extra: further lines of its configuration, or "". */
bool nats_server_start(struct nats_server *s, const char *extra);
/* Starts it, and connects a client, which is the caller's; `changed` as in nats_client_spec. NULL:
 * this system has no nats-server, and the test is skipped. */
struct nats_client *nats_server_connect(struct nats_server *s, struct loop *loop,
                                        void (*changed)(void *ctx, bool connected,
                                                        const char *text));
/* It stands still when this returns. */
void nats_server_stop(struct nats_server *s);
void nats_server_kill(struct nats_server *s);

#endif
