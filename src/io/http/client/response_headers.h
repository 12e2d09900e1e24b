/* SPDX-License-Identifier: MIT
 * Headers of a response, as they come in: names in lower case, values without surrounding space.
 * Beyond the limits, and where a line is no header in UTF-8, headers are left out. */
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
/* Another response begins. */
void response_headers_clear(struct response_headers *h);
void response_headers_fini(struct response_headers *h);

#endif
