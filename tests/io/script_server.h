/* SPDX-License-Identifier: MIT
 * A server of tests/fake/ as a child process. The server prints "PORT n", then a log of what it
 * receives. */
#ifndef TESTS_IO_SCRIPT_SERVER_H
#define TESTS_IO_SCRIPT_SERVER_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/bytes/buf.h"
#include "io/loop/loop.h"

struct script_server {
    pid_t pid;
    int to, from, port;
    struct buf said;
};

/* certificate NULL: no TLS. Bails out if the server does not start. */
struct script_server script_server_start(const char *script, const char *certificate,
                                         const char *key);
/* Reads the output that the server has written. */
void script_server_read(struct script_server *s);
/* Runs the loop until the server has printed the text; otherwise shows its output and returns
 * false. */
bool script_server_has_said(struct script_server *s, struct loop *loop, const char *text);
/* Closes the input of the server, which makes it end. */
void script_server_stop(struct script_server *s);

#endif
