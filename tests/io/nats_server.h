/* SPDX-License-Identifier: MIT
 * A nats-server of its own for a test: on a free loopback port, with a store below the test's
 * folder. It dies with the test. */
#ifndef TESTS_IO_NATS_SERVER_H
#define TESTS_IO_NATS_SERVER_H

#include <stdbool.h>
#include <sys/types.h>

struct nats_server {
    pid_t pid;
    int port; /* the same after each start */
    char url[64], store[256];
};

/* False: this system has no nats-server. extra: further lines of its configuration, or "". */
bool nats_server_start(struct nats_server *s, const char *extra);
/* It stands still when this returns. */
void nats_server_stop(struct nats_server *s);
void nats_server_kill(struct nats_server *s);

#endif
