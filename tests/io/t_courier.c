/* SPDX-License-Identifier: MIT
 * Letters against a real connection: in order, held, tried again, ended once. */
#include "io/courier.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "fake/httpd.h"
#include "tap/tap.h"

#define OK_REPLY "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"
#define SLOW_REPLY "HTTP/1.1 429 Slow\r\nContent-Length: 9\r\n\r\nwait 60ms"
#define LIMITED_REPLY "HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\nratelimited"

static struct loop *loop;
static struct httpc *http;
static struct httpd *server;
static struct courier *courier;

struct got {
    unsigned ends;
    struct courier_result result; /* its reply: not kept */
    int status;
};

static void on_done(void *arg, const struct courier_result *result)
{
    struct got *const g = arg;
    g->ends++;
    g->result = *result;
    g->status = result->reply ? result->reply->status : 0;
    g->result.reply = NULL;
}

static void begin(const struct httpd_step *steps, size_t count)
{
    server = httpd_start(steps, count);
    courier = courier_new(loop, http, NULL, 0, 3);
}

static void end(const char *name)
{
    courier_free(courier);
    is_str(httpd_faults(server), "", "%s: clean requests", name);
    httpd_stop(server);
}

/* The strings die with this function: the courier has to have copied them. */
static void post(const char *lane, enum lane_priority priority, const char *text, unsigned flags,
                 struct courier_letter extra, struct got *g)
{
    char url[64], body[64], key[8] = "m1", conversation[16];
    snprintf(url, sizeof url, "http://127.0.0.1:%d/%s", httpd_port(server), text);
    snprintf(body, sizeof body, "{%s}", text);
    snprintf(conversation, sizeof conversation, "%s", lane);
    struct courier_letter letter = extra;
    letter.lane = conversation;
    letter.priority = priority;
    letter.key = priority == LANE_LIVE ? key : NULL;
    letter.done = on_done;
    letter.arg = g;
    letter.http = (struct httpc_request){.method = "POST",
                                         .url = url,
                                         .content_type = "application/json",
                                         .body = {body, strlen(body)},
                                         .flags = HTTPC_LOOPBACK | flags};
    courier_send(courier, &letter);
    memset(url, 'X', sizeof url - 1);
    memset(body, 'X', sizeof body);
}

static void wait_for(const struct got *g)
{
    for (int rounds = 0; !g->ends && rounds < 2000; rounds++)
        loop_once(loop, 100);
}

static void test_order(void)
{
    static const struct httpd_step steps[] = {
        {HTTPD_REPLY, OK_REPLY}, {HTTPD_REPLY, OK_REPLY}, {HTTPD_REPLY, OK_REPLY}};
    static const struct courier_letter plain;
    struct got notice = {0}, edit = {0}, newer = {0}, final1 = {0}, final2 = {0};
    begin(steps, 3);
    post("a", LANE_NOTICE, "notice", 0, plain, &notice);
    post("a", LANE_LIVE, "edit", 0, plain, &edit);
    post("a", LANE_LIVE, "newer", 0, plain, &newer);
    is_int(edit.result.end, LANES_REPLACED, "an edit is replaced by the newer");
    post("a", LANE_FINAL, "final1", 0, plain, &final1);
    is_int(newer.result.end, LANES_REPLACED, "and by the final");
    post("a", LANE_FINAL, "final2", 0, plain, &final2);
    wait_for(&notice);
    has_str(httpd_request(server, 0), "{final1}", "the finals first");
    has_str(httpd_request(server, 1), "{final2}", "in their order");
    has_str(httpd_request(server, 2), "{notice}", "then the notice");
    is_int(httpd_connections(server), 1, "one after the other over one connection");
    ok(edit.ends == 1 && newer.ends == 1 && final1.ends == 1 && final2.ends == 1 &&
           notice.ends == 1,
       "each ended once");
    ok(notice.result.end == LANES_DECIDED && notice.result.outcome == HTTPC_OK &&
           notice.status == 200,
       "with its answer");
    end("order");
}

static void read_wait(void *arg, const struct httpc_reply *reply, struct verdict *v)
{
    (void)arg;
    int ms;
    if (sscanf(reply->body.p, "wait %dms", &ms) == 1)
        *v = (struct verdict){.again = true, .hold_ms = ms, .scope = VERDICT_INSTANCE};
    if (str_is(reply->body, "ratelimited"))
        v->again = true;
}

static void test_reader(void)
{
    static const struct httpd_step steps[] = {{HTTPD_REPLY, SLOW_REPLY},
                                              {HTTPD_REPLY, OK_REPLY},
                                              {HTTPD_REPLY, OK_REPLY},
                                              {HTTPD_REPLY, LIMITED_REPLY},
                                              {HTTPD_REPLY, OK_REPLY}};
    static const struct courier_letter reader = {.read = read_wait};
    struct got a = {0}, b = {0}, c = {0};
    begin(steps, 5);
    post("a", LANE_FINAL, "a", 0, reader, &a);
    while (!httpd_requests(server))
        loop_once(loop, 10);
    loop_once(loop, 10);
    post("b", LANE_FINAL, "b", 0, reader, &b);
    wait_for(&a);
    wait_for(&b);
    ok(a.result.outcome == HTTPC_OK && a.result.attempts == 2, "a 429 that says it in its body");
    ok(b.result.outcome == HTTPC_OK && b.result.attempts == 1, "the other lane waited with it");
    post("c", LANE_FINAL, "c", 0, reader, &c);
    wait_for(&c);
    ok(c.result.outcome == HTTPC_OK && c.result.attempts == 2, "a 200 that means no");
    end("reader");
}

static void test_ambiguous(void)
{
    static const struct httpd_step steps[] = {
        {HTTPD_RESET, NULL}, {HTTPD_RESET, NULL}, {HTTPD_REPLY, OK_REPLY}};
    static const struct courier_letter plain;
    struct got create = {0}, edit = {0};
    begin(steps, 3);
    post("a", LANE_FINAL, "create", 0, plain, &create);
    wait_for(&create);
    ok(create.ends == 1 && create.result.outcome == HTTPC_AMBIGUOUS && create.result.attempts == 1,
       "a create whose answer is lost is not sent twice");
    post("a", LANE_FINAL, "edit", HTTPC_IDEMPOTENT, plain, &edit);
    wait_for(&edit);
    ok(edit.ends == 1 && edit.result.outcome == HTTPC_OK && edit.result.attempts == 2,
       "an edit is");
    end("ambiguous");
}

static void test_expiry(void)
{
    static const struct httpd_step steps[] = {{HTTPD_LEAVE, NULL}};
    static const struct courier_letter plain, hurried = {.max_age_ms = 1};
    struct got first = {0}, lost = {0}, edit = {0};
    begin(steps, 1);
    post("a", LANE_FINAL, "first", 0, plain, &first);
    wait_for(&first);
    post("a", LANE_FINAL, "lost", 0, (struct courier_letter){.max_age_ms = 300}, &lost);
    post("a", LANE_NOTICE, "late", 0, hurried, &edit);
    wait_for(&edit);
    ok(edit.result.end == LANES_EXPIRED && edit.result.attempts == 0, "too old before its turn");
    wait_for(&lost);
    is_int(lost.result.end, LANES_EXPIRED, "a service that has gone: until the deadline");
    ok(lost.result.attempts > 0 && lost.result.outcome == HTTPC_NOT_SENT, "tried, and not sent");
    end("expiry");
}

static void test_close(void)
{
    static const struct httpd_step steps[] = {{HTTPD_SILENT, NULL}};
    static const struct courier_letter plain;
    struct got flying = {0}, waiting = {0}, other = {0};
    begin(steps, 1);
    post("a", LANE_FINAL, "flying", HTTPC_IDEMPOTENT, plain, &flying);
    post("a", LANE_FINAL, "waiting", 0, plain, &waiting);
    for (int rounds = 0; !httpd_requests(server) && rounds < 2000; rounds++)
        loop_once(loop, 10);
    post("b", LANE_FINAL, "other", 0, plain, &other);
    end("close");
    ok(flying.ends == 1 && flying.result.outcome == HTTPC_AMBIGUOUS, "in flight: may have arrived");
    ok(waiting.ends == 1 && waiting.result.end == LANES_CLOSED &&
           waiting.result.outcome == HTTPC_NOT_SENT,
       "waiting: not sent");
    ok(other.ends == 1 && other.result.end == LANES_CLOSED, "those of other lanes, too");
}

int main(void)
{
    plan_lazy();
    loop = loop_new();
    http = httpc_new(loop, NULL);
    test_order();
    test_reader();
    test_ambiguous();
    test_expiry();
    test_close();
    httpc_free(http);
    loop_free(loop);
    return 0;
}
