/* SPDX-License-Identifier: MIT
 * Tests of the parser of HTTP requests: which bytes are a request, and which are refused, for every
 * way of cutting them; and that nothing after a refused request is read. */
#include <stdlib.h>
#include <string.h>

#include "io/http/server/httpd.h"
#include "io/http/server/httpd_parse.h"
#include "tap/tap.h"

#define HOST "Host: h\r\n"
#define POST "POST /p HTTP/1.1\r\n" HOST
#define CHUNKED POST "Transfer-Encoding: chunked\r\n\r\n"
#define SMUGGLED "GET /smuggled HTTP/1.1\r\n" HOST "\r\n"

static const struct {
    const char *name, *bytes;
    size_t len; /* 0: the length of the string */
    int status; /* 0: a valid request */
    const char *body;
} cases[] = {
    {"a GET", "GET / HTTP/1.1\r\n" HOST "\r\n", 0, 0, ""},
    {"HTTP/1.0", "GET / HTTP/1.0\r\n" HOST "\r\n", 0, 0, ""},
    {"a query", "GET /a?b=c%20d HTTP/1.1\r\n" HOST "\r\n", 0, 0, ""},
    {"blanks around a value", "GET / HTTP/1.1\r\nHost:\t h \t\r\nX:\r\n\r\n", 0, 0, ""},
    {"a body", POST "Content-Length: 3\r\n\r\nabc", 0, 0, "abc"},
    {"an empty body", POST "Content-Length: 0\r\n\r\n", 0, 0, ""},
    {"a length with zeros", POST "Content-Length: 0003\r\n\r\nabc", 0, 0, "abc"},
    {"chunks", CHUNKED "3\r\nabc\r\n0A\r\n0123456789\r\n0\r\n\r\n", 0, 0, "abc0123456789"},
    {"Chunked", POST "transfer-encoding: Chunked\r\n\r\n0\r\n\r\n", 0, 0, ""},
    {"a request within a body", POST "Content-Length: 35\r\n\r\n" SMUGGLED, 0, 0, SMUGGLED},

    {"both lengths", POST "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 0,
     400, 0},
    {"both lengths, in the other order",
     POST "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n", 0, 400, 0},
    {"two lengths", POST "Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc", 0, 400, 0},
    {"two different lengths", POST "Content-Length: 3\r\nContent-Length: 4\r\n\r\nabc", 0, 400, 0},
    {"a length with plus", POST "Content-Length: +3\r\n\r\nabc", 0, 400, 0},
    {"a negative length", POST "Content-Length: -3\r\n\r\nabc", 0, 400, 0},
    {"a list of lengths", POST "Content-Length: 3, 3\r\n\r\nabc", 0, 400, 0},
    {"a hexadecimal length", POST "Content-Length: 0x3\r\n\r\nabc", 0, 400, 0},
    {"an empty length", POST "Content-Length:\r\n\r\nabc", 0, 400, 0},
    {"a length that overflows", POST "Content-Length: 18446744073709551619\r\n\r\nabc", 0, 413, 0},
    {"a length above the limit", POST "Content-Length: 1048577\r\n\r\n", 0, 413, 0},
    {"xchunked", POST "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", 0, 501, 0},
    {"gzip, chunked", POST "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 0, 501, 0},
    {"chunked, chunked", POST "Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n", 0, 501, 0},
    {"chunked twice", POST "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", 0,
     400, 0},
    {"chunked with a vertical tab", POST "Transfer-Encoding: \vchunked\r\n\r\n", 0, 400, 0},
    {"chunks in HTTP/1.0", "POST / HTTP/1.0\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n", 0, 400,
     0},
    {"a chunk size that is no number", CHUNKED "zz\r\nabc\r\n0\r\n\r\n", 0, 400, 0},
    {"a chunk size with plus", CHUNKED "+3\r\nabc\r\n0\r\n\r\n", 0, 400, 0},
    {"a chunk size with 0x", CHUNKED "0x3\r\nabc\r\n0\r\n\r\n", 0, 400, 0},
    {"a chunk size with a blank", CHUNKED "3 \r\nabc\r\n0\r\n\r\n", 0, 400, 0},
    {"no chunk size", CHUNKED "\r\nabc\r\n0\r\n\r\n", 0, 400, 0},
    {"a chunk size that overflows", CHUNKED "100000003\r\nabc\r\n0\r\n\r\n", 0, 400, 0},
    {"a chunk above the limit", CHUNKED "100001\r\n", 0, 413, 0},
    {"a chunk extension", CHUNKED "3;a=b\r\nabc\r\n0\r\n\r\n", 0, 400, 0},
    {"a chunk size ended by LF", CHUNKED "3\nabc\r\n0\r\n\r\n", 0, 400, 0},
    {"a chunk ended by LF", CHUNKED "3\r\nabc\n0\r\n\r\n", 0, 400, 0},
    {"a chunk longer than its size", CHUNKED "3\r\nabcd\r\n0\r\n\r\n", 0, 400, 0},
    {"a trailer", CHUNKED "0\r\nHost: other\r\n\r\n", 0, 400, 0},
    {"no Host", "GET / HTTP/1.1\r\nX: y\r\n\r\n", 0, 400, 0},
    {"no Host in HTTP/1.0", "GET / HTTP/1.0\r\n\r\n", 0, 400, 0},
    {"two Host", "GET / HTTP/1.1\r\n" HOST "host: i\r\n\r\n", 0, 400, 0},
    {"an empty Host", "GET / HTTP/1.1\r\nHost: \r\n\r\n", 0, 400, 0},
    {"a Host with a path", "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", 0, 400, 0},
    {"a Host with a user", "GET / HTTP/1.1\r\nHost: localhost@b\r\n\r\n", 0, 400, 0},
    {"a blank before the colon", "GET / HTTP/1.1\r\nHost : h\r\n\r\n", 0, 400, 0},
    {"a blank before the colon of a length", POST "Content-Length : 3\r\n\r\nabc", 0, 400, 0},
    {"folded header", "GET / HTTP/1.1\r\n" HOST "X: a\r\n b\r\n\r\n", 0, 400, 0},
    {"a header folded by a tab", "GET / HTTP/1.1\r\n" HOST "X: a\r\n\tb\r\n\r\n", 0, 400, 0},
    {"a folded first header", "GET / HTTP/1.1\r\n X: a\r\n" HOST "\r\n", 0, 400, 0},
    {"a request line ended by LF", "GET / HTTP/1.1\n" HOST "\r\n", 0, 400, 0},
    {"a header ended by LF", "GET / HTTP/1.1\r\nHost: h\n\r\n", 0, 400, 0},
    {"a head ended by LF", "GET / HTTP/1.1\r\n" HOST "\n", 0, 400, 0},
    {"a CR in a value", "GET / HTTP/1.1\r\n" HOST "X: a\rb\r\n\r\n", 0, 400, 0},
    {"a CR before CRLF", "GET / HTTP/1.1\r\n" HOST "X: a\r\r\n\r\n", 0, 400, 0},
    {"a NUL in a value", "GET / HTTP/1.1\r\n" HOST "X: a\0b\r\n\r\n", 34, 400, 0},
    {"a NUL in a name", "GET / HTTP/1.1\r\n" HOST "X\0: ab\r\n\r\n", 34, 400, 0},
    {"a NUL in the target", "GET /a\0b HTTP/1.1\r\n" HOST "\r\n", 31, 400, 0},
    {"a NUL in the method", "GE\0T / HTTP/1.1\r\n" HOST "\r\n", 28, 400, 0},
    {"an escape in a value", "GET / HTTP/1.1\r\n" HOST "X: a\033b\r\n\r\n", 0, 400, 0},
    {"DEL in a value", "GET / HTTP/1.1\r\n" HOST "X: a\177b\r\n\r\n", 0, 400, 0},
    {"a header without name", "GET / HTTP/1.1\r\n" HOST ": a\r\n\r\n", 0, 400, 0},
    {"a header without colon", "GET / HTTP/1.1\r\n" HOST "abc\r\n\r\n", 0, 400, 0},
    {"a name with brackets", "GET / HTTP/1.1\r\n" HOST "a(b): c\r\n\r\n", 0, 400, 0},
    {"a name in UTF-8", "GET / HTTP/1.1\r\n" HOST "\303\244: c\r\n\r\n", 0, 400, 0},
    {"an absolute URI", "GET http://h/ HTTP/1.1\r\n" HOST "\r\n", 0, 400, 0},
    {"a target without slash", "GET a HTTP/1.1\r\n" HOST "\r\n", 0, 400, 0},
    {"an asterisk", "OPTIONS * HTTP/1.1\r\n" HOST "\r\n", 0, 400, 0},
    {"a fragment", "GET /a#b HTTP/1.1\r\n" HOST "\r\n", 0, 400, 0},
    {"UTF-8 in the target", "GET /\303\244 HTTP/1.1\r\n" HOST "\r\n", 0, 400, 0},
    {"two blanks", "GET  / HTTP/1.1\r\n" HOST "\r\n", 0, 400, 0},
    {"a tab", "GET\t/ HTTP/1.1\r\n" HOST "\r\n", 0, 400, 0},
    {"a blank after the version", "GET / HTTP/1.1 \r\n" HOST "\r\n", 0, 400, 0},
    {"HTTP/0.9", "GET /\r\n", 0, 400, 0},
    {"HTTP/1.2", "GET / HTTP/1.2\r\n" HOST "\r\n", 0, 505, 0},
    {"HTTP/2.0", "GET / HTTP/2.0\r\n" HOST "\r\n", 0, 505, 0},
    {"http/1.1", "GET / http/1.1\r\n" HOST "\r\n", 0, 400, 0},
    {"CONNECT", "CONNECT h:80 HTTP/1.1\r\n" HOST "\r\n", 0, 501, 0},
    {"TRACE", "TRACE / HTTP/1.1\r\n" HOST "\r\n", 0, 501, 0},
    {"get", "get / HTTP/1.1\r\n" HOST "\r\n", 0, 501, 0},
    {"a long method", "GETGETGETGETGETGETGET / HTTP/1.1\r\n" HOST "\r\n", 0, 501, 0},
    {"an empty line before", "\r\nGET / HTTP/1.1\r\n" HOST "\r\n", 0, 400, 0},
    {"TLS", "\x16\x03\x01\x02", 0, 400, 0},
    {"an expectation", POST "Expect: 200-ok\r\n\r\n", 0, 417, 0},
};

/* Feeds `bytes`, split at `cut` (0: byte by byte). Returns the number of bytes that the parser
 * consumed. */
static size_t feed(struct httpd_parse *p, const char *bytes, size_t n, size_t cut)
{
    if (cut) {
        const size_t taken = httpd_parse_feed(p, bytes, cut);
        return taken + httpd_parse_feed(p, bytes + taken, n - taken);
    }
    size_t at = 0;
    while (at < n && httpd_parse_feed(p, bytes + at, 1) == 1)
        at++;
    return at;
}

static bool is_as_wanted(const struct httpd_parse *p, size_t i, size_t len, size_t taken)
{
    if (cases[i].status)
        return p->state == HTTPD_PARSE_REFUSED && p->status == cases[i].status && taken <= len;
    return p->state == HTTPD_PARSE_READY && taken == len && p->body.len == strlen(cases[i].body) &&
           memcmp(p->body.len ? p->body.p : "", cases[i].body, p->body.len) == 0;
}

/* Feeds the request split at every position and byte by byte, with another request directly after
 * it. */
static void test_case(size_t i)
{
    const size_t len = cases[i].len ? cases[i].len : strlen(cases[i].bytes);
    CLEANUP_BUF struct buf bytes = {0};
    buf_add(&bytes, cases[i].bytes, len);
    buf_add_str(&bytes, SMUGGLED);
    size_t bad = SIZE_MAX;
    for (size_t cut = 0; cut <= bytes.len; cut++) {
        struct httpd_parse p = {0};
        const size_t taken = feed(&p, bytes.p, bytes.len, cut);
        if (!is_as_wanted(&p, i, len, taken))
            bad = cut;
        if (p.state == HTTPD_PARSE_REFUSED && httpd_parse_feed(&p, SMUGGLED, sizeof SMUGGLED - 1))
            bad = cut;
        httpd_parse_fini(&p);
    }
    if (!ok(bad == SIZE_MAX, "%s: %d", cases[i].name, cases[i].status))
        diag("cut at %zu", bad);
}

static void test_parts(void)
{
    static const char bytes[] = "POST /a/b?c=d HTTP/1.1\r\nHost: h:1\r\nX-Y: 1 2\r\n"
                                "Expect: 100-continue\r\nContent-Length: 1\r\n\r\n.GET /";
    struct httpd_parse p = {0};
    ok(httpd_parse_is_idle(&p), "a new parser is idle");
    is_int((long long)httpd_parse_feed(&p, bytes, sizeof bytes - 1), sizeof bytes - 6,
           "only one request is consumed");
    is_str(httpd_parse_method(&p), "POST", "method");
    is_str(httpd_parse_target(&p), "/a/b?c=d", "target");
    is_int((long long)p.header_count, 4, "headers");
    is_str(httpd_parse_name(&p, 1), "X-Y", "a name");
    is_str(httpd_parse_value(&p, 1), "1 2", "a value");
    ok(p.keep_alive && p.wants_continue, "the connection is kept, and the client expects 100");
    httpd_parse_reset(&p);
    ok(httpd_parse_is_idle(&p), "the parser is idle after a reset");
    static const char closing[] = "GET / HTTP/1.1\r\nHost: h\r\nConnection: x, Close\r\n\r\n";
    httpd_parse_feed(&p, closing, sizeof closing - 1);
    ok(p.state == HTTPD_PARSE_READY && !p.keep_alive, "Connection: close");
    httpd_parse_fini(&p);
}

/* Returns the status for a head of `n` bytes with one header. */
static int status_of_head(size_t n, const char *begin, char filler)
{
    CLEANUP_BUF struct buf bytes = {0};
    struct httpd_parse p = {0};
    buf_add_str(&bytes, begin);
    while (bytes.len < n)
        buf_add_char(&bytes, filler);
    httpd_parse_feed(&p, bytes.p, bytes.len);
    const int status = p.status;
    httpd_parse_fini(&p);
    return status;
}

static void test_caps(void)
{
    const char *const header = "GET / HTTP/1.1\r\nHost: h\r\nX: ";
    is_int(status_of_head(HTTPD_MAX_HEAD, header, 'x'), 0, "a head of the largest size");
    is_int(status_of_head(HTTPD_MAX_HEAD + 1, header, 'x'), 431, "a head of one byte more");
    is_int(status_of_head(HTTPD_MAX_TARGET + 4, "GET /", 'x'), 0, "a target of the largest size");
    is_int(status_of_head(HTTPD_MAX_TARGET + 5, "GET /", 'x'), 414, "a target of one byte more");
    CLEANUP_BUF struct buf many = {0};
    buf_add_str(&many, "GET / HTTP/1.1\r\n");
    for (int i = 0; i < HTTPD_PARSE_HEADERS; i++)
        buf_add_str(&many, "a: b\r\n");
    is_int(status_of_head(0, many.p, 0), 0, "the largest number of headers");
    buf_add_str(&many, "a");
    is_int(status_of_head(0, many.p, 0), 431, "one header more");
    CLEANUP_BUF struct buf body = {0};
    buf_add_str(&body, CHUNKED "fffff\r\n");
    for (int i = 0; i < HTTPD_MAX_BODY - 1; i++)
        buf_add_char(&body, 'x');
    buf_add_str(&body, "\r\n2\r\n");
    is_int(status_of_head(0, body.p, 0), 413, "chunks whose sum is too large");
}

int main(void)
{
    plan_lazy();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        test_case(i);
    test_parts();
    test_caps();
    return 0;
}
