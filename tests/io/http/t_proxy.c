/* SPDX-License-Identifier: MIT
 * Tests of HTTP and WebSocket connections through a proxy: what the proxy is told, which secrets it
 * does not get, and which hosts are exempt. */
#include "io/http/proxy.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/sys/clock.h"
#include "fake/httpd.h"
#include "io/http/client/httpc.h"
#include "io/websocket/websocket.h"
#include "io/script_server.h"
#include "tap/tap.h"

#define DEADLINE_MS 30000
#define OK_REPLY "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"
#define SECRET_PATH "/bot1:PathSecret/send"

static struct loop *loop;

/* ---- requests ---- */

struct got {
    bool done;
    enum httpc_outcome outcome;
    int status;
    int64_t retry_after_ms;
    char body[64], error[512];
};

static void on_reply(void *arg, const struct httpc_reply *r)
{
    struct got *const g = arg;
    g->done = true;
    g->outcome = r->outcome;
    g->status = r->status;
    g->retry_after_ms = r->retry_after_ms;
    snprintf(g->body, sizeof g->body, "%.*s", (int)r->body.len, r->body.p);
    snprintf(g->error, sizeof g->error, "%s", r->error);
}

/* Sends a POST request to a service on this machine, addressed by the host name. */
static struct got post(const struct proxy *proxy, const char *host, int port)
{
    struct httpc *const http = httpc_new(loop, &(struct httpc_options){.proxy = *proxy});
    struct got g = {0};
    char url[256];
    snprintf(url, sizeof url, "http://%s:%d" SECRET_PATH, host, port);
    httpc_start(http,
                &(struct httpc_request){.method = "POST",
                                        .url = url,
                                        .body = STR("{}"),
                                        .content_type = "application/json",
                                        .flags = HTTPC_LOOPBACK},
                on_reply, &g);
    const int64_t until = clock_mono_ms() + DEADLINE_MS;
    while (!g.done && clock_mono_ms() < until)
        loop_run_once(loop, 1000);
    httpc_free(http);
    return g;
}

static const char *url_of(const char *scheme, const struct script_server *s)
{
    static char url[64];
    snprintf(url, sizeof url, "%s://127.0.0.1:%d", scheme, s->port);
    return url;
}

static void test_http(struct script_server *proxyd)
{
    static const char *const schemes[][2] = {
        {"http", "connect"}, {"socks5", "socks"}, {"socks5h", "socks"}};
    static const struct httpd_step steps[] = {{HTTPD_REPLY, OK_REPLY},
                                              {HTTPD_REPLY, OK_REPLY},
                                              {HTTPD_REPLY, OK_REPLY},
                                              {HTTPD_REPLY, OK_REPLY},
                                              {HTTPD_REPLY, OK_REPLY}};
    struct httpd *const service = httpd_start(steps, 5);
    char wanted[128];
    for (size_t i = 0; i < 3; i++) {
        const struct got g = post(
            &(struct proxy){.url = url_of(schemes[i][0], proxyd), .credentials = "ann:se:cret%41"},
            "127.0.0.1", httpd_port(service));
        is_int(g.outcome, HTTPC_OK, "%s: the request succeeds", schemes[i][0]);
        is_str(g.body, "hi", "%s: the response is that of the service", schemes[i][0]);
        snprintf(wanted, sizeof wanted, "%s 127.0.0.1:%d ann:se:cret%%41", schemes[i][1],
                 httpd_port(service));
        ok(script_server_has_said(proxyd, loop, wanted),
           "%s: the proxy gets the address and the credentials", schemes[i][0]);
    }
    is_int(httpd_requests(service), 3, "the service gets three requests");
    ok(!strstr(httpd_request(service, 0), "Proxy-"), "the service does not get the credentials");
    ok(!strstr(proxyd->said.p, "Secret") && !strstr(proxyd->said.p, "fault"),
       "the proxy does not get the URL");
    const size_t before = proxyd->said.len;
    is_int(post(&(struct proxy){.url = url_of("http", proxyd), .no_proxy = "localhost,127.0.0.1"},
                "127.0.0.1", httpd_port(service))
               .outcome,
           HTTPC_OK, "an exempt host is reached");
    is_int(post(&(struct proxy){0}, "127.0.0.1", httpd_port(service)).outcome, HTTPC_OK,
           "without a proxy the host is reached, although the environment names a proxy");
    script_server_read(proxyd);
    is_int(proxyd->said.len, before, "the proxy gets no connection");
    is_str(httpd_faults(service), "", "the requests are valid");
    httpd_stop(service);
}

static void test_refusal(struct script_server *proxyd)
{
    struct httpc *const http =
        httpc_new(loop, &(struct httpc_options){.proxy = {.url = url_of("http", proxyd)}});
    struct got g = {0};
    httpc_start(http, &(struct httpc_request){.method = "GET", .url = "https://refused.test/x"},
                on_reply, &g);
    const int64_t until = clock_mono_ms() + DEADLINE_MS;
    while (!g.done && clock_mono_ms() < until)
        loop_run_once(loop, 1000);
    is_int(g.outcome, HTTPC_NOT_SENT, "a refusal by the proxy: not sent");
    is_int(g.status, 0, "the status of the proxy is not reported as that of the service");
    is_int(g.retry_after_ms, -1, "Retry-After of the proxy is ignored");
    is_str(g.error, "the proxy refused the connection: HTTP 403",
           "the error text names the refusal");
    httpc_free(http);
    const struct got away = post(&(struct proxy){.url = "http://127.0.0.1:1"}, "127.0.0.1", 1);
    is_int(away.outcome, HTTPC_NOT_SENT, "an unreachable proxy: not sent");
}

/* ---- websockets ---- */

struct events {
    unsigned opens, closes;
    char why[256];
};

static void on_event(void *arg, enum websocket_event event, struct str text)
{
    struct events *const h = arg;
    h->opens += event == WEBSOCKET_OPEN;
    h->closes += event == WEBSOCKET_CLOSED;
    if (event == WEBSOCKET_CLOSED)
        snprintf(h->why, sizeof h->why, "%.*s", (int)text.len, text.p);
}

static struct events connect_to(const struct proxy *proxy, const char *host, int port,
                                struct tc_err *err)
{
    struct websocket_client *const w = websocket_new(
        loop, &(struct websocket_options){.connect_timeout_ms = 30000, .proxy = *proxy});
    struct events h = {0};
    char url[256];
    snprintf(url, sizeof url, "ws://%s:%d/echo?ticket=TicketSecret", host, port);
    struct websocket_conn *const c =
        websocket_open(w, &(struct websocket_spec){.url = url}, on_event, &h, err);
    const int64_t until = clock_mono_ms() + DEADLINE_MS;
    while (c && !h.opens && !h.closes && clock_mono_ms() < until)
        loop_run_once(loop, 1000);
    if (h.opens)
        websocket_close(c);
    while (c && !h.closes && clock_mono_ms() < until)
        loop_run_once(loop, 1000);
    websocket_free(w);
    return h;
}

static void test_websocket(struct script_server *proxyd)
{
    struct script_server service = script_server_start("fake/websocketd.py", NULL, NULL);
    struct tc_err err = {0};
    char wanted[128];
    struct events h =
        connect_to(&(struct proxy){.url = url_of("http", proxyd), .credentials = "bob:s3cret"},
                   "127.0.0.1", service.port, &err);
    is_int(h.opens, 1, "a WebSocket opens (%s)", h.why);
    snprintf(wanted, sizeof wanted, "connect 127.0.0.1:%d bob:s3cret", service.port);
    ok(script_server_has_said(proxyd, loop, wanted),
       "the proxy gets the address and the credentials");
    ok(!strstr(proxyd->said.p, "TicketSecret"), "the proxy does not get the URL");
    const size_t before = proxyd->said.len;
    h = connect_to(&(struct proxy){.url = url_of("http", proxyd), .no_proxy = "127.0.0.1"},
                   "127.0.0.1", service.port, &err);
    is_int(h.opens, 1, "an exempt host is reached");
    h = connect_to(&(struct proxy){.url = url_of("socks5", proxyd), .no_proxy = "127.0.0.1"},
                   "127.0.0.1", service.port, &err);
    is_int(h.opens, 1, "an exempt host is reached with a proxy of another kind");
    script_server_read(proxyd);
    is_int(proxyd->said.len, before, "the proxy gets no connection");
    h = connect_to(&(struct proxy){.url = url_of("socks5", proxyd)}, "127.0.0.1", service.port,
                   &err);
    ok(h.opens == 0 && strstr(err_format(&err), "set proxy.url to an http: proxy"),
       "no WebSocket opens through a proxy of another kind, and the error names the reason");
    script_server_stop(&service);
}

/* ---- exempt hosts ---- */

static void test_exempt(void)
{
    static const struct {
        const char *list, *host;
        bool is_exempt;
    } rows[] = {
        {"example.org", "example.org", true},
        {"example.org", "EXAMPLE.org", true},
        {"example.org", "a.example.org", true},
        {".example.org", "a.example.org", true},
        {".example.org", "example.org", true},
        {"example.org", "badexample.org", false},
        {"example.org", "example.org.x", false},
        {"a.b,c.d", "c.d", true},
        {"a.b, c.d", "x.c.d", true},
        {"*", "any.thing", true},
        {"127.0.0.1", "127.0.0.1", true},
        {"127.0.0.1", "127.0.0.11", false},
        {"::1", "::1", true},
        {"", "a", false},
        {NULL, "a", false},
        {",,.,", "a", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        ok(proxy_is_exempt(rows[i].list, rows[i].host) == rows[i].is_exempt, "\"%s\": %s",
           rows[i].list ? rows[i].list : "none", rows[i].host);
}

int main(void)
{
    plan_lazy();
    setenv("http_proxy", "http://127.0.0.1:1", 1);
    setenv("https_proxy", "http://127.0.0.1:1", 1);
    setenv("all_proxy", "http://127.0.0.1:1", 1);
    setenv("no_proxy", "*", 1);
    loop = loop_new();
    struct script_server proxyd = script_server_start("fake/proxyd.py", NULL, NULL);
    test_exempt();
    test_http(&proxyd);
    test_refusal(&proxyd);
    test_websocket(&proxyd);
    script_server_stop(&proxyd);
    loop_free(loop);
    return 0;
}
