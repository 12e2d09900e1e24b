/* SPDX-License-Identifier: MIT
 * Strict parser for HTTP/1 requests, byte by byte: refuses everything that two parsers could
 * interpret differently, so that no request can be smuggled. The only parser of the server.
 * Pure. */
#ifndef IO_HTTP_SERVER_HTTPD_PARSE_H
#define IO_HTTP_SERVER_HTTPD_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes/buf.h"

enum { HTTPD_PARSE_HEADERS = 100 };

enum httpd_parse_state {
    HTTPD_PARSE_METHOD,
    HTTPD_PARSE_TARGET,
    HTTPD_PARSE_VERSION,
    HTTPD_PARSE_LINE_LF,
    HTTPD_PARSE_FIELD, /* the first byte of a header, or of the empty line */
    HTTPD_PARSE_NAME,
    HTTPD_PARSE_VALUE,
    HTTPD_PARSE_VALUE_LF,
    HTTPD_PARSE_HEAD_LF,
    HTTPD_PARSE_BODY,
    HTTPD_PARSE_SIZE, /* in a chunk */
    HTTPD_PARSE_SIZE_LF,
    HTTPD_PARSE_CHUNK,
    HTTPD_PARSE_CHUNK_CR,
    HTTPD_PARSE_CHUNK_LF,
    HTTPD_PARSE_LAST_CR,
    HTTPD_PARSE_LAST_LF,
    HTTPD_PARSE_READY,   /* a complete request */
    HTTPD_PARSE_REFUSED, /* `status` and `why` have the reason; the connection is unusable */
};

/* A struct of zeros waits for the first byte of a request. */
struct httpd_parse {
    enum httpd_parse_state state;
    size_t max_body; /* limit in bytes; kept by httpd_parse_reset; 0: HTTPD_MAX_BODY */
    struct buf text; /* method, target, version, names and values, each NUL-terminated */
    struct buf body; /* without chunk framing */
    struct {
        size_t name, value; /* offset in text */
    } headers[HTTPD_PARSE_HEADERS];
    size_t header_count;
    size_t target;       /* offsets in text */
    bool is_old;         /* HTTP/1.0 */
    bool keep_alive;     /* the client may send another request */
    bool wants_continue; /* the client waits for 100 Continue before it sends the body */
    int status;          /* 0, or the status of the error: 400, 413, 414, 417, 431, 501, 505 */
    const char *why;
    /* internal */
    size_t head_bytes, piece; /* piece: start of the current element in text */
    uint64_t left;            /* remaining bytes of the body or the chunk */
    unsigned digits;          /* digits of a chunk's size */
    bool has_host, has_length, is_chunked;
};

void httpd_parse_fini(struct httpd_parse *p);
/* Consumes bytes up to the end of one request, and returns their number; 0 when READY or
 * REFUSED. */
size_t httpd_parse_feed(struct httpd_parse *p, const char *bytes, size_t n);
/* Resets to wait for the next request; keeps the limit. */
void httpd_parse_reset(struct httpd_parse *p);
/* Whether no byte of a request has arrived. */
bool httpd_parse_is_idle(const struct httpd_parse *p);

const char *httpd_parse_method(const struct httpd_parse *p);
const char *httpd_parse_target(const struct httpd_parse *p);
const char *httpd_parse_name(const struct httpd_parse *p, size_t i);
const char *httpd_parse_value(const struct httpd_parse *p, size_t i);

#endif
