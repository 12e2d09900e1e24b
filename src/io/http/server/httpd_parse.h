/* SPDX-License-Identifier: MIT
 * The strict reading of an HTTP/1 request, a byte at a time: what two readers could understand
 * differently is refused, so that no request hides behind another. The server has no other reader.
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
    HTTPD_PARSE_SIZE, /* of a chunk */
    HTTPD_PARSE_SIZE_LF,
    HTTPD_PARSE_CHUNK,
    HTTPD_PARSE_CHUNK_CR,
    HTTPD_PARSE_CHUNK_LF,
    HTTPD_PARSE_LAST_CR,
    HTTPD_PARSE_LAST_LF,
    HTTPD_PARSE_READY,   /* a whole request */
    HTTPD_PARSE_REFUSED, /* `status` and `why` say it; nothing of the connection is usable */
};

/* An all-zero one waits for the first byte of a request. */
struct httpd_parse {
    enum httpd_parse_state state;
    size_t max_body; /* bytes; stays through httpd_parse_reset; 0: HTTPD_MAX_BODY */
    struct buf text; /* method, target, version, names and values, each with its NUL */
    struct buf body; /* without its chunks */
    struct {
        size_t name, value; /* in text */
    } headers[HTTPD_PARSE_HEADERS];
    size_t header_count;
    size_t target;       /* in text */
    bool is_old;         /* HTTP/1.0 */
    bool keep_alive;     /* the client may send another one */
    bool wants_continue; /* it waits for a word before it sends the body */
    int status;          /* 0, or what to answer: 400, 413, 414, 417, 431, 501, 505 */
    const char *why;
    /* the parser's own */
    size_t head_bytes, piece; /* piece: where what is being read begins in text */
    uint64_t left;            /* of the body or the chunk */
    unsigned digits;          /* of a chunk's size */
    bool has_host, has_length, is_chunked;
};

void httpd_parse_fini(struct httpd_parse *p);
/* Takes bytes up to the end of one request, and says how many; none once READY or REFUSED. */
size_t httpd_parse_feed(struct httpd_parse *p, const char *bytes, size_t n);
/* Forgets the request, but not the limit: waits for the next one. */
void httpd_parse_reset(struct httpd_parse *p);
/* Nothing of a request has come. */
bool httpd_parse_is_idle(const struct httpd_parse *p);

const char *httpd_parse_method(const struct httpd_parse *p);
const char *httpd_parse_target(const struct httpd_parse *p);
const char *httpd_parse_name(const struct httpd_parse *p, size_t i);
const char *httpd_parse_value(const struct httpd_parse *p, size_t i);

#endif
