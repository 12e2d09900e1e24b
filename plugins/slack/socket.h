/* SPDX-License-Identifier: MIT
 * Socket Mode: one connection that lives, the next one opened before it is given up. */
#ifndef SLACK_SOCKET_H
#define SLACK_SOCKET_H

#include <stdbool.h>
#include <stdint.h>

#include <turncast/plugin.h>

struct socket {
    int64_t current; /* it said hello; 0: none */
    int64_t next;    /* opened, no hello yet; 0: none */
    int64_t left;    /* given up, still to close; 0: none */
    bool asking;     /* for a URL: one request at a time */
    bool waiting;    /* on_wake opens the next one */
    bool stopped;    /* for good */
    unsigned failures;
};

void socket_start(struct tc_turn *lobby);
int socket_on_url(struct tc_turn *lobby, const struct tc_reply *r, struct tc_verdict *v);
int socket_on_frame(struct tc_turn *lobby, const struct tc_frame *frame);
int socket_on_wake(struct tc_turn *lobby);
/* The envelope is taken care of. */
void socket_acknowledge(struct tc_turn *lobby, int64_t socket, const char *envelope);

#endif
