/* SPDX-License-Identifier: MIT
 * Tests of WebSocket connections to a strict server: messages that are fragmented, too long,
 * invalid or missing; the end of each connection; and that no error text contains the ticket. */
#include "io/websocket/websocket.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/bytes/buf.h"
#include "base/sys/clock.h"
#include "io/websocket/websocket_url.h"
#include "io/script_server.h"
#include "tap/tap.h"

static struct loop *loop;
static struct websocket_client *sockets;

/* ---- a socket ---- */

struct got {
    struct websocket_conn *conn; /* NULL once closed */
    unsigned opens, texts, binaries, closes, after;
    struct buf text; /* the last text, or the last binary message */
    char why[512];
};

static void on_event(void *arg, enum websocket_event event, struct str text)
{
    struct got *const g = arg;
    g->after += g->closes > 0;
    if (event == WEBSOCKET_OPEN)
        g->opens++;
    if (event == WEBSOCKET_TEXT || event == WEBSOCKET_BINARY) {
        g->texts += event == WEBSOCKET_TEXT;
        g->binaries += event == WEBSOCKET_BINARY;
        buf_reset(&g->text);
        buf_add(&g->text, text.p, text.len);
    }
    if (event != WEBSOCKET_CLOSED)
        return;
    g->closes++;
    g->conn = NULL;
    snprintf(g->why, sizeof g->why, "%s", text.p);
}

static void open_spec(struct got *g, const struct script_server *s, struct websocket_spec spec)
{
    char url[256];
    struct tc_err err = {0};
    snprintf(url, sizeof url, "ws://localhost:%d%s", s->port, spec.url);
    spec.url = url;
    *g = (struct got){0};
    g->conn = websocket_open(sockets, &spec, on_event, g, &err);
    snprintf(g->why, sizeof g->why, "%s", g->conn ? "" : err_format(&err));
}

static void open_at(struct got *g, const char *scheme, const struct script_server *s,
                    const char *path, int64_t ping_ms, int64_t silent_ms)
{
    char url[256];
    struct tc_err err = {0};
    snprintf(url, sizeof url, "%s://localhost:%d%s?ticket=TicketSecret", scheme, s->port, path);
    *g = (struct got){0};
    g->conn = websocket_open(
        sockets, &(struct websocket_spec){.url = url, .ping_ms = ping_ms, .silent_ms = silent_ms},
        on_event, g, &err);
    if (!g->conn)
        bail("%s", err_format(&err));
}

static void await(const unsigned *count, unsigned wanted)
{
    for (int rounds = 0; *count < wanted && rounds < 4000; rounds++)
        loop_run_once(loop, 5);
}

static void end(struct got *g)
{
    if (g->conn)
        websocket_close(g->conn);
    await(&g->closes, 1);
    buf_fini(&g->text);
}

/* ---- tests ---- */

static void test_urls(void)
{
    static const struct {
        const char *url;
        const char *error; /* NULL: valid */
        const char *host, *path;
        int port;
    } cases[] = {
        {"wss://wss-primary.slack.com/link/?ticket=a", NULL, "wss-primary.slack.com",
         "/link/?ticket=a", 443},
        {"wss://a.example:8443", NULL, "a.example", "/", 8443},
        {"WSS://a.example?x", NULL, "a.example", "/?x", 443},
        {"ws://127.0.0.1:1/p", NULL, "127.0.0.1", "/p", 1},
        {"ws://[::1]:80/", NULL, "::1", "/", 80},
        {"ws://localhost/", NULL, "localhost", "/", 80},
        {"ws://a.example/Secret", "loopback", NULL, NULL, 0},
        {"ws://127.0.0.1.a.example/Secret", "loopback", NULL, NULL, 0},
        {"ws://1270.0.0.1/Secret", "loopback", NULL, NULL, 0},
        {"https://a.example/Secret", "must begin with wss:", NULL, NULL, 0},
        {"Secret", "must begin with wss:", NULL, NULL, 0},
        {"wss:///Secret", "invalid host or port", NULL, NULL, 0},
        {"wss://u:Secret@a.example/", "user name", NULL, NULL, 0},
        {"wss://a.example\\@Secret/", "invalid host or port", NULL, NULL, 0},
        {"wss://a.example:0/Secret", "invalid host or port", NULL, NULL, 0},
        {"wss://a.example:65536/Secret", "invalid host or port", NULL, NULL, 0},
        {"wss://a.example:/Secret", "invalid host or port", NULL, NULL, 0},
        {"wss://a.example:12a/Secret", "invalid host or port", NULL, NULL, 0},
        {"ws://[::1/Secret", "invalid host or port", NULL, NULL, 0},
        {"ws://[::1]x/Secret", "invalid host or port", NULL, NULL, 0},
        {"wss://a.example/Secret#x", "byte", NULL, NULL, 0},
        {"wss://a.example/Se cret", "byte", NULL, NULL, 0},
        {"wss://a.example/Secret\r\nX: y", "byte", NULL, NULL, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct websocket_url u;
        struct tc_err err = {0};
        const int rc = websocket_url_parse(&u, cases[i].url, &err);
        if (cases[i].error)
            ok(rc < 0 && strstr(err_format(&err), cases[i].error) &&
                   !strstr(err_format(&err), "cret"),
               "refused: %s", cases[i].url);
        else
            ok(rc == 0 && strcmp(u.host, cases[i].host) == 0 &&
                   strcmp(u.path, cases[i].path) == 0 && u.port == cases[i].port,
               "accepted: %s", cases[i].url);
    }
}

static void test_messages(struct script_server *s)
{
    struct got g, other;
    open_at(&g, "ws", s, "/echo", 0, 0);
    is_int(websocket_send(g.conn, STR("early")), -1,
           "nothing is sent before the connection is open");
    await(&g.opens, 1);
    is_int((int)g.opens, 1, "the connection is open");
    open_at(&other, "ws", s, "/echo", 0, 0);
    await(&other.opens, 1);
    for (unsigned i = 0; i < 100; i++)
        websocket_send(g.conn, STR("one of many"));
    websocket_send(other.conn, STR("w\303\266rld"));
    await(&g.texts, 100);
    await(&other.texts, 1);
    is_int((int)g.texts, 100, "a hundred texts are sent and returned");
    is_str(other.text.p, "w\303\266rld", "another connection works at the same time");
    websocket_send(g.conn, STR("last words"));
    websocket_close(g.conn);
    is_int(websocket_send(g.conn, STR("late")), -1, "nothing is sent after the close frame");
    end(&g);
    is_str(g.why, "closed", "the reason is that the client has closed the connection");
    ok(script_server_has_said(s, loop, "/echo close 1000\n"),
       "the server has received a close frame");
    is_int((int)g.texts, 100, "no message arrives after the end");
    websocket_send(other.conn, STR("still here"));
    await(&other.texts, 2);
    is_str(other.text.p, "still here", "the other connection stays open");
    end(&other);
}

static void test_frames(struct script_server *s)
{
    struct got g;
    open_at(&g, "ws", s, "/split", 0, 0);
    await(&g.texts, 1);
    is_str(g.text.p, "hello w\303\266rld",
           "a message in fragments, cut within a character, with a ping between them");
    end(&g);
    open_at(&g, "ws", s, "/big", 0, 0);
    await(&g.texts, 1);
    is_int((long long)g.text.len, WEBSOCKET_MAX_TEXT, "a message of the largest size arrives");
    is_int(websocket_send(g.conn, (struct str){g.text.p, g.text.len}), 0,
           "a message of the largest size is sent");
    await(&g.texts, 2);
    is_int((long long)g.text.len, WEBSOCKET_MAX_TEXT, "the message is returned");
    char *const more = xcalloc(1, WEBSOCKET_MAX_TEXT + 1);
    is_int(websocket_send(g.conn, (struct str){more, WEBSOCKET_MAX_TEXT + 1}), -1,
           "a message above the limit is not sent");
    free(more);
    end(&g);
}

static void test_binary(struct script_server *s)
{
    struct got g;
    open_spec(&g, s, (struct websocket_spec){.url = "/binary", .binary = true});
    await(&g.binaries, 1);
    is_mem(g.text.p, g.text.len, "\0\1", 2,
           "a binary message arrives if the caller wants binary messages");
    is_int(websocket_send_binary(g.conn, (struct str){"a\xff\0b", 4}), 0,
           "a binary message is sent");
    await(&g.binaries, 2);
    is_mem(g.text.p, g.text.len, "a\xff\0b", 4, "the binary message is returned");
    websocket_send(g.conn, STR("text"));
    await(&g.texts, 1);
    ok(g.binaries == 2 && g.texts == 1, "a text is not reported as a binary message");
    end(&g);
}

static void test_close_status(struct script_server *s)
{
    struct got g;
    open_spec(&g, s, (struct websocket_spec){.url = "/echo", .close_status = 4000});
    await(&g.opens, 1);
    end(&g);
    ok(script_server_has_said(s, loop, "/echo close 4000\n"),
       "the close frame has the configured status");
}

static void test_headers(struct script_server *s)
{
    static const struct websocket_header headers[] = {{"X-Test", "Bearer HeaderSecret"},
                                                      {"X-Empty", ""}};
    struct got g;
    open_spec(&g, s,
              (struct websocket_spec){.url = "/echo", .headers = headers, .header_count = 2});
    await(&g.opens, 1);
    ok(script_server_has_said(s, loop, "/echo x-test Bearer HeaderSecret\n"),
       "headers are sent with the request");
    end(&g);
    char *const big = xmalloc(9000);
    memset(big, 'x', 8999);
    big[8999] = '\0';
    const struct websocket_header wrong[] = {{"X-Test", "a\r\nX-Evil: 1"},
                                             {"Host", "evil"},
                                             {"sec-websocket-Key", "x"},
                                             {"X Y", "x"},
                                             {"", "x"},
                                             {"Upgrade", "x"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        open_spec(&g, s,
                  (struct websocket_spec){.url = "/echo", .headers = &wrong[i], .header_count = 1});
        ok(!g.conn && strstr(g.why, "invalid header"), "refused: header %zu", i);
    }
    const struct websocket_header huge = {"X-Test", big};
    open_spec(&g, s, (struct websocket_spec){.url = "/echo", .headers = &huge, .header_count = 1});
    await(&g.closes, 1);
    has_str(g.why, "headers of the request are too long",
            "headers that are larger than the limit of the library");
    end(&g);
    free(big);
}

static void test_broken(struct script_server *s)
{
    static const struct {
        const char *path, *why, *said;
    } cases[] = {
        {"/huge", "received a message that is too long", "/huge close 1009\n"},
        {"/endless", "received a message that is too long", "/endless close 1009\n"},
        {"/binary", "received a binary message", "/binary close 1003\n"},
        {"/latin1", "received a message that is not valid UTF-8", "/latin1 close 1007\n"},
        {"/garbage", "", "/garbage open\n"},
        {"/drop", "the connection was lost", "/drop open\n"},
        {"/bye", "closed by the service: 1001 going away", "/bye open\n"},
        {"/302", "the server replied with HTTP status 302", ""},
        {"/403", "the server replied with HTTP status 403", ""},
        {"/garbled", "cannot connect: HS: Accept hash wrong", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct got g;
        open_at(&g, "ws", s, cases[i].path, 0, 0);
        const int64_t begin = clock_mono_ms();
        await(&g.closes, 1);
        has_str(g.why, cases[i].why, "%s: %s", cases[i].path, cases[i].why);
        ok(g.closes == 1 && g.texts == 0 && clock_mono_ms() - begin < 30000 && *g.why,
           "%s: closed once and soon", cases[i].path);
        ok(!strstr(g.why, "Secret") && !strstr(g.why, "ticket"),
           "%s: the reason contains no secret", cases[i].path);
        ok(script_server_has_said(s, loop, cases[i].said), "%s: the log of the server",
           cases[i].path);
        end(&g);
    }
}

/* The limit of silence for peers that are alive. They are active for longer
 * (tests/fake/websocketd.py), in steps that are much shorter, so that a loaded machine does not
 * exceed the limit. */
enum { ALIVE_MS = 2000 };

static void test_keep_alive(struct script_server *s)
{
    struct got g;
    open_at(&g, "ws", s, "/silent", 20, 150);
    const int64_t begin = clock_mono_ms();
    await(&g.closes, 1);
    is_str(g.why, "silent", "R17: a connection that receives nothing for too long is closed");
    const int64_t took_ms = clock_mono_ms() - begin;
    ok(took_ms >= 140 && took_ms < 30000,
       "the connection is closed after the limit, and soon after it");
    end(&g);
    open_at(&g, "ws", s, "/echo", 10, ALIVE_MS);
    await(&g.opens, 1);
    const int64_t opened = clock_mono_ms();
    while (g.conn && clock_mono_ms() - opened < ALIVE_MS + 500)
        loop_run_once(loop, 20);
    ok(!g.closes && script_server_has_said(s, loop, "/echo ping\n"),
       "R17: answers to pings keep the connection open");
    end(&g);
    open_at(&g, "ws", s, "/pinger", 10000, ALIVE_MS);
    await(&g.texts, 1);
    ok(!g.closes && g.texts == 1, "pings of the service keep the connection open");
    end(&g);
    open_at(&g, "ws", s, "/dripping", 10000, ALIVE_MS);
    await(&g.closes, 1);
    is_str(g.why, "the connection was lost", "bytes of a frame keep the connection open");
    end(&g);
}

static void test_close(struct script_server *s)
{
    static const char *const paths[] = {"/deaf", "/stubborn", "/silent"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        struct got g;
        open_at(&g, "ws", s, paths[i], 0, 0);
        await(&g.opens, 1);
        const int64_t begin = clock_mono_ms();
        end(&g);
        is_str(g.why, "closed", "%s: closed", paths[i]);
        ok(clock_mono_ms() - begin < 20000, "%s: closed before the server closes", paths[i]);
    }
    struct got g;
    open_at(&g, "ws", s, "/echo", 0, 0);
    end(&g);
    ok(g.opens == 0 && strcmp(g.why, "closed") == 0,
       "a connection that is closed before it is open");
    ok(g.after == 0, "no event follows the end");
}

static void test_pressure(struct script_server *s)
{
    struct got g;
    open_at(&g, "ws", s, "/flood", 0, 0);
    await(&g.texts, 64);
    ok(g.texts == 64 && strncmp(g.text.p, "63", 2) == 0,
       "64 MiB that arrive faster than they are read");
    end(&g);
    open_at(&g, "ws", s, "/sink", 0, 0);
    await(&g.opens, 1);
    char *const text = xcalloc(1, WEBSOCKET_MAX_TEXT);
    memset(text, 'z', WEBSOCKET_MAX_TEXT);
    unsigned sent = 0;
    while (sent < 64 && websocket_send(g.conn, (struct str){text, WEBSOCKET_MAX_TEXT}) == 0) {
        sent++;
        loop_run_once(loop, 1);
    }
    free(text);
    ok(sent >= 4 && sent < 64,
       "a service that does not read: sending fails when the queue is full");
    end(&g);
}

/* Returns a port on which nobody listens. */
static int find_closed_port(void)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof a;
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(fd, (const void *)&a, len) < 0 || getsockname(fd, (void *)&a, &len) < 0)
        bail("no port");
    close(fd);
    return ntohs(a.sin_port);
}

static void test_no_connection(struct script_server *s)
{
    struct got g;
    const struct script_server nobody = {.port = find_closed_port()};
    open_at(&g, "ws", &nobody, "/echo", 0, 0);
    await(&g.closes, 1);
    ok(strncmp(g.why, "cannot connect", 14) == 0 && !strstr(g.why, "Secret"), "refused: %s", g.why);
    end(&g);
    websocket_free(sockets);
    sockets = websocket_new(loop, &(struct websocket_options){.connect_timeout_ms = 100});
    open_at(&g, "ws", s, "/mute", 0, 0);
    await(&g.closes, 1);
    is_str(g.why, "no connection within the time limit", "a handshake without a response");
    end(&g);
    websocket_free(sockets);
    sockets = websocket_new(loop, NULL);
    open_at(&g, "ws", s, "/echo", 0, 0);
    await(&g.opens, 1);
    websocket_free(sockets);
    ok(g.closes == 1 && strcmp(g.why, "turncast is shutting down") == 0,
       "connections of a client that is freed are closed");
    buf_fini(&g.text);
    sockets = websocket_new(loop, NULL);
}

/* ---- TLS ---- */

static const char make_certificates[] =
    "exec >/dev/null 2>&1; set -e; cd \"$1\"\n"
    "key='-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes'\n"
    "openssl req -x509 $key -keyout ca.key -out ca.pem -subj /CN=authority -days 2\n"
    "openssl req $key -keyout key.pem -out request -subj /CN=service\n"
    "echo subjectAltName=DNS:localhost >here; echo subjectAltName=DNS:other.example >there\n"
    "sign() { openssl x509 -req -in request -CA ca.pem -CAkey ca.key -set_serial $1 -days $2 \\\n"
    "    -extfile $3 -out $4.pem; }\n"
    "sign 1 2 here good; sign 2 -1 here expired; sign 3 2 there other\n"
    "openssl req -x509 -key key.pem -out self.pem -subj /CN=service -days 2 \\\n"
    "    -addext subjectAltName=DNS:localhost\n";

static bool can_make_certificates(void)
{
    const pid_t pid = fork();
    if (pid == 0) {
        execlp("sh", "sh", "-c", make_certificates, "sh", tap_tmpdir(), (char *)NULL);
        _exit(127);
    }
    int status = -1;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void test_certificate(const char *name, const char *file, const char *trusted, bool is_good)
{
    char certificate[512], key[512];
    struct got g;
    snprintf(certificate, sizeof certificate, "%s/%s", tap_tmpdir(), file);
    snprintf(key, sizeof key, "%s/key.pem", tap_tmpdir());
    struct script_server s = script_server_start("fake/websocketd.py", certificate, key);
    websocket_free(sockets);
    sockets = websocket_new(loop, &(struct websocket_options){.ca_file = trusted});
    open_at(&g, "wss", &s, "/echo", 0, 0);
    for (int rounds = 0; !g.opens && !g.closes && rounds < 4000; rounds++)
        loop_run_once(loop, 5);
    ok(is_good ? g.opens == 1 : g.opens == 0 && strstr(g.why, "TLS handshake failed") != NULL,
       "%s: %s", name, is_good ? "open" : g.why);
    if (g.conn) {
        websocket_send(g.conn, STR("hidden"));
        await(&g.texts, 1);
        is_str(g.text.p, "hidden", "%s: messages are exchanged", name);
    }
    ok(!strstr(g.why, "Secret"), "%s: the reason contains no secret", name);
    end(&g);
    ok(!strstr(s.said.p, "fault"), "%s: the server reports no violation of the protocol", name);
    script_server_stop(&s);
}

static void test_tls(void)
{
    char ca[512];
    snprintf(ca, sizeof ca, "%s/ca.pem", tap_tmpdir());
    if (!can_make_certificates()) {
        skip(1, "openssl cannot make certificates");
        return;
    }
    test_certificate("trusted", "good.pem", ca, true);
    test_certificate("expired", "expired.pem", ca, false);
    test_certificate("self-signed", "self.pem", ca, false);
    test_certificate("another name", "other.pem", ca, false);
    test_certificate("unknown authority", "good.pem", NULL, false);
}

int main(void)
{
    plan_lazy();
    /* The client must ignore the environment. */
    setenv("http_proxy", "http://127.0.0.1:1", 1);
    setenv("https_proxy", "http://127.0.0.1:1", 1);
    setenv("all_proxy", "http://127.0.0.1:1", 1);
    test_urls();
    loop = loop_new();
    sockets = websocket_new(loop, NULL);
    struct script_server s = script_server_start("fake/websocketd.py", NULL, NULL);
    test_messages(&s);
    test_frames(&s);
    test_binary(&s);
    test_close_status(&s);
    test_headers(&s);
    test_broken(&s);
    test_keep_alive(&s);
    test_close(&s);
    test_pressure(&s);
    test_no_connection(&s);
    script_server_read(&s);
    ok(!strstr(s.said.p, "fault"), "the server reports no violation of the protocol");
    script_server_stop(&s);
    test_tls();
    websocket_free(sockets);
    loop_free(loop);
    return 0;
}
