/* SPDX-License-Identifier: MIT
 * Tests of the HTTP server with a client that sends raw bytes: permitted callers, the order of
 * responses, and protection against request smuggling. */
#include "io/http/server/httpd.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/bytes/buf.h"
#include "io/httpd_client.h"
#include "base/sys/clock.h"
#include "tap/tap.h"

#define HOST "Host: localhost\r\n"
#define GET(path) "GET " path " HTTP/1.1\r\n" HOST "\r\n"
#define POST "POST /p HTTP/1.1\r\n" HOST
#define SMUGGLED GET("/smuggled")

static struct loop *loop;
static struct httpd *server;
static struct httpd_request *held; /* set by on_held */
static unsigned smuggled;

/* Sends the bytes over a connection of their own. Returns the response, valid until the next call.
 * */
static const char *get_response(const char *bytes)
{
    static char answer[4096];
    struct client c = client_connect(loop, server);
    client_send(&c, bytes, strlen(bytes));
    client_await(&c, 1);
    snprintf(answer, sizeof answer, "%s", c.in.p);
    client_hang_up(&c);
    return answer;
}

static void is_status(const char *bytes, int status, const char *what)
{
    is_int(strtol(get_response(bytes) + strlen("HTTP/1.1 "), NULL, 10), status, "%s: %d", what,
           status);
}

/* ---- handlers ---- */

static void on_echo(void *arg, struct httpd_request *r)
{
    CLEANUP_BUF struct buf body = {0};
    const char *const type = httpd_find_header(r, "content-type");
    buf_printf(&body, "%s|%s|%s|%s|%s|%s|%s\n", (const char *)arg, r->method, r->path, r->query,
               type ? type : "-", r->body.p, r->peer);
    httpd_answer(r, 200, "text/x-echo", (struct str){body.p, body.len});
}

static void on_smuggled(void *arg, struct httpd_request *r)
{
    (void)arg;
    smuggled++;
    httpd_answer(r, 200, NULL, STR("smuggled\n"));
}

static void on_held(void *arg, struct httpd_request *r)
{
    (void)arg;
    held = r;
}

static void on_rude(void *arg, struct httpd_request *r)
{
    (void)arg;
    httpd_answer(r, 42, "text/html\r\nX-Injected: yes", STR("rude\n"));
}

static void on_big(void *arg, struct httpd_request *r)
{
    (void)arg;
    static char big[16 << 20];
    memset(big, 'x', sizeof big);
    httpd_answer(r, 200, NULL, (struct str){big, sizeof big});
}

static void begin(const struct httpd_options *options)
{
    struct tc_err err = {0};
    server = httpd_new(loop, options, &err);
    if (!server)
        bail("no server: %s", err_format(&err));
    static char exact[] = "exact", below[] = "below", deeper[] = "deeper";
    httpd_route(server, "/a", HTTPD_GET | HTTPD_POST, on_echo, exact);
    httpd_route(server, "/a/", HTTPD_ANY, on_echo, below);
    httpd_route(server, "/a/b/", HTTPD_ANY, on_echo, deeper);
    httpd_route(server, "/p", HTTPD_ANY, on_echo, exact);
    httpd_route(server, "/smuggled", HTTPD_ANY, on_smuggled, NULL);
    httpd_route(server, "/held", HTTPD_ANY, on_held, NULL);
    httpd_route(server, "/rude", HTTPD_ANY, on_rude, NULL);
    httpd_route(server, "/big", HTTPD_ANY, on_big, NULL);
}

static void end(void)
{
    httpd_free(server);
    server = NULL;
}

/* ---- tests ---- */

static void test_routes(void)
{
    begin(&(struct httpd_options){0});
    has_str(get_response(GET("/a?x=%20y")), "exact|GET|/a|x=%20y|-||127.0.0.1\n",
            "the handler gets the request unchanged");
    has_str(get_response(GET("/a/c")), "below|GET|/a/c|", "a path below a route");
    has_str(get_response(GET("/a/b/c")), "deeper|GET|/a/b/c|",
            "the longest matching route gets the request");
    has_str(get_response("POST /a HTTP/1.1\r\n" HOST
                         "Content-Type: x/y\r\nContent-Length: 2\r\n\r\nhi"),
            "exact|POST|/a||x/y|hi|", "a body");
    has_str(get_response("POST /a HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n"
                         "1\r\nh\r\n1\r\ni\r\n0\r\n\r\n"),
            "|hi|", "a chunked body");
    is_status(GET("/"), 404, "an unknown path");
    is_status(GET("/ab"), 404, "a path that only begins like a route");
    is_status("DELETE /a HTTP/1.1\r\n" HOST "\r\n", 405, "a method that the route does not allow");
    has_str(get_response("DELETE /a HTTP/1.1\r\n" HOST "\r\n"), "\r\nAllow: GET, HEAD, POST\r\n",
            "the response lists the allowed methods");
    const char *const head = get_response("HEAD /a HTTP/1.1\r\n" HOST "\r\n");
    ok(strstr(head, "Content-Length: 28\r\n") && !strstr(head, "exact"),
       "a response to HEAD has no body");
    const char *const lost = get_response("HEAD / HTTP/1.1\r\n" HOST "\r\n");
    ok(strstr(lost, "404") && !strstr(lost, "Not Found\n"),
       "a response to HEAD of an unknown path has no body");
    has_str(get_response(GET("/a")), "\r\nX-Content-Type-Options: nosniff\r\n",
            "the header nosniff");
    const char *const rude = get_response(GET("/rude"));
    ok(strncmp(rude, "HTTP/1.1 500 ", 13) == 0 && !strstr(rude, "X-Injected"),
       "a handler cannot add headers");
    static char root[] = "root";
    httpd_route(server, "/", HTTPD_GET | HTTPD_EXACT, on_echo, root);
    is_status(GET("/"), 200, "an exact route of a path that ends with a slash");
    is_status("POST /b HTTP/1.1\r\n" HOST "\r\n", 404,
              "the exact route does not match a path below it");
    httpd_unroute(server, "/a");
    is_status(GET("/a"), 404, "a route that was removed");
    end();
}

static void test_callers(void)
{
    const char *const hosts[] = {"turncast.example"}, *const origins[] = {"https://ok.example"};
    begin(&(struct httpd_options){
        .hosts = hosts, .host_count = 1, .origins = origins, .origin_count = 1});
    is_status("GET /a HTTP/1.1\r\nHost: Turncast.Example:80\r\n\r\n", 200, "a listed host");
    is_status("GET /a HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n", 200, "the address");
    is_status("GET /a HTTP/1.1\r\nHost: [::1]:8080\r\n\r\n", 200, "the other loopback address");
    is_status("GET /a HTTP/1.1\r\nHost: evil.example\r\n\r\n", 421, "another host");
    is_status("GET /a HTTP/1.1\r\nHost: localhost.evil.example\r\n\r\n", 421,
              "a host name that begins like a permitted one");
    is_status("GET /a HTTP/1.1\r\nHost: [::1\r\n\r\n", 421, "an incomplete IPv6 address");
    is_status("GET /a HTTP/1.1\r\n" HOST "Origin: https://ok.example\r\n\r\n", 200,
              "a listed origin");
    is_status("GET /a HTTP/1.1\r\n" HOST "Origin: https://evil.example\r\n\r\n", 403,
              "another origin");
    is_status("GET /a HTTP/1.1\r\n" HOST "Origin: null\r\n\r\n", 403, "the origin null");
    is_status("GET /a HTTP/1.1\r\n" HOST "Origin: https://ok.example\r\norigin: x\r\n\r\n", 403,
              "a permitted and another origin");
    httpd_set_allowed_names(server, origins, 0, hosts, 1);
    is_status("GET /a HTTP/1.1\r\nHost: turncast.example\r\n\r\n", 421,
              "a host that is no longer listed");
    is_status("GET /a HTTP/1.1\r\n" HOST "Origin: turncast.example\r\n\r\n", 200,
              "an origin that was added");
    end();
}

/* Each probe is sent with another request after it. */
static const struct {
    const char *name, *bytes;
    size_t len; /* 0: the length of the string */
    int status;
} probes[] = {
    {"TE + CL", POST "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 0, 400},
    {"CL + TE", POST "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n", 0, 400},
    {"two CL", POST "Content-Length: 0\r\nContent-Length: 50\r\n\r\n", 0, 400},
    {"CL +3", POST "Content-Length: +3\r\n\r\nabc", 0, 400},
    {"CL 3, 3", POST "Content-Length: 3, 3\r\n\r\nabc", 0, 400},
    {"TE xchunked", POST "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", 0, 501},
    {"bad chunk size", POST "Transfer-Encoding: chunked\r\n\r\nzz\r\n\r\n0\r\n\r\n", 0, 400},
    {"no Host", "GET /p HTTP/1.1\r\n\r\n", 0, 400},
    {"two Host", "GET /p HTTP/1.1\r\n" HOST HOST "\r\n", 0, 400},
    {"space before colon", POST "Content-Length : 3\r\n\r\nabc", 0, 400},
    {"obs-fold", POST "X: a\r\n b\r\n\r\n", 0, 400},
    {"bare LF", "GET /p HTTP/1.1\nHost: localhost\n\n", 0, 400},
    {"bare LF in the head", POST "X: a\nContent-Length: 50\r\n\r\n", 0, 400},
    {"NUL in header", POST "X: \0\r\n\r\n", sizeof POST "X: \0\r\n\r\n" - 1, 400},
    {"absolute URI", "GET http://localhost/p HTTP/1.1\r\n" HOST "\r\n", 0, 400},
    {"unknown method", "BREW /p HTTP/1.1\r\n" HOST "\r\n", 0, 501},
    {"HTTP/2", "GET /p HTTP/2.0\r\n" HOST "\r\n", 0, 505},
    {"trailer", POST "Transfer-Encoding: chunked\r\n\r\n0\r\nX: y\r\n\r\n", 0, 400},
};

static void is_refused(const char *name, const struct client *c, int status)
{
    is_int(c->in.len ? strtol(c->in.p + 9, NULL, 10) : 0, status, "%s: %d", name, status);
    ok(c->closed && client_count_answers(c) == 1 && strstr(c->in.p, "\r\nConnection: close\r\n"),
       "%s: the connection is closed", name);
}

/* Sends each probe at once, byte by byte, and after a valid request. */
static void test_probes(void)
{
    begin(&(struct httpd_options){0});
    smuggled = 0;
    for (size_t i = 0; i < sizeof probes / sizeof *probes; i++) {
        const size_t len = probes[i].len ? probes[i].len : strlen(probes[i].bytes);
        CLEANUP_BUF struct buf bytes = {0};
        buf_add(&bytes, probes[i].bytes, len);
        buf_add_str(&bytes, SMUGGLED);
        struct client c = client_connect(loop, server);
        client_send(&c, bytes.p, bytes.len);
        client_await_end(&c);
        is_refused(probes[i].name, &c, probes[i].status);
        client_hang_up(&c);

        struct client slow = client_connect(loop, server);
        for (size_t at = 0; at < bytes.len; at++) {
            client_send(&slow, bytes.p + at, 1);
            loop_run_once(loop, 0);
        }
        client_await_end(&slow);
        is_refused(probes[i].name, &slow, probes[i].status);
        client_hang_up(&slow);

        struct client second = client_connect(loop, server);
        client_send(&second, GET("/a"), strlen(GET("/a")));
        client_send(&second, bytes.p, bytes.len);
        client_await_end(&second);
        ok(client_count_answers(&second) == 2 && strstr(second.in.p, "exact|GET|/a") &&
               second.closed,
           "%s: after a valid request", probes[i].name);
        client_hang_up(&second);
    }
    is_int(smuggled, 0, "no request was smuggled");
    is_status(SMUGGLED, 200, "the smuggled request is valid by itself");
    is_int(smuggled, 1, "the handler counts the request");
    end();
}

static void test_sizes(void)
{
    begin(&(struct httpd_options){0});
    CLEANUP_BUF struct buf head = {0}, target = {0};
    buf_add_str(&head, "GET /a HTTP/1.1\r\n" HOST "X: ");
    buf_add_str(&target, "GET /");
    for (int i = 0; i < 64 << 10; i++) {
        buf_add_char(&head, 'x');
        buf_add_char(&target, 'x');
    }
    buf_add_str(&head, "\r\n\r\n");
    buf_add_str(&target, " HTTP/1.1\r\n" HOST "\r\n");
    is_status(head.p, 431, "a header of 64 KiB is refused");
    is_status(target.p, 414, "a target of 64 KiB is refused");
    is_status(POST "Content-Length: 9999999\r\n\r\n", 413, "a body above the limit is refused");
    is_status(POST "Transfer-Encoding: chunked\r\n\r\n999999\r\n", 413,
              "a chunk above the limit is refused");
    CLEANUP_BUF struct buf body = {0};
    buf_printf(&body, POST "Content-Length: %d\r\n\r\n", HTTPD_MAX_BODY);
    for (int i = 0; i < HTTPD_MAX_BODY; i++)
        buf_add_char(&body, 'y');
    struct client c = client_connect(loop, server);
    client_send(&c, body.p, body.len);
    for (int rounds = 0; rounds < 2000 && c.in.len < HTTPD_MAX_BODY; rounds++) {
        loop_run_once(loop, 5);
        client_read(&c);
    }
    ok(c.in.len > HTTPD_MAX_BODY && !c.closed,
       "a body of the largest size is received and returned");
    client_hang_up(&c);
    end();
}

static void test_keep_alive(void)
{
    begin(&(struct httpd_options){0});
    struct client c = client_connect(loop, server);
    static const char three[] = GET("/a?1") POST "Content-Length: 3\r\n\r\nabc" GET("/a?3");
    client_send(&c, three, sizeof three - 1);
    client_await(&c, 3);
    const char *const one = strstr(c.in.p, "/a|1"), *const two = strstr(c.in.p, "|abc|"),
                      *const last = strstr(c.in.p, "/a|3");
    ok(one && two && last && one < two && two < last && !c.closed,
       "three requests sent at once are answered in order");
    client_send(&c, GET("/held"), strlen(GET("/held")));
    client_send(&c, GET("/a?5"), strlen(GET("/a?5")));
    for (int i = 0; i < 2000 && !held; i++)
        loop_run_once(loop, 5);
    for (int i = 0; i < 5; i++)
        loop_run_once(loop, 1);
    client_read(&c);
    ok(held && client_count_answers(&c) == 3,
       "the next request waits until the previous one is answered");
    httpd_answer(held, 202, NULL, STR("later\n"));
    held = NULL;
    client_await(&c, 5);
    ok(strstr(c.in.p, "later\nHTTP/1.1 200 OK"), "the next response follows");
    static const char bye[] = "GET /a HTTP/1.1\r\n" HOST "Connection: close\r\n\r\n" SMUGGLED;
    client_send(&c, bye, sizeof bye - 1);
    client_await_end(&c);
    ok(client_count_answers(&c) == 6 && c.closed,
       "the server closes the connection after a request with Connection: close");
    client_hang_up(&c);
    struct client old = client_connect(loop, server);
    client_send(&old, "GET /a HTTP/1.0\r\n" HOST "\r\n", strlen("GET /a HTTP/1.0\r\n" HOST "\r\n"));
    client_await_end(&old);
    ok(client_count_answers(&old) == 1 && old.closed,
       "the server closes the connection after a request of HTTP/1.0");
    client_hang_up(&old);
    struct client polite = client_connect(loop, server);
    static const char expects[] = POST "Content-Length: 2\r\nExpect: 100-continue\r\n\r\n";
    client_send(&polite, expects, sizeof expects - 1);
    client_await(&polite, 1);
    is_str(polite.in.p, "HTTP/1.1 100 Continue\r\n\r\n", "the server asks the client to continue");
    client_send(&polite, "hi", 2);
    client_await(&polite, 2);
    has_str(polite.in.p, "|hi|", "the body that follows is received");
    client_hang_up(&polite);
    end();
}

static void send_held_request(struct client *c)
{
    held = NULL;
    *c = client_connect(loop, server);
    client_send(c, GET("/held"), strlen(GET("/held")));
    for (int i = 0; i < 2000 && !held; i++)
        loop_run_once(loop, 5);
    if (!held)
        bail("no request arrived");
}

static void test_gone(void)
{
    struct client c;
    begin(&(struct httpd_options){.deadline_ms = 30});
    send_held_request(&c);
    ok(!held->gone, "the client of a new request is connected");
    client_await_end(&c);
    is_refused("the deadline has passed", &c, 503);
    has_str(c.in.p, "\"code\":\"answer_timeout\"", "the body is an error object with the reason");
    has_str(c.in.p, "within 0.03 seconds", "the error object names the limit");
    has_str(c.in.p, "\r\nRetry-After: 5\r\n", "the response says when to try again");
    ok(held->gone, "the handler sees that the client is gone");
    httpd_answer(held, 200, NULL, STR("too late\n"));
    client_hang_up(&c);
    send_held_request(&c);
    httpd_extend_deadline(held, 60);
    const int64_t begun = clock_mono_ms();
    client_await_end(&c);
    is_refused("an extended deadline has passed", &c, 504);
    ok(clock_mono_ms() - begun >= 50, "the extension lasts as long as the handler has requested");
    has_str(c.in.p, "within 0.06 seconds", "the error object names the extended limit");
    httpd_extend_deadline(held, 60);
    httpd_answer(held, 200, NULL, STR("too late\n"));
    client_hang_up(&c);
    end();

    begin(&(struct httpd_options){0});
    send_held_request(&c);
    client_hang_up(&c);
    for (int i = 0; i < 2000 && !held->gone; i++)
        loop_run_once(loop, 5);
    ok(held->gone, "the handler sees that the client has closed the connection");
    is_str(held->path, "/held", "the request of a client that is gone can still be read");
    httpd_answer(held, 200, NULL, STR("nobody\n"));
    send_held_request(&c);
    end();
    ok(held->gone, "the handler sees that the server was freed");
    httpd_answer(held, 200, NULL, STR("nobody\n"));
    client_read(&c);
    ok(c.closed, "the connection of a freed server is closed");
    close(c.fd);
    buf_fini(&c.in);
}

static void test_slow(void)
{
    begin(&(struct httpd_options){.arrival_ms = 20, .idle_ms = 1000});
    struct client loris = client_connect(loop, server);
    for (int i = 0; i < 30000 && !loris.closed; i++) {
        client_send(&loris, i ? "X" : "GET /a HTTP/1.1\r\n", i ? 1 : 17);
        loop_run_once(loop, 5);
        client_read(&loris);
    }
    has_str(loris.in.p, "HTTP/1.1 408 ", "a request that does not end in time is refused");
    has_str(loris.in.p, "\"code\":\"request_timeout\"",
            "the body is an error object with the reason");
    has_str(loris.in.p, "within 0.02 seconds", "the error object names the limit");
    client_hang_up(&loris);
    end();

    begin(&(struct httpd_options){.idle_ms = 40});
    struct client silent = client_connect(loop, server);
    client_await_end(&silent);
    ok(silent.closed && !silent.in.len, "a client that sends nothing is disconnected");
    client_hang_up(&silent);
    struct client deaf = client_connect(loop, server);
    client_send(&deaf, GET("/big"), strlen(GET("/big")));
    for (int i = 0; i < 60; i++)
        loop_run_once(loop, 5);
    client_await_end(&deaf);
    ok(deaf.closed && deaf.in.len < 16 << 20, "a client that does not read is disconnected");
    client_hang_up(&deaf);
    end();
}

static unsigned count_open_files(void)
{
    unsigned n = 0;
    DIR *const dir = opendir("/proc/self/fd");
    while (dir && readdir(dir))
        n++;
    if (dir)
        closedir(dir);
    return n;
}

int main(void)
{
    plan_lazy();
    loop = loop_new();
    test_routes();
    const unsigned before = count_open_files();
    test_callers();
    test_probes();
    test_sizes();
    test_keep_alive();
    test_gone();
    test_slow();
    is_int(count_open_files(), before, "no descriptor is left");
    loop_free(loop);
    return 0;
}
