/* SPDX-License-Identifier: MIT
 * Tests of the HTTP client against each fault of a service, and of the outcome that the client
 * derives from the fault. */
#include "io/http/client/httpc.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/alloc.h"
#include "base/bytes/buf.h"
#include "base/sys/clock.h"
#include "fake/httpd.h"
#include "tap/tap.h"

#define OK_REPLY "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"
#define STATUS_REPLY(line, headers) "HTTP/1.1 " line "\r\n" headers "Content-Length: 0\r\n\r\n"
#define PATH "/bot1:PathSecret/send?key=QuerySecret"
#define UNKNOWN (-2)

static struct loop *loop;
static struct httpc *http;

/* The result of one request. */
struct got {
    unsigned calls;
    enum httpc_outcome outcome;
    int status;
    struct buf body;
    int64_t retry_after_ms, date;
    char error[512];
};

static void on_reply(void *arg, const struct httpc_reply *r)
{
    struct got *const g = arg;
    g->calls++;
    g->outcome = r->outcome;
    g->status = r->status;
    g->retry_after_ms = r->retry_after_ms;
    g->date = r->date;
    buf_reset(&g->body);
    buf_add(&g->body, r->body.p, r->body.len);
    snprintf(g->error, sizeof g->error, "%s", r->error);
}

static void wait_for(const struct got *g, unsigned calls)
{
    for (int rounds = 0; g->calls < calls && rounds < 20000; rounds++)
        loop_run_once(loop, 1000);
}

static const char *url_of(const struct httpd *server, const char *path)
{
    static char url[256];
    snprintf(url, sizeof url, "http://127.0.0.1:%d%s", httpd_port(server), path);
    return url;
}

static struct httpc_request post_of(const char *url, const char *body)
{
    return (struct httpc_request){
        .method = "POST",
        .url = url,
        .content_type = body ? "application/json" : NULL,
        .body = {body, body ? strlen(body) : 0},
        .flags = HTTPC_LOOPBACK,
        .timeout_ms = 20000,
    };
}

static void run(struct got *g, const struct httpc_request *r)
{
    const unsigned before = g->calls;
    httpc_start(http, r, on_reply, g);
    wait_for(g, before + 1);
}

static void check_error(const struct got *g, const char *name)
{
    ok((g->outcome == HTTPC_OK) == (*g->error == '\0'),
       "%s: an error text unless the request succeeded", name);
    ok(!strstr(g->error, "Secret") && !strchr(g->error, '\n'),
       "%s: the error text contains no secret", name);
}

static const struct {
    const char *name;
    struct httpd_step step;
    enum httpc_outcome outcome;
    int status;
    int64_t retry_after_ms;
    const char *error;
    int64_t timeout_ms;
} faults[] = {
    {"200", {HTTPD_REPLY, OK_REPLY}, HTTPC_OK, 200, -1, "", 0},
    {"204", {HTTPD_REPLY, "HTTP/1.1 204 No\r\n\r\n"}, HTTPC_OK, 204, -1, "", 0},
    {"429, whole seconds",
     {HTTPD_REPLY, STATUS_REPLY("429 Slow", "Retry-After: 7\r\n")},
     HTTPC_REJECTED,
     429,
     7000,
     "HTTP 429",
     0},
    {"429, fraction",
     {HTTPD_REPLY, STATUS_REPLY("429 Slow", "retry-after:  2.25 \r\n")},
     HTTPC_REJECTED,
     429,
     2250,
     "HTTP 429",
     0},
    {"429, fine fraction",
     {HTTPD_REPLY, STATUS_REPLY("429 Slow", "Retry-After: 0.0001\r\n")},
     HTTPC_REJECTED,
     429,
     1,
     "HTTP 429",
     0},
    {"429, date",
     {HTTPD_REPLY, STATUS_REPLY("429 Slow", "Retry-After: Sat, 21 Nov 2026 08:00:10 GMT\r\n")},
     HTTPC_REJECTED,
     429,
     10001,
     "HTTP 429",
     0},
    {"429, a date in the past",
     {HTTPD_REPLY, STATUS_REPLY("429 Slow", "Retry-After: Sat, 21 Nov 2020 08:00:10 GMT\r\n")},
     HTTPC_REJECTED,
     429,
     0,
     "HTTP 429",
     0},
    {"429, nonsense",
     {HTTPD_REPLY, STATUS_REPLY("429 Slow", "Retry-After: soon\r\n")},
     HTTPC_REJECTED,
     429,
     -1,
     "HTTP 429",
     0},
    {"429, a number that is too large",
     {HTTPD_REPLY, STATUS_REPLY("429 Slow", "Retry-After: 99999999999999999999999\r\n")},
     HTTPC_REJECTED,
     429,
     7 * 24 * 3600 * INT64_C(1000),
     "HTTP 429",
     0},
    {"429, with a body",
     {HTTPD_REPLY, "HTTP/1.1 429 Slow\r\nContent-Length: 2\r\n\r\nhi"},
     HTTPC_REJECTED,
     429,
     -1,
     "HTTP 429",
     0},
    {"400", {HTTPD_REPLY, STATUS_REPLY("400 Bad", "")}, HTTPC_REJECTED, 400, -1, "HTTP 400", 0},
    {"401",
     {HTTPD_REPLY, STATUS_REPLY("401 No", "WWW-Authenticate: Basic\r\n")},
     HTTPC_REJECTED,
     401,
     -1,
     "HTTP 401",
     0},
    {"404", {HTTPD_REPLY, STATUS_REPLY("404 No", "")}, HTTPC_REJECTED, 404, -1, "HTTP 404", 0},
    {"500", {HTTPD_REPLY, STATUS_REPLY("500 No", "")}, HTTPC_AMBIGUOUS, 500, -1, "HTTP 500", 0},
    {"502, a page",
     {HTTPD_REPLY, "HTTP/1.1 502 Bad\r\nContent-Length: 15\r\n\r\n<html>no</html>"},
     HTTPC_AMBIGUOUS,
     502,
     -1,
     "HTTP 502",
     0},
    {"503",
     {HTTPD_REPLY, STATUS_REPLY("503 No", "Retry-After: 3\r\n")},
     HTTPC_AMBIGUOUS,
     503,
     3000,
     "HTTP 503",
     0},
    {"504", {HTTPD_REPLY, STATUS_REPLY("504 No", "")}, HTTPC_AMBIGUOUS, 504, -1, "HTTP 504", 0},
    {"redirect to http:",
     {HTTPD_REPLY, STATUS_REPLY("302 There", "Location: http://127.0.0.1:1/\r\n")},
     HTTPC_REJECTED,
     302,
     -1,
     "redirects are not followed",
     0},
    {"redirect to file:",
     {HTTPD_REPLY, STATUS_REPLY("307 There", "Location: file:///etc/passwd\r\n")},
     HTTPC_REJECTED,
     307,
     -1,
     "redirects are not followed",
     0},
    {"closed without a response", {HTTPD_CLOSE, NULL}, HTTPC_AMBIGUOUS, 0, -1, "", 0},
    {"reset without a response", {HTTPD_RESET, NULL}, HTTPC_AMBIGUOUS, 0, -1, "", 0},
    {"a truncated response",
     {HTTPD_REPLY_CLOSE, "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nhi"},
     HTTPC_AMBIGUOUS,
     200,
     -1,
     "",
     0},
    {"a truncated refusal",
     {HTTPD_REPLY_CLOSE, "HTTP/1.1 403 No\r\nContent-Length: 99\r\n\r\nhi"},
     HTTPC_REJECTED,
     403,
     -1,
     "",
     0},
    {"a response that is not HTTP",
     {HTTPD_REPLY_CLOSE, "SSH-2.0 hello\r\n\r\n"},
     HTTPC_AMBIGUOUS,
     0,
     -1,
     "",
     0},
    {"9 MiB",
     {HTTPD_FLOOD, "HTTP/1.1 200 OK\r\n\r\n"},
     HTTPC_AMBIGUOUS,
     200,
     -1,
     "the response exceeds 8388608 bytes",
     0},
    {"9 MiB, announced",
     {HTTPD_FLOOD, "HTTP/1.1 200 OK\r\nContent-Length: 9437184\r\n\r\n"},
     HTTPC_AMBIGUOUS,
     200,
     -1,
     "the response exceeds 8388608 bytes",
     0},
    {"9 MiB of headers",
     {HTTPD_FLOOD, "HTTP/1.1 200 OK\r\nX: "},
     HTTPC_AMBIGUOUS,
     UNKNOWN,
     -1,
     "",
     0},
    {"no response in time", {HTTPD_SILENT, NULL}, HTTPC_AMBIGUOUS, 0, -1, "", 300},
    {"single bytes of a body",
     {HTTPD_DRIP, "HTTP/1.1 200 OK\r\nContent-Length: 999999\r\n\r\n"},
     HTTPC_AMBIGUOUS,
     200,
     -1,
     "",
     300},
    {"single bytes of a header",
     {HTTPD_DRIP, "HTTP/1.1 200 OK\r\nX: "},
     HTTPC_AMBIGUOUS,
     UNKNOWN,
     -1,
     "",
     300},
};

static void test_fault(size_t i)
{
    struct got g = {0};
    const char *const name = faults[i].name;
    struct httpd *const server = httpd_start(&faults[i].step, 1);
    struct httpc_request r = post_of(url_of(server, PATH), "{}");
    r.timeout_ms = faults[i].timeout_ms ? faults[i].timeout_ms : r.timeout_ms;
    run(&g, &r);
    is_int(g.calls, 1, "%s: the callback runs once", name);
    is_int(g.outcome, faults[i].outcome, "%s", name);
    if (faults[i].status != UNKNOWN)
        is_int(g.status, faults[i].status, "%s: the status", name);
    is_int(g.retry_after_ms, faults[i].retry_after_ms, "%s: the time to wait", name);
    has_str(g.error, faults[i].error, "%s: the error text", name);
    check_error(&g, name);
    is_int(httpd_requests(server), 1, "%s: the request is sent once", name);
    is_str(httpd_faults(server), "", "%s: the request is valid", name);
    httpd_stop(server);
    buf_fini(&g.body);
}

static void test_faults(void)
{
    clock_fake(0, 1795248000); /* Sat, 21 Nov 2026 08:00:00 GMT, for dates in Retry-After */
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        test_fault(i);
    clock_fake_end();
}

static void test_reset_before_body(void)
{
    static const struct httpd_step step = {HTTPD_RESET_EARLY, NULL};
    struct got g = {0};
    struct httpd *const server = httpd_start(&step, 1);
    const size_t size = 32 << 20;
    char *const body = xmalloc(size);
    memset(body, 'x', size);
    struct httpc_request r = post_of(url_of(server, PATH), "");
    r.body = (struct str){body, size};
    run(&g, &r);
    is_int(g.outcome, HTTPC_NOT_SENT,
           "a connection that is reset while the body is sent: not sent");
    check_error(&g, "reset early");
    is_int(httpd_requests(server), 1, "the client does not repeat the request by itself");
    httpd_stop(server);
    free(body);
    buf_fini(&g.body);
}

/* Returns a port on which nobody listens. */
static int find_closed_port(void)
{
    struct httpd *const server = httpd_start(NULL, 0);
    const int port = httpd_port(server);
    httpd_stop(server);
    return port;
}

static void test_not_sent(void)
{
    static const struct httpd_step steps[] = {{HTTPD_SILENT, NULL}};
    struct got g = {0};
    char url[128];
    snprintf(url, sizeof url, "http://127.0.0.1:%d" PATH, find_closed_port());
    struct httpc_request r = post_of(url, "{}");
    run(&g, &r);
    is_int(g.outcome, HTTPC_NOT_SENT, "a refused connection: not sent");
    check_error(&g, "refused");
    r = post_of("https://no-such-host.invalid" PATH, "{}");
    r.timeout_ms = 3000; /* in case the resolver is slow */
    run(&g, &r);
    is_int(g.outcome, HTTPC_NOT_SENT, "an unknown host: not sent");
    check_error(&g, "no such host");
    struct httpd *const server = httpd_start(steps, 1);
    snprintf(url, sizeof url, "https://127.0.0.1:%d" PATH, httpd_port(server));
    r = post_of(url, "{}");
    r.timeout_ms = 300;
    run(&g, &r);
    is_int(g.outcome, HTTPC_NOT_SENT, "a TLS handshake that does not end: not sent");
    check_error(&g, "handshake");
    httpd_stop(server);
    buf_fini(&g.body);
}

static void test_refusals(void)
{
    static const struct httpc_header evil_value = {"X-A", "b\r\nX-C: d"}, evil_name = {"X: y", "z"};
    static const struct {
        const char *name, *method, *url;
        const struct httpc_header *header;
        const char *content_type;
        unsigned flags;
    } rows[] = {
        {"http", "GET", "http://127.0.0.1:1" PATH, NULL, NULL, 0},
        {"http elsewhere", "GET", "http://example.org" PATH, NULL, NULL, HTTPC_LOOPBACK},
        {"http, a name that begins like a loopback address", "GET", "http://127.0.0.1.example.org/",
         NULL, NULL, HTTPC_LOOPBACK},
        {"file", "GET", "file:///PathSecret", NULL, NULL, HTTPC_LOOPBACK},
        {"ftp", "GET", "ftp://127.0.0.1/PathSecret", NULL, NULL, HTTPC_LOOPBACK},
        {"unknown", "GET", "gopherx://127.0.0.1/PathSecret", NULL, NULL, HTTPC_LOOPBACK},
        {"no URL", "GET", "", NULL, NULL, HTTPC_LOOPBACK},
        {"bad port", "GET", "https://127.0.0.1:PathSecret/", NULL, NULL, 0},
        {"password", "GET", "http://me:PathSecret@127.0.0.1/", NULL, NULL, HTTPC_LOOPBACK},
        {"a method", "GET /PathSecret", "https://127.0.0.1/", NULL, NULL, 0},
        {"header value", "GET", "https://127.0.0.1/", &evil_value, NULL, 0},
        {"header name", "GET", "https://127.0.0.1/", &evil_name, NULL, 0},
        {"content type", "GET", "https://127.0.0.1/", NULL, "a/b\nX: y", 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct got g = {0};
        const struct httpc_request r = {.method = rows[i].method,
                                        .url = rows[i].url,
                                        .headers = rows[i].header,
                                        .header_count = rows[i].header != NULL,
                                        .content_type = rows[i].content_type,
                                        .flags = rows[i].flags};
        httpc_start(http, &r, on_reply, &g);
        is_int(g.calls, 0, "%s: no callback within the call", rows[i].name);
        wait_for(&g, 1);
        ok(g.calls == 1 && g.outcome == HTTPC_REJECTED && g.status == 0, "%s: refused",
           rows[i].name);
        check_error(&g, rows[i].name);
        buf_fini(&g.body);
    }
}

static void test_request(void)
{
    static const struct httpd_step steps[] = {
        {HTTPD_REPLY, "HTTP/1.1 100 Continue\r\nRetry-After: 9\r\n\r\nHTTP/1.1 200 OK\r\n"
                      "Date: Sat, 21 Nov 2026 08:00:00 GMT\r\nContent-Length: 2\r\n\r\nhi"},
        {HTTPD_REPLY, OK_REPLY},
        {HTTPD_REPLY, OK_REPLY},
        {HTTPD_REPLY, STATUS_REPLY("200 OK", "")},
    };
    const struct httpc_header header = {"X-Empty", ""};
    struct got g = {0};
    struct httpd *const server = httpd_start(steps, 4);
    struct httpc_request r = post_of(url_of(server, "/a?b=c"), "{\"a\":1}");
    r.headers = &header;
    r.header_count = 1;
    run(&g, &r);
    ok(g.outcome == HTTPC_OK && strcmp(g.body.p, "hi") == 0, "the body of the response");
    is_int(g.date, 1795248000, "the date of the response");
    is_int(g.retry_after_ms, -1, "headers of an interim response are ignored");
    const char *const text = httpd_request(server, 0);
    has_str(text, "POST /a?b=c HTTP/1.1\r\n", "the request line");
    has_str(text, "\r\nContent-Type: application/json\r\n", "the content type");
    has_str(text, "\r\nContent-Length: 7\r\n", "the length");
    has_str(text, "\r\nX-Empty:\r\n", "headers, also empty ones");
    has_str(text, "\r\n\r\n{\"a\":1}", "the body of the request");
    r.method = "PATCH";
    run(&g, &r);
    has_str(httpd_request(server, 1), "PATCH /a?b=c HTTP/1.1\r\n", "another method is sent");
    r = (struct httpc_request){.method = "GET", .url = r.url, .flags = HTTPC_LOOPBACK};
    run(&g, &r);
    ok(!strstr(httpd_request(server, 2), "Content-"), "a GET request has no body");
    r.method = "HEAD";
    run(&g, &r);
    ok(g.outcome == HTTPC_OK && g.body.len == 0, "a HEAD request has an empty response");
    is_int(httpd_count_connections(server), 1, "four requests use one connection");
    is_str(httpd_faults(server), "", "the requests are valid");
    httpd_stop(server);
    buf_fini(&g.body);
}

/* Sends a second request over a connection that the server ends without a response. */
static void test_stale(const char *name, struct httpc_request r, enum httpd_what end,
                       enum httpc_outcome outcome, unsigned requests)
{
    const struct httpd_step steps[] = {
        {HTTPD_REPLY, OK_REPLY}, {end, NULL}, {HTTPD_REPLY, OK_REPLY}};
    struct got g = {0};
    struct httpd *const server = httpd_start(steps, 3);
    char *const url = xstrdup(url_of(server, "/"));
    const struct httpc_request first = post_of(url, "{}");
    run(&g, &first);
    r.url = url;
    run(&g, &r);
    is_int(g.outcome, outcome, "%s", name);
    is_int(httpd_requests(server), requests, "%s: requests", name);
    httpd_stop(server);
    free(url);
    buf_fini(&g.body);
}

static void test_reuse(void)
{
    struct httpc_request create = post_of(NULL, "{}"), edit = create, get = post_of(NULL, NULL);
    edit.flags |= HTTPC_IDEMPOTENT;
    get.method = "GET";
    test_stale("kept connection closed, POST", create, HTTPD_CLOSE, HTTPC_AMBIGUOUS, 2);
    test_stale("kept connection reset, POST", create, HTTPD_RESET, HTTPC_AMBIGUOUS, 2);
    test_stale("the server exits, POST", create, HTTPD_LEAVE, HTTPC_AMBIGUOUS, 2);
    test_stale("kept connection closed, idempotent POST", edit, HTTPD_CLOSE, HTTPC_OK, 3);
    test_stale("the server exits, idempotent POST", edit, HTTPD_LEAVE, HTTPC_AMBIGUOUS, 2);
    test_stale("kept connection closed, GET", get, HTTPD_CLOSE, HTTPC_OK, 3);
    test_stale("kept connection closed, POST without a body", post_of(NULL, NULL), HTTPD_CLOSE,
               HTTPC_AMBIGUOUS, 2);
}

static void test_stall(void)
{
    static const struct httpd_step steps[] = {{HTTPD_SILENT, NULL}, {HTTPD_SILENT, NULL}};
    const struct httpc_options impatient = {.stall_s = 1};
    struct httpc *const usual = http;
    struct got g = {0};
    struct httpd *const server = httpd_start(steps, 2);
    http = httpc_new(loop, &impatient);
    struct httpc_request r = post_of(url_of(server, "/"), "{}");
    run(&g, &r);
    is_int(g.outcome, HTTPC_AMBIGUOUS, "a silent server ends the request before its deadline");
    has_str(g.error, "too slow", "the error text names the reason");
    r.flags |= HTTPC_LONG_POLL;
    r.timeout_ms = 4000;
    run(&g, &r);
    has_str(g.error, "timed out", "a long poll waits until its deadline");
    httpc_free(http);
    httpd_stop(server);
    http = usual;
    buf_fini(&g.body);
}

/* Runs the loop until the server has received this number of requests. */
static void wait_for_server(struct httpd *server, unsigned requests)
{
    for (int rounds = 0; httpd_requests(server) < requests && rounds < 2000; rounds++)
        loop_run_once(loop, 10);
}

static unsigned count_inheritable_sockets(void)
{
    unsigned count = 0;
    for (int fd = 3; fd < 256; fd++) {
        struct sockaddr_storage a;
        socklen_t len = sizeof a;
        if (getpeername(fd, (struct sockaddr *)&a, &len) == 0 && a.ss_family == AF_INET)
            count += !(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    }
    return count;
}

static void test_cancel(void)
{
    static const struct httpd_step steps[] = {{HTTPD_SILENT, NULL}, {HTTPD_SILENT, NULL}};
    struct httpc *const usual = http;
    struct got sent = {0}, unsent = {0}, freed = {0}, refused = {0};
    struct httpd *const server = httpd_start(steps, 2);
    const struct httpc_request r = post_of(url_of(server, PATH), "{}");
    const struct httpc_request bad = {.method = "GET", .url = "ftp://x/"};
    http = httpc_new(loop, NULL);
    httpc_cancel(httpc_start(http, &r, on_reply, &unsent));
    ok(unsent.calls == 1 && unsent.outcome == HTTPC_NOT_SENT,
       "a request that is cancelled before it is sent: not sent");
    is_str(unsent.error, "cancelled", "the error text says that the request was cancelled");
    struct httpc_transfer *const call = httpc_start(http, &r, on_reply, &sent);
    wait_for_server(server, 1);
    is_int(count_inheritable_sockets(), 0, "child processes inherit no connection");
    httpc_cancel(call);
    ok(sent.calls == 1 && sent.outcome == HTTPC_AMBIGUOUS,
       "a request that is cancelled after it was sent: ambiguous");
    httpc_start(http, &r, on_reply, &freed);
    wait_for_server(server, 2);
    httpc_start(http, &bad, on_reply, &refused);
    httpc_free(http);
    ok(freed.calls == 1 && freed.outcome == HTTPC_AMBIGUOUS,
       "a client that is freed during a request ends it as ambiguous");
    ok(refused.calls == 1 && refused.outcome == HTTPC_REJECTED,
       "a client that is freed during a refused request ends it as refused");
    http = usual;
    httpd_stop(server);
    buf_fini(&sent.body);
    buf_fini(&unsent.body);
    buf_fini(&freed.body);
    buf_fini(&refused.body);
}

static void test_many(void)
{
    enum { MANY = 40 };
    struct httpd_step steps[MANY];
    struct got g = {0};
    for (int i = 0; i < MANY; i++)
        steps[i] = (struct httpd_step){HTTPD_REPLY, OK_REPLY};
    struct httpd *const server = httpd_start(steps, MANY);
    const struct httpc_request r = post_of(url_of(server, "/"), "{}");
    for (int i = 0; i < MANY; i++)
        httpc_start(http, &r, on_reply, &g);
    wait_for(&g, MANY);
    is_int(g.calls, MANY, "forty requests at the same time get their responses");
    is_str(httpd_faults(server), "", "the requests are valid");
    httpd_stop(server);
    buf_fini(&g.body);
}

static bool is_mapped(const char *name)
{
    char line[512];
    bool found = false;
    FILE *const f = fopen("/proc/self/maps", "r");
    while (f && fgets(line, sizeof line, f))
        found = found || strstr(line, name);
    if (f)
        fclose(f);
    return found;
}

int main(void)
{
    plan_lazy();
    setenv("http_proxy", "http://127.0.0.1:1", 1);
    setenv("https_proxy", "http://127.0.0.1:1", 1);
    setenv("all_proxy", "http://127.0.0.1:1", 1);
    loop = loop_new();
    http = httpc_new(loop, NULL);
    ok(!is_mapped("libcurl"), "libcurl is not loaded before the first request");
    test_request();
    ok(is_mapped("libcurl"), "the first request loads libcurl");
    test_faults();
    test_reset_before_body();
    test_not_sent();
    test_refusals();
    test_reuse();
    test_stall();
    test_cancel();
    test_many();
    httpc_free(http);
    loop_free(loop);
    return 0;
}
