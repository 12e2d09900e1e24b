/* SPDX-License-Identifier: MIT
 * A server of tests/fake/ as a child process: it prints "PORT n", then what it sees. */
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

/* certificate NULL: no TLS. Bails when it does not start. */
struct script_server script_server_start(const char *script, const char *certificate,
                                         const char *key);
/* Takes what it has said by now. */
void script_server_read(struct script_server *s);
/* Runs the loop until it has said that; false: it does not, which is shown. */
bool script_server_has_said(struct script_server *s, struct loop *loop, const char *text);
/* It ends by itself at the end of its input. */
void script_server_stop(struct script_server *s);

#endif
