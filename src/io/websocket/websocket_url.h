/* SPDX-License-Identifier: MIT
 * WebSocket URL parser: wss:, or ws: to a loopback address. Error texts never contain the URL.
 * Pure. */
#ifndef IO_WEBSOCKET_WEBSOCKET_URL_H
#define IO_WEBSOCKET_WEBSOCKET_URL_H

#include <stdbool.h>

#include "base/sys/err.h"

struct websocket_url {
    bool is_tls;
    char host[256];      /* without brackets */
    char authority[264]; /* in the form of the Host header */
    int port;
    char path[2048]; /* path and query */
};

/* wss:, or ws: to a loopback address. -1 with err, which contains no part of the URL. */
int websocket_url_parse(struct websocket_url *u, const char *text, struct tc_err *err);

#endif
