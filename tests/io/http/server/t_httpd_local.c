/* SPDX-License-Identifier: MIT
 * Tests of requests without a connection: they get the responses and streams of routes, and a
 * client that was freed counts as gone. */
#include "io/http/server/httpd_local.h"

#include <stdlib.h>

#include "base/bytes/buf.h"
#include "tap/tap.h"

static struct loop *loop;
static struct httpd *server;
static struct httpd_request *held;
static struct httpd_stream *stream;
static unsigned gone, room;

static struct client {
    int status;
    struct buf body;
    bool ended;
} client;

static void on_answered(void *ctx, const struct httpd_answer *a)
{
    (void)ctx;
    client.status = a->status;
    buf_add(&client.body, a->body.p, a->body.len);
}

static void on_wrote(void *ctx, struct str bytes)
{
    (void)ctx;
    buf_add(&client.body, bytes.p, bytes.len);
}

static void on_ended(void *ctx)
{
    (void)ctx;
    client.ended = true;
}

static void on_gone(void *arg)
{
    (void)arg;
    gone++;
}

static void on_room(void *arg)
{
    (void)arg;
    room++;
}

static void on_held(void *arg, struct httpd_request *r)
{
    (void)arg;
    held = r;
    httpd_set_on_gone(r, on_gone, NULL);
}

static struct httpd_local *start_request(const char *path)
{
    static const struct httpd_local_client who = {
        .answered = on_answered, .wrote = on_wrote, .ended = on_ended};
    held = NULL;
    buf_fini(&client.body);
    client = (struct client){0};
    return httpd_local_request(server, path, STR("{\"a\":1}"), "ann", &who);
}

static void run_loop(void)
{
    for (int i = 0; i < 3; i++)
        loop_run_once(loop, 0);
}

static void test_answers(void)
{
    struct httpd_local *l = start_request("/held/below");
    ok(held && !client.status, "the route gets the request");
    is_str(held->path, "/held/below", "the request has the path");
    is_str(held->body.p, "{\"a\":1}", "the request has the body");
    is_str(held->key, "ann", "the request has the key of its user");
    is_str(httpd_find_header(held, "content-type"), "application/json",
           "the request has the type of JSON");
    httpd_answer(held, 418, NULL, STR("tea"));
    is_int(client.status, 418, "the client gets the status");
    is_str(client.body.p, "tea", "the client gets the body");
    httpd_local_free(l);
    l = start_request("/nowhere");
    is_int(client.status, 404, "a path without a route");
    httpd_local_free(l);
    l = start_request("/get");
    is_int(client.status, 404, "a route that does not accept POST");
    httpd_local_free(l);
}

static void test_stream(void)
{
    struct httpd_local *const l = start_request("/held/");
    stream = httpd_stream_begin(held, 200, "text/event-stream", NULL, 0);
    ok(!httpd_stream_is_gone(stream), "the client of a new stream is connected");
    httpd_stream_write(stream, STR("one "));
    httpd_stream_keep_alive(stream, STR(": alive\n\n"));
    httpd_stream_write(stream, STR("two"));
    is_str(client.body.p, "one two", "bytes are passed at once, and keep-alive bytes are dropped");
    httpd_local_set_pending_bytes(l, 7);
    is_int((long long)httpd_stream_pending_bytes(stream), 7,
           "the number of bytes that the client has not read");
    httpd_set_on_room(stream, on_room, NULL);
    run_loop();
    is_int(room, 0, "no room is reported while bytes are unread");
    httpd_local_set_pending_bytes(l, 0);
    run_loop();
    is_int(room, 1, "room is reported when all bytes are read");
    httpd_stream_end(stream);
    ok(client.ended, "the client learns of the end");
    httpd_local_free(l);
    run_loop();
    is_int(gone, 0, "a stream that has ended reports no lost client");
}

static void test_leaving(void)
{
    struct httpd_local *l = start_request("/held/");
    httpd_local_free(l);
    run_loop();
    ok(gone == 1 && held->gone, "a client that is freed before the response is reported as gone");
    httpd_answer(held, 200, NULL, STR("late"));
    is_int(client.status, 0, "the freed client gets no response");
    l = start_request("/held/");
    stream = httpd_stream_begin(held, 200, "text/event-stream", NULL, 0);
    httpd_stream_set_on_gone(stream, on_gone, NULL);
    httpd_local_free(l);
    run_loop();
    ok(gone == 2 && httpd_stream_is_gone(stream),
       "a client that is freed during a stream is reported as gone");
    httpd_stream_write(stream, STR("late"));
    httpd_stream_end(stream);
    ok(!client.body.len && !client.ended, "the freed client gets no bytes and no end");
}

static void on_drained(void *arg)
{
    (void)arg;
}

int main(void)
{
    struct tc_err err = {0};
    plan_lazy();
    loop = loop_new();
    server = httpd_new(loop, &(struct httpd_options){0}, &err);
    if (!server)
        bail("%s", err_format(&err));
    httpd_route(server, "/held/", HTTPD_POST, on_held, NULL);
    httpd_route(server, "/get", HTTPD_GET, on_held, NULL);
    test_answers();
    test_stream();
    test_leaving();
    httpd_drain_begin(server, 1000, on_drained, NULL);
    struct httpd_local *const l = start_request("/held/");
    is_int(client.status, 503, "a server that is shutting down refuses requests");
    httpd_local_free(l);
    httpd_free(server);
    loop_free(loop);
    buf_fini(&client.body);
    return 0;
}
