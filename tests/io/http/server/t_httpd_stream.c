/* SPDX-License-Identifier: MIT
 * Tests of streamed responses of the HTTP server, the headers of responses, and the notifications
 * about clients that are gone. */
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
static struct httpd_stream *stream; /* the last one that began */
static struct httpd_request *held;
static unsigned gone_count;
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
    ok(!is_writing, "the notification comes from the loop");
    gone_count++;
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
    gone_count = 0;
}

static void end(void)
{
    httpd_free(server);
    server = NULL;
}

static void run_loop(int n)
{
    for (int i = 0; i < n; i++)
        loop_run_once(loop, 1);
}

static struct client send_request(const char *bytes)
{
    struct client c = client_connect(loop, server);
    client_send(&c, bytes, strlen(bytes));
    return c;
}

static struct client open_stream(const char *bytes)
{
    stream = NULL;
    const struct client c = send_request(bytes);
    for (int i = 0; i < 2000 && !stream; i++)
        loop_run_once(loop, 5);
    if (!stream)
        bail("no stream was opened");
    return c;
}

static struct client send_held_request(const char *bytes)
{
    held = NULL;
    const struct client c = send_request(bytes);
    for (int i = 0; i < 2000 && !held; i++)
        loop_run_once(loop, 5);
    if (!held)
        bail("no request arrived");
    return c;
}

/* Runs the loop until the client has received the text, or its connection is closed. */
static void await_text(struct client *c, const char *text)
{
    for (int i = 0; i < 2000 && !c->closed && !(c->in.p && strstr(c->in.p, text)); i++) {
        loop_run_once(loop, 5);
        client_read(c);
    }
}

static void await_gone(unsigned wanted)
{
    for (int i = 0; i < 2000 && gone_count < wanted; i++)
        loop_run_once(loop, 5);
}

static void write_stream(struct str bytes)
{
    is_writing = true;
    httpd_stream_write(stream, bytes);
    is_writing = false;
}

/* ---- responses ---- */

static void test_chunks(void)
{
    begin(&(struct httpd_options){0});
    struct client c = open_stream(GET("/stream") GET("/headers"));
    await_text(&c, "\r\n\r\n");
    has_str(c.in.p, "\r\nTransfer-Encoding: chunked\r\n", "the head is sent at once");
    ok(strstr(c.in.p, "\r\nContent-Type: " EVENTS "\r\n") &&
           strstr(c.in.p, "\r\nX-Accel-Buffering: no\r\n") &&
           strstr(c.in.p, "\r\nCache-Control: no-store\r\n") && !strstr(c.in.p, "Content-Length"),
       "the head has its headers");
    buf_reset(&c.in);
    write_stream(STR("one\n"));
    write_stream(STR(""));
    write_stream(STR("data: twenty bytes \n"));
    run_loop(2);
    client_read(&c);
    is_str(c.in.p, "4\r\none\n\r\n14\r\ndata: twenty bytes \n\r\n",
           "two writes are two chunks, sent together");
    httpd_stream_end(stream);
    client_await(&c, 1);
    has_str(c.in.p, "\r\n0\r\n\r\nHTTP/1.1 200 OK\r\n",
            "the next response follows the end of the stream");
    client_hang_up(&c);

    struct client old = open_stream("GET /stream HTTP/1.0\r\n" HOST "\r\n");
    write_stream(STR("one\n"));
    write_stream(STR("two\n"));
    await_text(&old, "two");
    httpd_stream_end(stream);
    client_await_end(&old);
    ok(strstr(old.in.p, "\r\n\r\none\ntwo\n") && !strstr(old.in.p, "chunked") && old.closed,
       "HTTP/1.0: the end of the connection ends the stream");
    client_hang_up(&old);

    struct client brief = open_stream("GET /stream HTTP/1.1\r\n" HOST "Connection: close\r\n\r\n");
    write_stream(STR("one\n"));
    httpd_stream_end(stream);
    client_await_end(&brief);
    has_str(brief.in.p, "\r\n\r\n4\r\none\n\r\n0\r\n\r\n",
            "a stream that ends before bytes were sent is complete");
    ok(brief.closed, "the connection is closed after the stream if the client demands it");
    client_hang_up(&brief);
    end();
}

static void test_head(void)
{
    bool gone = false;
    begin(&(struct httpd_options){0});
    struct client c = open_stream("HEAD /stream HTTP/1.1\r\n" HOST "\r\n" GET("/headers"));
    httpd_stream_set_on_gone(stream, on_gone, &gone);
    write_stream(STR("one\n"));
    await_gone(1);
    ok(gone && httpd_stream_is_gone(stream), "a stream for HEAD is reported as gone");
    httpd_stream_end(stream);
    client_await(&c, 2);
    ok(strstr(c.in.p, "chunked") && !strstr(c.in.p, "one") && client_count_answers(&c) == 2,
       "the client of HEAD gets the head only");
    client_hang_up(&c);
    end();
}

static void test_headers(void)
{
    begin(&(struct httpd_options){0});
    struct client c = send_request(GET("/headers"));
    client_await(&c, 1);
    has_str(c.in.p, "\r\nSet-Cookie: turncast=x; HttpOnly\r\n", "a header of the handler is sent");
    has_str(c.in.p, "\r\ncache-control: max-age=60\r\n", "Cache-Control of the handler is sent");
    ok(!strstr(c.in.p, "no-store"), "Cache-Control of the handler replaces the default");
    ok(!strstr(c.in.p, "X-Injected") && !strstr(c.in.p, "Location"),
       "a header with a line break is dropped");
    ok(!strstr(c.in.p, "X-Two") && !strstr(c.in.p, "\r\n: "),
       "a header with an invalid name is dropped");
    ok(!strstr(c.in.p, "content-length") && !strstr(c.in.p, "Transfer-Encoding") &&
           strstr(c.in.p, "\r\nContent-Length: 5\r\n"),
       "the handler cannot set the length of the body");
    client_hang_up(&c);
    struct client cached = send_request(GET("/headers?304"));
    client_await(&cached, 1);
    ok(strstr(cached.in.p, "\r\nETag: \"1\"\r\n") && !strstr(cached.in.p, "body"),
       "a response with status 304 has headers and no body");
    client_hang_up(&cached);
    end();
}

/* ---- clients that are gone ---- */

static void test_leave(void)
{
    begin(&(struct httpd_options){.deadline_ms = 10, .idle_ms = 10});
    bool gone = false;
    struct client c = open_stream(GET("/stream"));
    httpd_stream_set_on_gone(stream, on_gone, &gone);
    await_text(&c, "\r\n\r\n");
    run_loop(60);
    ok(!gone_count && !httpd_stream_is_gone(stream), "a silent stream has no deadline");
    client_hang_up(&c);
    await_gone(1);
    ok(gone && httpd_stream_is_gone(stream), "a client that closes the connection is gone");
    write_stream(STR("nobody\n"));
    run_loop(3);
    is_int(gone_count, 1, "the loss of a client is notified once");
    httpd_stream_end(stream);

    struct client rude = open_stream(GET("/stream"));
    httpd_stream_set_on_gone(stream, on_gone, &gone);
    await_text(&rude, "\r\n\r\n");
    const struct linger now = {.l_onoff = 1};
    setsockopt(rude.fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    client_hang_up(&rude);
    await_gone(2);
    is_int(gone_count, 2, "a reset connection is notified");
    httpd_stream_end(stream);

    struct client quiet = open_stream(GET("/stream"));
    client_hang_up(&quiet);
    for (int i = 0; i < 2000 && !httpd_stream_is_gone(stream); i++)
        loop_run_once(loop, 5);
    is_int(gone_count, 2, "without a callback no loss is notified");
    httpd_stream_set_on_gone(stream, on_gone, &gone);
    is_int(gone_count, 2, "a callback that is set after the loss is not called at once");
    await_gone(3);
    is_int(gone_count, 3, "a callback that is set after the loss is called from the loop");
    httpd_stream_end(stream);

    struct client last = open_stream(GET("/stream"));
    client_hang_up(&last);
    for (int i = 0; i < 2000 && !httpd_stream_is_gone(stream); i++)
        loop_run_once(loop, 5);
    httpd_stream_set_on_gone(stream, on_gone, &gone);
    httpd_stream_end(stream);
    run_loop(3);
    is_int(gone_count, 3, "the callback is not called after the end of the stream");
    end();
}

static void on_room(void *arg)
{
    *(bool *)arg = true;
}

static void test_slow_readers(void)
{
    static char much[1 << 20];
    memset(much, 'x', sizeof much);
    bool gone = false, room = false;
    begin(&(struct httpd_options){.stream_bytes = 4 << 20});
    struct client c = open_stream(GET("/stream"));
    httpd_stream_set_on_gone(stream, on_gone, &gone);
    int n = 0;
    for (; n < 64 && !gone; n++) {
        write_stream((struct str){much, sizeof much});
        loop_run_once(loop, 1);
    }
    ok(gone && n > 4 && n < 64, "a client that does not read is disconnected after %d MiB", n);
    httpd_stream_end(stream);
    client_await_end(&c);
    ok(c.closed && c.in.len < 64 << 20, "the client sees that the connection is closed");
    client_hang_up(&c);

    struct client over = open_stream(GET("/stream") GET("/headers"));
    for (int i = 0; i < 64; i++)
        write_stream((struct str){much, sizeof much});
    httpd_stream_end(stream);
    client_await_end(&over);
    ok(over.closed && client_count_answers(&over) == 1 && !strstr(over.in.p, "\r\n0\r\n\r\n"),
       "a stream that ended with too many unread bytes is not completed");
    client_hang_up(&over);
    end();

    begin(&(struct httpd_options){.stream_bytes = 64 << 20, .idle_ms = 60});
    struct client slow = open_stream(GET("/stream"));
    httpd_stream_set_on_gone(stream, on_gone, &gone);
    for (int i = 0; i < 16; i++)
        write_stream((struct str){much, sizeof much});
    for (int i = 0; i < 30000 && !gone_count; i++) {
        write_stream(STR(": keep-alive\n\n"));
        loop_run_once(loop, 5);
    }
    is_int(gone_count, 1,
           "a client that never reads is disconnected, although keep-alive bytes are written");
    httpd_stream_end(stream);
    client_hang_up(&slow);
    end();

    begin(&(struct httpd_options){.stream_bytes = 64 << 20});
    gone_count = 0;
    struct client well = open_stream(GET("/stream"));
    httpd_stream_set_on_gone(stream, on_gone, &gone);
    httpd_set_on_room(stream, on_room, &room);
    for (int i = 0; i < 16; i++)
        write_stream((struct str){much, sizeof much});
    loop_run_once(loop, 1);
    ok(httpd_stream_pending_bytes(stream) > 0 && !room, "the number of unread bytes is known");
    for (int i = 0; i < 20000 && !room; i++) {
        loop_run_once(loop, 1);
        client_read(&well);
    }
    ok(room && !httpd_stream_pending_bytes(stream), "room is reported when all bytes are read");
    httpd_stream_end(stream);
    for (int i = 0; i < 20000 && !well.closed && well.in.len < 16 << 20; i++) {
        loop_run_once(loop, 1);
        for (int reads = 0; reads < 32 && !well.closed; reads++)
            client_read(&well);
    }
    await_text(&well, "\r\n0\r\n\r\n");
    ok(!gone_count && !well.closed, "a client that reads gets all bytes");
    client_hang_up(&well);
    end();
}

/* Writes many times the limit on unread bytes to a slow client. */
struct flood {
    unsigned sent, most; /* chunks that were written; the largest number of unread bytes */
};

static void on_more(void *arg)
{
    static char chunk[16 << 10];
    struct flood *const f = arg;
    ok(!is_writing && f->sent <= 256, "room was reported after %u chunks", f->sent);
    for (; httpd_stream_pending_bytes(stream) < 64 << 10; f->sent++) {
        if (f->sent == 256) {
            httpd_stream_end(stream);
            stream = NULL;
            return;
        }
        memset(chunk, 'x', sizeof chunk);
        write_stream((struct str){chunk, sizeof chunk});
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
    struct client c = open_stream(GET("/stream"));
    is_int(httpd_stream_pending_bytes(stream) > 0, 1, "the head is unread");
    httpd_set_on_room(stream, on_more, &flood);
    for (int i = 0; i < 2000 && stream; i++) {
        loop_run_once(loop, 1);
        client_read(&c);
    }
    await_text(&c, "\r\n0\r\n\r\n");
    ok(!stream && !c.closed && c.in.len > 256 << 14, "the client gets all bytes");
    ok(flood.most > 64 << 10 && flood.most <= 128 << 10, "at most %u bytes are unread", flood.most);
    client_hang_up(&c);
    end();
}

/* A single write is accepted whatever its size: the writer waits for room before the next one. */
static void test_big(void)
{
    const size_t size = (size_t)16 << 20;
    char *const big = malloc(size);
    memset(big, 'x', size);
    begin(&(struct httpd_options){.stream_bytes = 64 << 10});
    struct client c = open_stream(GET("/stream"));
    bool gone = false;
    httpd_stream_set_on_gone(stream, on_gone, &gone);
    write_stream((struct str){big, size});
    loop_run_once(loop, 1);
    httpd_stream_keep_alive(stream, STR(": alive\n"));
    for (int i = 0; i < 20000 && !gone && c.in.len < size; i++) {
        loop_run_once(loop, 1);
        for (int reads = 0; reads < 32 && !c.closed; reads++)
            client_read(&c);
    }
    ok(!gone && c.in.len > size, "a single write of 16 MiB arrives");
    ok(!strstr(c.in.p, ": alive"), "a client with unread bytes gets no keep-alive bytes");
    httpd_stream_keep_alive(stream, STR(": alive\n"));
    await_text(&c, ": alive");
    ok(!gone, "a client without unread bytes gets keep-alive bytes");
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
    struct client idle = send_request(GET("/headers"));
    client_await(&idle, 1);
    struct client quiet = open_stream(GET("/stream"));
    httpd_stream_set_on_gone(stream, on_gone, &gone);
    await_text(&quiet, "\r\n\r\n");
    struct httpd_stream *const first = stream;
    struct client busy = open_stream(GET("/stream"));
    write_stream(STR("data: last\n"));
    struct client half = send_request("GET /headers HTTP/1.1\r\nHo");
    run_loop(3);
    struct client waits = send_held_request(GET("/held"));
    httpd_drain_begin(server, 20000, on_drained, &at);
    const int64_t began = clock_mono_ms();
    await_gone(1);
    ok(gone && !drained, "the drain reports the client of a silent stream as gone");
    httpd_stream_end(first);
    client_await_end(&quiet);
    has_str(quiet.in.p, "\r\n0\r\n\r\n", "the silent stream ends completely");
    client_await_end(&busy);
    has_str(busy.in.p, "\r\nb\r\ndata: last\n\r\n0\r\n\r\n",
            "bytes that were written before are sent");
    client_await_end(&idle);
    ok(idle.closed && client_count_answers(&idle) == 1, "an idle connection is closed");
    static const char rest[] = "st: localhost\r\n\r\n";
    client_send(&half, rest, sizeof rest - 1);
    client_await_end(&half);
    ok(half.closed && strstr(half.in.p, "HTTP/1.1 503 ") &&
           strstr(half.in.p, "\r\nConnection: close\r\n"),
       "a request that is completed during the drain is refused");
    ok(strstr(half.in.p, "\"code\":\"shutting_down\"") &&
           strstr(half.in.p, "\r\nRetry-After: 5\r\n"),
       "the error object has the reason, and the response says when to try again");
    client_await_end(&waits);
    ok(waits.closed && strstr(waits.in.p, "HTTP/1.1 503 "),
       "a request that is not answered gets 503");
    has_str(waits.in.p, "\"code\":\"shutting_down\"", "the error object has the reason");
    httpd_answer(held, 200, NULL, STR("late\n"));
    struct client *const all[] = {&idle, &quiet, &busy, &half, &waits};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        client_hang_up(all[i]);
    for (int i = 0; i < 4000 && !drained; i++)
        loop_run_once(loop, 5);
    ok(drained && at - began < 20000, "the drain ends: %d ms", (int)(at - began));
    httpd_stream_end(stream);
    end();
}

static void test_free(void)
{
    bool gone = false;
    begin(&(struct httpd_options){0});
    struct client c = open_stream(GET("/stream"));
    httpd_stream_set_on_gone(stream, on_gone, &gone);
    write_stream(STR("one\n"));
    end();
    run_loop(3);
    ok(!gone && httpd_stream_is_gone(stream), "a server that is freed calls no callback");
    write_stream(STR("two\n"));
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
    struct client c = send_held_request(GET("/held"));
    httpd_set_on_gone(held, on_gone_answer, &gone);
    client_await_end(&c);
    ok(strstr(c.in.p, "503") && gone && !held, "a request whose deadline has passed is notified");
    client_hang_up(&c);
    c = send_held_request(GET("/patient"));
    httpd_set_on_gone(held, on_gone_answer, &gone);
    run_loop(60);
    is_int(gone_count, 1, "a route without a deadline waits longer");
    httpd_answer(held, 200, NULL, STR("done\n"));
    client_await(&c, 1);
    has_str(c.in.p, "done\n", "the request without a deadline is answered");
    client_hang_up(&c);
    run_loop(3);
    is_int(gone_count, 1, "an answered request is not notified");
    c = send_held_request(GET("/patient"));
    httpd_set_on_gone(held, on_gone_answer, &gone);
    client_hang_up(&c);
    await_gone(2);
    ok(gone_count == 2 && !held,
       "a client that closes the connection while its request waits is notified");
    c = send_held_request(GET("/patient"));
    httpd_set_on_gone(held, on_gone, &gone);
    httpd_set_on_gone(held, NULL, NULL);
    client_hang_up(&c);
    for (int i = 0; i < 2000 && !held->gone; i++)
        loop_run_once(loop, 5);
    stream = httpd_stream_begin(held, 200, EVENTS, NULL, 0);
    ok(httpd_stream_is_gone(stream) && gone_count == 2,
       "a stream that begins after its client is gone counts as gone");
    httpd_stream_set_on_gone(stream, on_gone, &gone);
    await_gone(3);
    is_int(gone_count, 3, "the loss of its client is notified");
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
    test_slow_readers();
    test_pace();
    test_big();
    test_drain();
    test_free();
    test_request_gone();
    loop_free(loop);
    return 0;
}
