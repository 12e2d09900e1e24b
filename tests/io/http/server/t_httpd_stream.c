/* SPDX-License-Identifier: MIT
 * Streamed answers of the HTTP server, its answers' headers, and who is told that a client left. */
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/sys/clock.h"
#include "io/httpd_client.h"
#include "tap/tap.h"

#define HOST "Host: localhost\r\n"
#define GET(path) "GET " path " HTTP/1.1\r\n" HOST "\r\n"
#define EVENTS "text/event-stream"

static struct loop *loop;
static struct httpd *server;
static struct httpd_stream *stream; /* the last that began */
static struct httpd_request *held;
static unsigned told;
static bool is_writing;

/* ---- handlers ---- */

static void on_stream(void *arg, struct httpd_request *r)
{
    (void)arg;
    const struct httpd_header more[] = {{"X-Accel-Buffering", "no"}};
    stream = httpd_stream_begin(r, 200, EVENTS, more, 1);
}

static void on_held(void *arg, struct httpd_request *r)
{
    (void)arg;
    held = r;
}

static void on_headers(void *arg, struct httpd_request *r)
{
    (void)arg;
    const struct httpd_header headers[] = {
        {"Set-Cookie", "turncast=x; HttpOnly"},
        {"Location", "/turns/1\r\nX-Injected: yes"},
        {"X-Two Words", "no"},
        {"", "no"},
        {"content-length", "3"},
        {"Transfer-Encoding", "chunked"},
        {"ETag", "\"1\""},
        {"cache-control", "max-age=60"},
    };
    httpd_answer_full(r, &(struct httpd_answer){
                             .status = r->query[0] ? atoi(r->query) : 200,
                             .content_type = "text/css",
                             .headers = headers,
                             .header_count = sizeof headers / sizeof *headers,
                             .body = STR("body\n"),
                         });
}

static void on_gone(void *arg)
{
    ok(!is_writing, "told from the loop");
    told++;
    *(bool *)arg = true;
}

static void begin(const struct httpd_options *options)
{
    struct tc_err err = {0};
    server = httpd_new(loop, options, &err);
    if (!server)
        bail("no server: %s", err_format(&err));
    httpd_route(server, "/stream", HTTPD_GET, on_stream, NULL);
    httpd_route(server, "/held", HTTPD_GET, on_held, NULL);
    httpd_route(server, "/patient", HTTPD_GET | HTTPD_NO_DEADLINE, on_held, NULL);
    httpd_route(server, "/headers", HTTPD_GET, on_headers, NULL);
    told = 0;
}

static void end(void)
{
    httpd_free(server);
    server = NULL;
}

static void rounds(int n)
{
    for (int i = 0; i < n; i++)
        loop_run_once(loop, 1);
}

static struct client ask(const char *bytes)
{
    struct client c = client_connect(loop, server);
    client_send(&c, bytes, strlen(bytes));
    return c;
}

static struct client ask_stream(const char *bytes)
{
    stream = NULL;
    const struct client c = ask(bytes);
    for (int i = 0; i < 2000 && !stream; i++)
        loop_run_once(loop, 5);
    if (!stream)
        bail("no stream began");
    return c;
}

static struct client ask_held(const char *bytes)
{
    held = NULL;
    const struct client c = ask(bytes);
    for (int i = 0; i < 2000 && !held; i++)
        loop_run_once(loop, 5);
    if (!held)
        bail("no request came");
    return c;
}

/* Until its client has text, or has been closed. */
static void await_text(struct client *c, const char *text)
{
    for (int i = 0; i < 2000 && !c->closed && !(c->in.p && strstr(c->in.p, text)); i++) {
        loop_run_once(loop, 5);
        client_read(c);
    }
}

static void await_told(unsigned wanted)
{
    for (int i = 0; i < 2000 && told < wanted; i++)
        loop_run_once(loop, 5);
}

static void say(struct str bytes)
{
    is_writing = true;
    httpd_stream_write(stream, bytes);
    is_writing = false;
}

/* ---- what a client gets ---- */

static void test_chunks(void)
{
    begin(&(struct httpd_options){0});
    struct client c = ask_stream(GET("/stream") GET("/headers"));
    await_text(&c, "\r\n\r\n");
    has_str(c.in.p, "\r\nTransfer-Encoding: chunked\r\n", "the head goes out at once");
    ok(strstr(c.in.p, "\r\nContent-Type: " EVENTS "\r\n") &&
           strstr(c.in.p, "\r\nX-Accel-Buffering: no\r\n") &&
           strstr(c.in.p, "\r\nCache-Control: no-store\r\n") && !strstr(c.in.p, "Content-Length"),
       "with its headers");
    buf_reset(&c.in);
    say(STR("one\n"));
    say(STR(""));
    say(STR("data: twenty bytes \n"));
    rounds(2);
    client_read(&c);
    is_str(c.in.p, "4\r\none\n\r\n14\r\ndata: twenty bytes \n\r\n", "two chunks, together");
    httpd_stream_end(stream);
    client_await(&c, 1);
    has_str(c.in.p, "\r\n0\r\n\r\nHTTP/1.1 200 OK\r\n", "and then the next answer");
    client_hang_up(&c);

    struct client old = ask_stream("GET /stream HTTP/1.0\r\n" HOST "\r\n");
    say(STR("one\n"));
    say(STR("two\n"));
    await_text(&old, "two");
    httpd_stream_end(stream);
    client_await_end(&old);
    ok(strstr(old.in.p, "\r\n\r\none\ntwo\n") && !strstr(old.in.p, "chunked") && old.closed,
       "HTTP/1.0: up to the end of the connection");
    client_hang_up(&old);

    struct client brief = ask_stream("GET /stream HTTP/1.1\r\n" HOST "Connection: close\r\n\r\n");
    say(STR("one\n"));
    httpd_stream_end(stream);
    client_await_end(&brief);
    has_str(brief.in.p, "\r\n\r\n4\r\none\n\r\n0\r\n\r\n", "ended before anything went out");
    ok(brief.closed, "and closed, when that is wanted");
    client_hang_up(&brief);
    end();
}

static void test_head(void)
{
    bool gone = false;
    begin(&(struct httpd_options){0});
    struct client c = ask_stream("HEAD /stream HTTP/1.1\r\n" HOST "\r\n" GET("/headers"));
    httpd_stream_set_on_gone(stream, on_gone, &gone);
    say(STR("one\n"));
    await_told(1);
    ok(gone && httpd_stream_is_gone(stream), "HEAD: nobody waits for the stream");
    httpd_stream_end(stream);
    client_await(&c, 2);
    ok(strstr(c.in.p, "chunked") && !strstr(c.in.p, "one") && client_answers(&c) == 2,
       "its client gets the head");
    client_hang_up(&c);
    end();
}

static void test_headers(void)
{
    begin(&(struct httpd_options){0});
    struct client c = ask(GET("/headers"));
    client_await(&c, 1);
    has_str(c.in.p, "\r\nSet-Cookie: turncast=x; HttpOnly\r\n", "a header of the handler's");
    has_str(c.in.p, "\r\ncache-control: max-age=60\r\n", "its Cache-Control");
    ok(!strstr(c.in.p, "no-store"), "is the only one");
    ok(!strstr(c.in.p, "X-Injected") && !strstr(c.in.p, "Location"), "no line break gets in");
    ok(!strstr(c.in.p, "X-Two") && !strstr(c.in.p, "\r\n: "), "no name that is none");
    ok(!strstr(c.in.p, "content-length") && !strstr(c.in.p, "Transfer-Encoding") &&
           strstr(c.in.p, "\r\nContent-Length: 5\r\n"),
       "the end of the body is the server's to say");
    client_hang_up(&c);
    struct client cached = ask(GET("/headers?304"));
    client_await(&cached, 1);
    ok(strstr(cached.in.p, "\r\nETag: \"1\"\r\n") && !strstr(cached.in.p, "body"), "304");
    client_hang_up(&cached);
    end();
}

/* ---- clients that go ---- */

static void test_leave(void)
{
    begin(&(struct httpd_options){.deadline_ms = 10, .idle_ms = 10});
    bool gone = false;
    struct client c = ask_stream(GET("/stream"));
    httpd_stream_set_on_gone(stream, on_gone, &gone);
    await_text(&c, "\r\n\r\n");
    rounds(60);
    ok(!told && !httpd_stream_is_gone(stream), "a stream that is silent has all the time");
    client_hang_up(&c);
    await_told(1);
    ok(gone && httpd_stream_is_gone(stream), "a client that leaves");
    say(STR("nobody\n"));
    rounds(3);
    is_int(told, 1, "is told of once");
    httpd_stream_end(stream);

    struct client rude = ask_stream(GET("/stream"));
    httpd_stream_set_on_gone(stream, on_gone, &gone);
    await_text(&rude, "\r\n\r\n");
    const struct linger now = {.l_onoff = 1};
    setsockopt(rude.fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    client_hang_up(&rude);
    await_told(2);
    is_int(told, 2, "one that breaks the connection");
    httpd_stream_end(stream);

    struct client quiet = ask_stream(GET("/stream"));
    client_hang_up(&quiet);
    for (int i = 0; i < 2000 && !httpd_stream_is_gone(stream); i++)
        loop_run_once(loop, 5);
    is_int(told, 2, "nobody is told who did not ask");
    httpd_stream_set_on_gone(stream, on_gone, &gone);
    is_int(told, 2, "nor at once when asked late");
    await_told(3);
    is_int(told, 3, "but soon");
    httpd_stream_end(stream);

    struct client last = ask_stream(GET("/stream"));
    client_hang_up(&last);
    for (int i = 0; i < 2000 && !httpd_stream_is_gone(stream); i++)
        loop_run_once(loop, 5);
    httpd_stream_set_on_gone(stream, on_gone, &gone);
    httpd_stream_end(stream);
    rounds(3);
    is_int(told, 3, "never after the end");
    end();
}

static void on_room(void *arg)
{
    *(bool *)arg = true;
}

static void test_deaf(void)
{
    static char much[1 << 20];
    memset(much, 'x', sizeof much);
    bool gone = false, room = false;
    begin(&(struct httpd_options){.stream_bytes = 4 << 20});
    struct client c = ask_stream(GET("/stream"));
    httpd_stream_set_on_gone(stream, on_gone, &gone);
    int n = 0;
    for (; n < 64 && !gone; n++) {
        say((struct str){much, sizeof much});
        loop_run_once(loop, 1);
    }
    ok(gone && n > 4 && n < 64, "one that does not read is dropped after %d MiB", n);
    httpd_stream_end(stream);
    client_await_end(&c);
    ok(c.closed && c.in.len < 64 << 20, "and sees it");
    client_hang_up(&c);

    struct client over = ask_stream(GET("/stream") GET("/headers"));
    for (int i = 0; i < 64; i++)
        say((struct str){much, sizeof much});
    httpd_stream_end(stream);
    client_await_end(&over);
    ok(over.closed && client_answers(&over) == 1 && !strstr(over.in.p, "\r\n0\r\n\r\n"),
       "ended before that shows: not as if it were whole");
    client_hang_up(&over);
    end();

    begin(&(struct httpd_options){.stream_bytes = 64 << 20, .idle_ms = 60});
    struct client slow = ask_stream(GET("/stream"));
    httpd_stream_set_on_gone(stream, on_gone, &gone);
    for (int i = 0; i < 16; i++)
        say((struct str){much, sizeof much});
    for (int i = 0; i < 30000 && !told; i++) {
        say(STR(": keep-alive\n\n"));
        loop_run_once(loop, 5);
    }
    is_int(told, 1, "one that never reads what is there, however often it is reminded");
    httpd_stream_end(stream);
    client_hang_up(&slow);
    end();

    begin(&(struct httpd_options){.stream_bytes = 64 << 20});
    told = 0;
    struct client well = ask_stream(GET("/stream"));
    httpd_stream_set_on_gone(stream, on_gone, &gone);
    httpd_set_on_room(stream, on_room, &room);
    for (int i = 0; i < 16; i++)
        say((struct str){much, sizeof much});
    loop_run_once(loop, 1);
    ok(httpd_stream_pending_bytes(stream) > 0 && !room, "what is not taken is known");
    for (int i = 0; i < 20000 && !room; i++) {
        loop_run_once(loop, 1);
        client_read(&well);
    }
    ok(room && !httpd_stream_pending_bytes(stream), "and it is told when all is");
    httpd_stream_end(stream);
    for (int i = 0; i < 20000 && !well.closed && well.in.len < 16 << 20; i++) {
        loop_run_once(loop, 1);
        for (int reads = 0; reads < 32 && !well.closed; reads++)
            client_read(&well);
    }
    await_text(&well, "\r\n0\r\n\r\n");
    ok(!told && !well.closed, "one that reads gets it all");
    client_hang_up(&well);
    end();
}

/* Many times what may be unread, to a client that takes its time. */
struct flood {
    unsigned sent, most; /* chunks; and bytes that were unread at once */
};

static void on_more(void *arg)
{
    static char chunk[16 << 10];
    struct flood *const f = arg;
    ok(!is_writing && f->sent <= 256, "read up to %u", f->sent);
    for (; httpd_stream_pending_bytes(stream) < 64 << 10; f->sent++) {
        if (f->sent == 256) {
            httpd_stream_end(stream);
            stream = NULL;
            return;
        }
        memset(chunk, 'x', sizeof chunk);
        say((struct str){chunk, sizeof chunk});
        f->most = f->most > httpd_stream_pending_bytes(stream)
                      ? f->most
                      : (unsigned)httpd_stream_pending_bytes(stream);
    }
    httpd_set_on_room(stream, on_more, f);
}

static void test_pace(void)
{
    struct flood flood = {0};
    begin(&(struct httpd_options){.stream_bytes = 128 << 10});
    struct client c = ask_stream(GET("/stream"));
    is_int(httpd_stream_pending_bytes(stream) > 0, 1, "the head is not read yet");
    httpd_set_on_room(stream, on_more, &flood);
    for (int i = 0; i < 2000 && stream; i++) {
        loop_run_once(loop, 1);
        client_read(&c);
    }
    await_text(&c, "\r\n0\r\n\r\n");
    ok(!stream && !c.closed && c.in.len > 256 << 14, "all of it comes");
    ok(flood.most > 64 << 10 && flood.most <= 128 << 10, "%u bytes at most wait", flood.most);
    client_hang_up(&c);
    end();
}

/* One write is never too much: its owner waits for room before the next. */
static void test_big(void)
{
    const size_t size = (size_t)16 << 20;
    char *const big = malloc(size);
    memset(big, 'x', size);
    begin(&(struct httpd_options){.stream_bytes = 64 << 10});
    struct client c = ask_stream(GET("/stream"));
    bool gone = false;
    httpd_stream_set_on_gone(stream, on_gone, &gone);
    say((struct str){big, size});
    loop_run_once(loop, 1);
    httpd_stream_keep_alive(stream, STR(": alive\n"));
    for (int i = 0; i < 20000 && !gone && c.in.len < size; i++) {
        loop_run_once(loop, 1);
        for (int reads = 0; reads < 32 && !c.closed; reads++)
            client_read(&c);
    }
    ok(!gone && c.in.len > size, "a single write of 16 MiB comes");
    ok(!strstr(c.in.p, ": alive"), "nobody who has something to take is told that all is well");
    httpd_stream_keep_alive(stream, STR(": alive\n"));
    await_text(&c, ": alive");
    ok(!gone, "who has taken all is told so");
    httpd_stream_end(stream);
    client_hang_up(&c);
    end();
    free(big);
}

static bool drained;

static void on_drained(void *arg)
{
    drained = true;
    *(int64_t *)arg = clock_mono_ms();
}

static void test_drain(void)
{
    begin(&(struct httpd_options){0});
    int64_t at = 0;
    bool gone = false;
    struct client idle = ask(GET("/headers"));
    client_await(&idle, 1);
    struct client quiet = ask_stream(GET("/stream"));
    httpd_stream_set_on_gone(stream, on_gone, &gone);
    await_text(&quiet, "\r\n\r\n");
    struct httpd_stream *const first = stream;
    struct client busy = ask_stream(GET("/stream"));
    say(STR("data: last\n"));
    struct client half = ask("GET /headers HTTP/1.1\r\nHo");
    rounds(3);
    struct client waits = ask_held(GET("/held"));
    httpd_drain_begin(server, 20000, on_drained, &at);
    const int64_t began = clock_mono_ms();
    await_told(1);
    ok(gone && !drained, "who has nothing to say is told that nobody listens");
    httpd_stream_end(first);
    client_await_end(&quiet);
    has_str(quiet.in.p, "\r\n0\r\n\r\n", "its client sees an end, not a cut");
    client_await_end(&busy);
    has_str(busy.in.p, "\r\nb\r\ndata: last\n\r\n0\r\n\r\n", "what was said goes out before");
    client_await_end(&idle);
    ok(idle.closed && client_answers(&idle) == 1, "an idle connection is closed");
    static const char rest[] = "st: localhost\r\n\r\n";
    client_send(&half, rest, sizeof rest - 1);
    client_await_end(&half);
    ok(half.closed && strstr(half.in.p, "HTTP/1.1 503 ") &&
           strstr(half.in.p, "\r\nConnection: close\r\n"),
       "what is asked for now is refused");
    ok(strstr(half.in.p, "\"code\":\"shutting_down\"") &&
           strstr(half.in.p, "\r\nRetry-After: 5\r\n"),
       "with an error object that says why, and when to come again");
    client_await_end(&waits);
    ok(waits.closed && strstr(waits.in.p, "HTTP/1.1 503 "), "what has no answer has its 503");
    has_str(waits.in.p, "\"code\":\"shutting_down\"", "which says why");
    httpd_answer(held, 200, NULL, STR("late\n"));
    struct client *const all[] = {&idle, &quiet, &busy, &half, &waits};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        client_hang_up(all[i]);
    for (int i = 0; i < 4000 && !drained; i++)
        loop_run_once(loop, 5);
    ok(drained && at - began < 20000, "then it is over: %d ms", (int)(at - began));
    httpd_stream_end(stream);
    end();
}

static void test_free(void)
{
    bool gone = false;
    begin(&(struct httpd_options){0});
    struct client c = ask_stream(GET("/stream"));
    httpd_stream_set_on_gone(stream, on_gone, &gone);
    say(STR("one\n"));
    end();
    rounds(3);
    ok(!gone && httpd_stream_is_gone(stream), "a server that ends tells nobody");
    say(STR("two\n"));
    httpd_stream_end(stream);
    client_hang_up(&c);
}

/* ---- requests that wait ---- */

static void on_gone_answer(void *arg)
{
    on_gone(arg);
    httpd_answer(held, 200, NULL, STR("nobody\n"));
    held = NULL;
}

static void test_request_gone(void)
{
    bool gone = false;
    begin(&(struct httpd_options){.deadline_ms = 20});
    struct client c = ask_held(GET("/held"));
    httpd_set_on_gone(held, on_gone_answer, &gone);
    client_await_end(&c);
    ok(strstr(c.in.p, "503") && gone && !held, "a request with a deadline is told of");
    client_hang_up(&c);
    c = ask_held(GET("/patient"));
    httpd_set_on_gone(held, on_gone_answer, &gone);
    rounds(60);
    is_int(told, 1, "one without has all the time");
    httpd_answer(held, 200, NULL, STR("done\n"));
    client_await(&c, 1);
    has_str(c.in.p, "done\n", "and its answer");
    client_hang_up(&c);
    rounds(3);
    is_int(told, 1, "that is all");
    c = ask_held(GET("/patient"));
    httpd_set_on_gone(held, on_gone_answer, &gone);
    client_hang_up(&c);
    await_told(2);
    ok(told == 2 && !held, "a client that leaves");
    c = ask_held(GET("/patient"));
    httpd_set_on_gone(held, on_gone, &gone);
    httpd_set_on_gone(held, NULL, NULL);
    client_hang_up(&c);
    for (int i = 0; i < 2000 && !held->gone; i++)
        loop_run_once(loop, 5);
    stream = httpd_stream_begin(held, 200, EVENTS, NULL, 0);
    ok(httpd_stream_is_gone(stream) && told == 2, "the stream of a request that is gone");
    httpd_stream_set_on_gone(stream, on_gone, &gone);
    await_told(3);
    is_int(told, 3, "is told of");
    httpd_stream_end(stream);
    end();
}

int main(void)
{
    plan_lazy();
    loop = loop_new();
    test_chunks();
    test_head();
    test_headers();
    test_leave();
    test_deaf();
    test_pace();
    test_big();
    test_drain();
    test_free();
    test_request_gone();
    loop_free(loop);
    return 0;
}
