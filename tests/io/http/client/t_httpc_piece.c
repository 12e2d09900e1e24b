/* SPDX-License-Identifier: MIT
 * Tests of response bodies that are passed to the caller in pieces. */
#include "io/http/client/httpc.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes/buf.h"
#include "fake/httpd.h"
#include "tap/tap.h"

static struct {
    struct buf pieces, body; /* passed in pieces; kept in memory */
    char type[64];
    bool take, done;
    int status;
    enum httpc_outcome outcome;
} got;

static bool on_piece(void *arg, const struct httpc_reply *head, struct str bytes)
{
    (void)arg;
    for (size_t i = 0; i < head->header_count; i++)
        if (strcmp(head->headers[i].name, "content-type") == 0)
            snprintf(got.type, sizeof got.type, "%s", head->headers[i].value);
    buf_add(&got.pieces, bytes.p, bytes.len);
    return got.take && head->status == 200;
}

static void on_reply(void *arg, const struct httpc_reply *r)
{
    (void)arg;
    got.done = true;
    got.status = r->status;
    got.outcome = r->outcome;
    buf_reset(&got.body);
    buf_add(&got.body, r->body.p, r->body.len);
}

static void run(struct loop *loop, struct httpc *http, int port, bool take)
{
    char url[64];
    snprintf(url, sizeof url, "http://127.0.0.1:%d/", port);
    const struct httpc_request r = {
        .method = "GET", .url = url, .flags = HTTPC_LOOPBACK, .piece = on_piece};
    buf_reset(&got.pieces);
    got.done = false;
    got.take = take;
    httpc_start(http, &r, on_reply, NULL);
    for (int rounds = 0; !got.done && rounds < 20000; rounds++)
        loop_run_once(loop, 1000);
}

int main(void)
{
    static const struct httpd_step steps[] = {
        {HTTPD_REPLY, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                      "Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n4\r\n you\r\n0\r\n\r\n"},
        {HTTPD_REPLY, "HTTP/1.1 404 No\r\nContent-Length: 4\r\n\r\ngone"},
        {HTTPD_REPLY, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"},
    };
    plan_lazy();
    struct loop *const loop = loop_new();
    struct httpc *const http = httpc_new(loop, NULL);
    struct httpd *const server = httpd_start(steps, 3);
    run(loop, http, httpd_port(server), true);
    is_str(got.pieces.p, "hi you", "the body is passed in pieces");
    is_str(got.type, "text/event-stream", "a piece comes with the headers of the response");
    ok(got.outcome == HTTPC_OK && got.body.len == 0, "the body is not kept in memory");
    run(loop, http, httpd_port(server), true);
    ok(got.status == 404 && got.pieces.len == 0, "the body of a refusal is not passed in pieces");
    is_str(got.body.p, "gone", "the body of a refusal is kept in memory");
    run(loop, http, httpd_port(server), false);
    is_int(got.outcome, HTTPC_AMBIGUOUS, "the caller ends the transfer");
    httpd_stop(server);
    httpc_free(http);
    loop_free(loop);
    buf_fini(&got.pieces);
    buf_fini(&got.body);
    return 0;
}
