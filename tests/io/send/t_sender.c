/* SPDX-License-Identifier: MIT
 * Letters against a real connection: in order, held, tried again, ended once. */
#include "io/send/sender.h"

#include <stdio.h>
#include <string.h>

#include "base/sys/clock.h"
#include "fake/httpd.h"
#include "tap/tap.h"

#define OK_REPLY "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"
#define SLOW_REPLY "HTTP/1.1 429 Slow\r\nContent-Length: 9\r\n\r\nwait 60ms"
#define LIMITED_REPLY "HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\nratelimited"

static struct loop *loop;
static struct httpc *http;
static struct httpd *server;
static struct sender *courier;

/* One letter as its owner knows it. */
struct sent {
    char url[64], body[64];
    unsigned flags;
    void (*read)(const struct httpc_reply *reply, struct retry_decision *v);
    bool holds_start, holds_verdict; /* the answer is given by the test */
    struct send_item *parcel;        /* while it is */
    unsigned attempts, ends;
    enum send_result end;
    enum httpc_outcome outcome; /* of the last attempt */
    int status;
};

static void go(struct sent *g)
{
    char body[64];
    snprintf(body, sizeof body, "%s", g->body);
    const struct httpc_request request = {.method = "POST",
                                          .url = g->url,
                                          .content_type = "application/json",
                                          .body = {body, strlen(body)},
                                          .flags = HTTPC_LOOPBACK | g->flags};
    sender_start_attempt(g->parcel, &request);
    memset(body, 'X', sizeof body); /* it has to have been copied */
}

static void on_start(void *ctx, struct send_item *p, void *arg)
{
    (void)ctx;
    struct sent *const g = arg;
    g->parcel = p;
    if (!g->holds_start)
        go(g);
}

static void on_judge(void *ctx, struct send_item *p, void *arg, const struct httpc_reply *reply)
{
    (void)ctx;
    struct sent *const g = arg;
    struct retry_decision v = retry_policy_decide(reply, g->flags & HTTPC_IDEMPOTENT);
    g->attempts++;
    g->outcome = reply->outcome;
    g->status = reply->status;
    if (g->read && reply->status)
        g->read(reply, &v);
    if (!g->holds_verdict)
        sender_settle(p, &v);
}

static void on_ended(void *ctx, void *arg, enum send_result end)
{
    (void)ctx;
    struct sent *const g = arg;
    g->ends++;
    g->end = end;
}

static void begin_at_rate(const struct httpd_step *steps, size_t count,
                          const struct send_rate *rate)
{
    static const struct sender_callbacks owner = {on_start, on_judge, on_ended, NULL};
    server = httpd_start(steps, count);
    courier = sender_new(loop, http, rate, rate != NULL, 3, &owner);
}

static void begin(const struct httpd_step *steps, size_t count)
{
    begin_at_rate(steps, count, NULL);
}

static void end(const char *name)
{
    sender_free(courier);
    is_str(httpd_faults(server), "", "%s: clean requests", name);
    httpd_stop(server);
}

/* The strings die with this function: the courier has to have copied them. */
static void post_letter(const struct send_spec *like, const char *text, struct sent *g)
{
    char key[8] = "m1", conversation[16];
    snprintf(g->url, sizeof g->url, "http://127.0.0.1:%d/%s", httpd_port(server), text);
    snprintf(g->body, sizeof g->body, "{%s}", text);
    snprintf(conversation, sizeof conversation, "%s", like->lane ? like->lane : "");
    struct send_spec letter = *like;
    letter.lane = like->lane ? conversation : NULL;
    letter.key = like->priority == PRIORITY_LIVE ? key : NULL;
    letter.arg = g;
    sender_submit(courier, &letter);
    memset(key, 'X', sizeof key - 1);
    memset(conversation, 'X', sizeof conversation - 1);
}

static void post(const char *lane, enum send_priority priority, const char *text, struct sent *g)
{
    post_letter(&(struct send_spec){.lane = lane, .priority = priority}, text, g);
}

static void wait_for(const struct sent *g)
{
    for (int rounds = 0; !g->ends && rounds < 2000; rounds++)
        loop_run_once(loop, 100);
}

static void test_order(void)
{
    static const struct httpd_step steps[] = {
        {HTTPD_REPLY, OK_REPLY}, {HTTPD_REPLY, OK_REPLY}, {HTTPD_REPLY, OK_REPLY}};
    struct sent notice = {0}, edit = {0}, newer = {0}, final1 = {0}, final2 = {0};
    begin(steps, 3);
    post("a", PRIORITY_NOTICE, "notice", &notice);
    post("a", PRIORITY_LIVE, "edit", &edit);
    post("a", PRIORITY_LIVE, "newer", &newer);
    is_int(edit.end, SEND_REPLACED, "an edit is replaced by a newer one");
    post("a", PRIORITY_FINAL, "final1", &final1);
    is_int(newer.end, SEND_REPLACED, "an edit is replaced by a final");
    post("a", PRIORITY_FINAL, "final2", &final2);
    wait_for(&notice);
    has_str(httpd_request(server, 0), "{final1}", "the finals first");
    has_str(httpd_request(server, 1), "{final2}", "in their order");
    has_str(httpd_request(server, 2), "{notice}", "then the notice");
    is_int(httpd_count_connections(server), 1, "requests of a conversation use one connection");
    ok(edit.ends == 1 && newer.ends == 1 && final1.ends == 1 && final2.ends == 1 &&
           notice.ends == 1,
       "each request has ended once");
    ok(notice.end == SEND_DECIDED && notice.outcome == HTTPC_OK && notice.status == 200,
       "the request has its reply");
    end("order");
}

static void read_wait(const struct httpc_reply *reply, struct retry_decision *v)
{
    int ms;
    if (sscanf(reply->body.p, "wait %dms", &ms) == 1)
        *v = (struct retry_decision){.again = true, .hold_ms = ms, .scope = RETRY_INSTANCE};
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
    struct sent a = {.read = read_wait}, b = {.read = read_wait}, c = {.read = read_wait};
    begin(steps, 5);
    post("a", PRIORITY_FINAL, "a", &a);
    while (!httpd_requests(server))
        loop_run_once(loop, 10);
    loop_run_once(loop, 10);
    post("b", PRIORITY_FINAL, "b", &b);
    wait_for(&a);
    wait_for(&b);
    ok(a.outcome == HTTPC_OK && a.attempts == 2, "a 429 with the time in its body is observed");
    ok(b.outcome == HTTPC_OK && b.attempts == 1, "the other conversation waits, too");
    post("c", PRIORITY_FINAL, "c", &c);
    wait_for(&c);
    ok(c.outcome == HTTPC_OK && c.attempts == 2, "a 200 that is an error is repeated");
    end("reader");
}

static void test_ambiguous(void)
{
    static const struct httpd_step steps[] = {
        {HTTPD_RESET, NULL}, {HTTPD_RESET, NULL}, {HTTPD_REPLY, OK_REPLY}};
    struct sent create = {0}, edit = {.flags = HTTPC_IDEMPOTENT};
    begin(steps, 3);
    post("a", PRIORITY_FINAL, "create", &create);
    wait_for(&create);
    ok(create.ends == 1 && create.outcome == HTTPC_AMBIGUOUS && create.attempts == 1,
       "a creation whose reply is lost is not repeated");
    post("a", PRIORITY_FINAL, "edit", &edit);
    wait_for(&edit);
    ok(edit.ends == 1 && edit.outcome == HTTPC_OK && edit.attempts == 2,
       "an edit whose reply is lost is repeated");
    end("ambiguous");
}

static void test_expiry(void)
{
    static const struct httpd_step steps[] = {{HTTPD_LEAVE, NULL}};
    struct sent first = {0}, lost = {0}, edit = {0};
    begin(steps, 1);
    post("a", PRIORITY_FINAL, "first", &first);
    wait_for(&first);
    post_letter(&(struct send_spec){.lane = "a", .max_age_ms = 300}, "lost", &lost);
    post_letter(&(struct send_spec){.lane = "a", .priority = PRIORITY_NOTICE, .max_age_ms = 1},
                "late", &edit);
    wait_for(&edit);
    ok(edit.end == SEND_EXPIRED && edit.attempts == 0,
       "an edit that expires before its turn is not sent");
    wait_for(&lost);
    is_int(lost.end, SEND_EXPIRED, "a request to an unreachable service ends at its deadline");
    ok(lost.attempts > 0 && lost.outcome == HTTPC_NOT_SENT, "the request was tried, and not sent");
    end("expiry");
}

static void test_close(void)
{
    static const struct httpd_step steps[] = {{HTTPD_SILENT, NULL}};
    struct sent flying = {.flags = HTTPC_IDEMPOTENT}, waiting = {0}, other = {0};
    begin(steps, 1);
    post("a", PRIORITY_FINAL, "flying", &flying);
    post("a", PRIORITY_FINAL, "waiting", &waiting);
    for (int rounds = 0; !httpd_requests(server) && rounds < 2000; rounds++)
        loop_run_once(loop, 10);
    post("b", PRIORITY_FINAL, "other", &other);
    end("close");
    ok(flying.ends == 1 && flying.end == SEND_CLOSED, "a request in flight is cancelled");
    ok(waiting.ends == 1 && waiting.end == SEND_CLOSED && !waiting.attempts,
       "a waiting request is not sent");
    ok(other.ends == 1 && other.end == SEND_CLOSED, "requests of other conversations are not sent");
}

/* Its owner takes its time: the lane waits, others do not. */
static void test_later(void)
{
    static const struct httpd_step steps[] = {{HTTPD_REPLY, OK_REPLY},
                                              {HTTPD_REPLY, OK_REPLY},
                                              {HTTPD_REPLY, OK_REPLY},
                                              {HTTPD_REPLY, OK_REPLY},
                                              {HTTPD_REPLY, OK_REPLY}};
    struct sent first = {.holds_start = true, .holds_verdict = true}, second = {0}, other = {0};
    struct sent instead = {0}, lone = {0};
    begin(steps, 5);
    post("a", PRIORITY_FINAL, "first", &first);
    post("a", PRIORITY_FINAL, "second", &second);
    post("b", PRIORITY_FINAL, "other", &other);
    wait_for(&other);
    ok(first.parcel && !first.attempts && !second.parcel,
       "no request starts before its owner allows it");
    go(&first);
    while (httpd_requests(server) < 2)
        loop_run_once(loop, 10);
    post_letter(&(struct send_spec){0}, "lone", &lone);
    wait_for(&lone);
    ok(first.attempts == 1 && !first.ends && !second.parcel,
       "the conversation is busy until the decision");
    post_letter(&(struct send_spec){.lane = "a", .is_ahead = true}, "instead", &instead);
    sender_settle(first.parcel, &(struct retry_decision){.again = false});
    is_int(first.ends, 1, "the request ends with the decision");
    wait_for(&second);
    has_str(httpd_request(server, 3), "{instead}", "what takes its place goes before the others");
    has_str(httpd_request(server, 4), "{second}", "then those");
    end("later");
}

/* Its owner decides at its turn, without an attempt: that took nothing from those who go. */
static void test_spared(void)
{
    static const struct httpd_step steps[] = {{HTTPD_REPLY, OK_REPLY}};
    static const struct send_rate rate = {{.count = 1, .interval_ms = 3600000}, false};
    struct sent asks = {.holds_start = true}, goes = {0};
    begin_at_rate(steps, 1, &rate);
    post_letter(&(struct send_spec){.lane = "a", .rates = 1}, "asks", &asks);
    while (!asks.parcel)
        loop_run_once(loop, 10);
    post_letter(&(struct send_spec){.lane = "b", .rates = 1}, "goes", &goes);
    sender_settle(asks.parcel, &(struct retry_decision){.again = false});
    for (int rounds = 0; !goes.ends && rounds < 100; rounds++)
        loop_run_once(loop, 100);
    ok(asks.ends == 1 && goes.ends == 1 && goes.attempts == 1,
       "an attempt that counts towards no rate limit");
    end("spared");
}

static void test_times(void)
{
    static const struct httpd_step steps[] = {{HTTPD_REPLY, OK_REPLY}, {HTTPD_REPLY, OK_REPLY}};
    struct sent late = {0}, soon = {0};
    begin(steps, 2);
    const int64_t begun = clock_mono_ms();
    post_letter(&(struct send_spec){.delay_ms = 120}, "late", &late);
    post("a", PRIORITY_FINAL, "soon", &soon);
    wait_for(&late);
    ok(clock_mono_ms() - begun >= 120 && soon.ends,
       "the request waits until its time; others are sent meanwhile");
    end("times");
}

/* A service may count a request as late as when it answers: the pace of the lane counts from then.
 */
static void test_pace_from_answer(void)
{
    static const struct httpd_step steps[] = {{HTTPD_REPLY, OK_REPLY}, {HTTPD_REPLY, OK_REPLY}};
    static const struct send_rate rate = {{.count = 1, .interval_ms = 250}, true};
    struct sent slow = {.holds_verdict = true}, next = {.holds_start = true};
    begin_at_rate(steps, 2, &rate);
    post_letter(&(struct send_spec){.lane = "a", .rates = 1}, "slow", &slow);
    post_letter(&(struct send_spec){.lane = "a", .rates = 1}, "next", &next);
    const int64_t begun = clock_mono_ms();
    while (!slow.attempts || clock_mono_ms() - begun < 300)
        loop_run_once(loop, 10);
    const int64_t answered = clock_mono_ms();
    sender_settle(slow.parcel, &(struct retry_decision){.again = false});
    while (!next.parcel)
        loop_run_once(loop, 10);
    ok(clock_mono_ms() - answered >= 250, "the pace of a conversation is measured from the reply");
    go(&next);
    wait_for(&next);
    end("pace");
}

/* What waits on its owner when the courier ends. */
static void test_close_open(void)
{
    static const struct httpd_step steps[] = {{HTTPD_REPLY, OK_REPLY}};
    struct sent starts = {.holds_start = true}, thinks = {.holds_verdict = true};
    begin(steps, 1);
    post("a", PRIORITY_FINAL, "starts", &starts);
    post("b", PRIORITY_FINAL, "thinks", &thinks);
    for (int rounds = 0; rounds < 2000 && !thinks.attempts; rounds++)
        loop_run_once(loop, 10);
    ok(starts.parcel && thinks.attempts == 1,
       "one request waits for its start, one for its decision");
    end("close while the owner thinks");
    ok(starts.ends == 1 && starts.end == SEND_CLOSED, "the first request ends");
    ok(thinks.ends == 1 && thinks.end == SEND_CLOSED, "the second request ends");
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
    test_later();
    test_spared();
    test_times();
    test_pace_from_answer();
    test_close_open();
    httpc_free(http);
    loop_free(loop);
    return 0;
}
