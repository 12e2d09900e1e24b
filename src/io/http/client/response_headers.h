/* SPDX-License-Identifier: MIT
 * Headers of a response: names in lower case, values without surrounding space. Headers beyond the
 * limits, and lines that are not valid UTF-8 headers, are dropped. */
#ifndef IO_HTTP_CLIENT_RESPONSE_HEADERS_H
#define IO_HTTP_CLIENT_RESPONSE_HEADERS_H

#include "base/arena.h"
#include "base/str.h"
#include "io/http/client/httpc.h"

enum { RESPONSE_HEADERS_MAX = 64, RESPONSE_HEADERS_BYTES = 16 << 10 };

struct response_headers {
    struct httpc_header all[RESPONSE_HEADERS_MAX]; /* strings in the arena */
    size_t count, bytes;
    struct arena arena;
};

void response_headers_add(struct response_headers *h, struct str line);
/* Starts another response. */
void response_headers_clear(struct response_headers *h);
void response_headers_fini(struct response_headers *h);

#endif
