/* SPDX-License-Identifier: MIT
 * Tests of the outbox with requests that are not stored: order, verdicts, dropped requests,
 * options, files. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/sys/clock.h"
#include "base/sys/log.h"
#include "plugin/post_kit.h"
#include "tap/tap.h"

#define URL "{option:base}/m"
#define SLOW "HTTP/1.1 429 Slow\r\nContent-Length: 8\r\n\r\nwait 80 "

static struct kit k;

static const char *results(void)
{
    return k.told.len ? k.told.p : "";
}

static const char *request(unsigned i)
{
    return httpd_request(k.server, i);
}

static void test_lane(void)
{
    static const struct httpd_step steps[] = {
        {HTTPD_REPLY, KIT_OK}, {HTTPD_REPLY, KIT_OK}, {HTTPD_REPLY, KIT_OK}, {HTTPD_REPLY, KIT_OK}};
    static const struct tc_header headers[] = {{"Authorization", "Bearer {option:token}"},
                                               {"X-Two", "{option:token}/{option:token}"}};
    kit_begin(&k, steps, 4);
    KIT_SEND(&k, BATCH_NOTHING,
             TC_HTTP(.url = URL, .body = "{1}", .lane = "a", .priority = TC_P_NOTICE, .tag = "n"),
             TC_HTTP(.url = URL, .body = "{2}", .lane = "a", .priority = TC_P_LIVE, .key = "m",
                     .tag = "e1"),
             TC_HTTP(.url = URL, .body = "{3}", .lane = "a", .priority = TC_P_LIVE, .key = "m",
                     .tag = "e2"),
             TC_HTTP(.url = URL, .body = "{4}", .lane = "a", .tag = "f1", .headers = headers,
                     .header_count = 2),
             TC_HTTP(.url = "{option:slashed}r", .body = "{5}", .lane = "a",
                     .priority = TC_P_REQUEST, .tag = "r"),
             TC_HTTP(.url = "{option:slashed}/m", .body = "{6}", .lane = "a", .tag = "f2",
                     .method = "PUT"));
    ok(outbox_count_pending(k.outbox) == 6 && outbox_read_stats(k.outbox).waiting == 6,
       "six requests are pending");
    kit_run_idle(&k);
    is_str(results(),
           "e1 dropped 0 0 last\ne2 dropped 0 0 last\nf1 ok 200 1\nf2 ok 200 1\nr ok 200 1\n"
           "n ok 200 1\n",
           "finals are sent first, older edits are dropped, and each request has one result");
    has_str(request(0), "\r\nAuthorization: Bearer " CANARY "\r\n",
            "the value of an option is inserted into a header");
    has_str(request(0), "\r\nX-Two: " CANARY "/" CANARY "\r\n", "a value is inserted twice");
    has_str(request(0), "Content-Type: application/json; charset=utf-8", "JSON");
    has_str(request(1), "PUT /m ",
            "the method, and the value of an option in the URL with one slash");
    has_str(request(2), "POST //r ", "the value of an option without a path is not changed");
    has_str(request(1), "{6}", "the body of the request");
    kit_end(&k);
}

static void test_basic_authentication(void)
{
    static const struct httpd_step steps[] = {{HTTPD_REPLY, KIT_OK}, {HTTPD_REPLY, KIT_OK}};
    static const struct tc_header headers[] = {{"Authorization", "Basic {base64:token:token}"},
                                               {"X-Unset", "a {option:unset}"},
                                               {"X-Half", "{base64:token:unset}"},
                                               {"X-One", "{base64:token}"}},
                                  broken[] = {{"X-Broken", "{base64:broken}"}},
                                  unknown[] = {{"X-Unknown", "a {option:nothing}"}};
    kit_begin(&k, steps, 1);
    KIT_SEND(&k, BATCH_NOTHING,
             TC_HTTP(.url = URL, .lane = "a", .tag = "x", .headers = headers, .header_count = 4));
    kit_run_idle(&k);
    has_str(request(0),
            "\r\nAuthorization: Basic "
            "Y2FuYXJ5LTAxMjM0NTY3ODktdG9rZW46Y2FuYXJ5LTAxMjM0NTY3ODktdG9rZW4=\r\n",
            "two options in Base64");
    has_str(request(0), "\r\nX-One: Y2FuYXJ5LTAxMjM0NTY3ODktdG9rZW4=\r\n", "one option in Base64");
    ok(!strstr(request(0), "X-Unset") && !strstr(request(0), "X-Half"),
       "headers of options without a value are left out");
    KIT_SEND(&k, BATCH_NOTHING,
             TC_HTTP(.url = URL, .lane = "a", .tag = "y", .headers = broken, .header_count = 1));
    kit_run_idle(&k);
    has_str(k.error, "option broken contains a line break",
            "a value with a line break is refused in a header");
    KIT_SEND(&k, BATCH_NOTHING,
             TC_HTTP(.url = URL, .lane = "a", .tag = "z", .headers = unknown, .header_count = 1));
    kit_run_idle(&k);
    has_str(k.error, "unknown option nothing", "a header with an unknown option is refused");
    kit_end(&k);
}

static void hold_scope(struct kit_call *call)
{
    int ms;
    if (call->reply->reply.status == 429 && sscanf(call->reply->reply.body, "wait %d", &ms) == 1)
        call->verdict = (struct tc_verdict){
            .next = TC_NEXT_AGAIN,
            .hold_ms = ms,
            .scope = (enum tc_scope)(call->reply->reply.tag[0] - '0'),
        };
}

/* Request a (lane 1, rate 0 of the instance) must wait; b (lane 2, the same rate) and c (lane 3, no
 * rate) follow. The scope decides which of them wait, too. */
static void test_scope(enum tc_scope scope, bool b_waits, bool c_waits)
{
    static const struct tc_rate rates[] = {{.count = 1000, .burst = 100, .interval_ms = 1000}, {0}};
    static const struct httpd_step steps[] = {
        {HTTPD_REPLY, SLOW}, {HTTPD_REPLY, KIT_OK}, {HTTPD_REPLY, KIT_OK}, {HTTPD_REPLY, KIT_OK}};
    const char tag[] = {(char)('0' + scope), '\0'};
    k.rates = rates;
    k.on_reply = hold_scope;
    kit_begin(&k, steps, 4);
    KIT_SEND(&k, BATCH_NOTHING,
             TC_HTTP(.url = URL, .body = "{a}", .lane = "1", .rates = 1, .tag = tag));
    kit_run_replies(&k, 1);
    loop_run_once(k.loop, 0);
    const int64_t begun = clock_mono_ms();
    KIT_SEND(&k, BATCH_NOTHING, TC_HTTP(.url = URL, .body = "{b}", .lane = "2", .rates = 1),
             TC_HTTP(.url = URL, .body = "{c}", .lane = "3"));
    kit_run_idle(&k);
    const int64_t waited = clock_mono_ms() - begun;
    unsigned place[3] = {0};
    for (unsigned i = 1; i < 4; i++)
        for (unsigned j = 0; j < 3; j++)
            if (strstr(request(i), (const char *[]){"{a}", "{b}", "{c}"}[j]))
                place[j] = i;
    ok(place[0] && place[1] && place[2], "scope %u: all requests were sent", scope);
    ok(waited >= 70, "scope %u: a waits as long as requested", scope);
    ok(b_waits || place[1] < place[0], "scope %u: b does not wait", scope);
    ok(c_waits || place[2] < place[0], "scope %u: c does not wait", scope);
    if (b_waits)
        ok(place[2] < place[1] || c_waits, "scope %u: b waits", scope);
    kit_end(&k);
}

/* The request succeeds, and the service reports that the quota is used up. */
static void report_quota(struct kit_call *call)
{
    call->verdict.hold_ms = strcmp(call->reply->reply.tag, "a") == 0 ? 80 : 0;
}

static void test_hold_after_done(void)
{
    static const struct httpd_step steps[] = {
        {HTTPD_REPLY, KIT_OK}, {HTTPD_REPLY, KIT_OK}, {HTTPD_REPLY, KIT_OK}};
    k.on_reply = report_quota;
    kit_begin(&k, steps, 3);
    KIT_SEND(&k, BATCH_NOTHING, TC_HTTP(.url = URL, .body = "{a}", .lane = "1", .tag = "a"));
    kit_run_replies(&k, 1);
    const int64_t begun = clock_mono_ms();
    KIT_SEND(&k, BATCH_NOTHING, TC_HTTP(.url = URL, .body = "{b}", .lane = "1", .tag = "b"),
             TC_HTTP(.url = URL, .body = "{c}", .lane = "2", .tag = "c"));
    kit_run_idle(&k);
    is_str(results(), "a ok 200 1\nc ok 200 1\nb ok 200 1\n",
           "a successful request delays the next one of its lane, and no other lane");
    ok(clock_mono_ms() - begun >= 70, "the delay is that of the plugin");
    kit_end(&k);
}

static void note_headers(struct kit_call *call)
{
    const struct tc_reply *const r = &call->reply->reply;
    for (size_t i = 0; i < r->header_count; i++)
        buf_printf(&k.told, " %s=%s\n", r->headers[i].name, r->headers[i].value);
}

static void test_headers(void)
{
    static const struct httpd_step steps[] = {
        {HTTPD_REPLY, "HTTP/1.1 100 Continue\r\nX-Early: 1\r\n\r\n"
                      "HTTP/1.1 200 OK\r\nX-RateLimit-Remaining:  0 \r\nX-Bad: \xff\r\n"
                      "X-Empty:\r\nContent-Length: 2\r\n\r\nhi"},
        {HTTPD_REPLY, KIT_STATUS("404 No", "X-Reason: none\r\n")},
        {HTTPD_RESET, NULL}};
    k.on_reply = note_headers;
    kit_begin(&k, steps, 3);
    for (int i = 0; i < 3; i++)
        KIT_SEND(&k, BATCH_NOTHING, TC_HTTP(.url = URL, .body = "{a}", .lane = "1", .tag = "a"));
    kit_run_idle(&k);
    is_str(results(),
           "a ok 200 1\n x-ratelimit-remaining=0\n x-empty=\n content-length=2\n"
           "a rejected 404 1\n x-reason=none\n content-length=0\na ambiguous 0 1 doubt\n",
           "the plugin gets the headers of the last response, in lower case, except those that are "
           "not UTF-8");
    kit_end(&k);
}

static void test_many_headers(void)
{
    CLEANUP_BUF struct buf reply = {0};
    buf_add_str(&reply, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n");
    for (int i = 0; i < 100; i++)
        buf_printf(&reply, "X-%d: %0700d\r\n", i, i);
    buf_add_str(&reply, "\r\n");
    const struct httpd_step steps[] = {{HTTPD_REPLY, reply.p}};
    k.on_reply = note_headers;
    kit_begin(&k, steps, 1);
    KIT_SEND(&k, BATCH_NOTHING, TC_HTTP(.url = URL, .tag = "a"));
    kit_run_idle(&k);
    ok(strstr(results(), " x-22=") && !strstr(results(), " x-23="),
       "the plugin gets at most 16 KiB of headers");
    kit_end(&k);
}

/* The lane waits for the verdict of the plugin; another lane does not. */
static void hold_verdict(struct kit_call *call)
{
    call->is_held = strcmp(call->reply->reply.tag, "first") == 0;
}

static void test_thinking(void)
{
    static const struct httpd_step steps[] = {
        {HTTPD_REPLY, KIT_OK}, {HTTPD_REPLY, KIT_OK}, {HTTPD_REPLY, KIT_OK}};
    k.on_reply = hold_verdict;
    kit_begin(&k, steps, 3);
    KIT_SEND(&k, BATCH_NOTHING, TC_HTTP(.url = URL, .body = "{1}", .lane = "a", .tag = "first"),
             TC_HTTP(.url = URL, .body = "{2}", .lane = "a", .tag = "second"),
             TC_HTTP(.url = URL, .body = "{3}", .tag = "lone"));
    kit_run_replies(&k, 2);
    loop_run_once(k.loop, 5);
    ok(strstr(results(), "first ok") && strstr(results(), "lone ok") &&
           !strstr(results(), "second"),
       "the lane waits for the verdict, and a request without a lane does not");
    is_int(httpd_requests(k.server), 2, "the second request is not sent");
    is_int((long long)outbox_read_stats(k.outbox).in_flight, 1,
           "one request is in flight until the verdict");
    kit_release(&k);
    kit_run_idle(&k);
    has_str(results(), "second ok", "the second request is sent after the verdict");
    kit_end(&k);
}

/* A refused formatted text is replaced by a plain one, which is sent before the waiting requests.
 * */
static void fall_back(struct kit_call *call)
{
    if (call->reply->reply.outcome != TC_REJECTED)
        return;
    kit_reply_send(call, TC_HTTP(.url = URL, .body = "{plain1}", .lane = "a", .tag = "p1",
                                 .flags = TC_DURABLE));
    kit_reply_send(call, TC_HTTP(.url = URL, .body = "{plain2}", .lane = "a", .tag = "p2",
                                 .flags = TC_DURABLE));
    kit_reply_send(call, TC_HTTP(.url = URL, .body = "{loose}", .lane = "a", .tag = "l"));
    ok(call->verdict.next == TC_NEXT_FAIL, "the verdict of the host on a refusal is to give up");
}

static void test_replacement(void)
{
    static const struct httpd_step steps[] = {{HTTPD_REPLY, KIT_STATUS("400 Bad", "")},
                                              {HTTPD_REPLY, KIT_OK},
                                              {HTTPD_REPLY, KIT_OK},
                                              {HTTPD_REPLY, KIT_OK},
                                              {HTTPD_REPLY, KIT_OK}};
    k.on_reply = fall_back;
    kit_begin(&k, steps, 5);
    KIT_SEND(&k, BATCH_NOTHING,
             TC_HTTP(.url = URL, .body = "{rich}", .lane = "a", .tag = "r", .flags = TC_DURABLE),
             TC_HTTP(.url = URL, .body = "{next}", .lane = "a", .tag = "n", .flags = TC_DURABLE));
    kit_run_idle(&k);
    is_str(results(), "r rejected 400 1\np1 ok 200 1\np2 ok 200 1\nn ok 200 1\nl ok 200 1\n",
           "a replacement is sent in the place of its request, and another new request at the end");
    kit_end(&k);
}

static void test_ambiguous(void)
{
    static const struct httpd_step steps[] = {{HTTPD_RESET, NULL},
                                              {HTTPD_RESET, NULL},
                                              {HTTPD_RESET, NULL},
                                              {HTTPD_RESET, NULL},
                                              {HTTPD_REPLY, KIT_OK}};
    kit_begin(&k, steps, 5);
    KIT_SEND(&k, BATCH_NOTHING, TC_HTTP(.url = URL, .body = "{}", .lane = "a", .tag = "create"));
    kit_run_idle(&k);
    is_str(results(), "create ambiguous 0 1 doubt\n",
           "a request that was possibly executed is not sent again");
    buf_reset(&k.told);
    KIT_SEND(&k, BATCH_NOTHING,
             TC_HTTP(.url = URL, .body = "{}", .lane = "a", .tag = "durable", .flags = TC_DURABLE));
    kit_run_idle(&k);
    is_str(results(), "durable ambiguous 0 1 doubt\ndurable ambiguous 0 2 doubt\n",
           "a durable request in doubt is sent once more, and no third time");
    is_int((long long)outbox_read_stats(k.outbox).dead, 1,
           "a durable request that is given up is counted");
    buf_reset(&k.told);
    KIT_SEND(&k, BATCH_NOTHING,
             TC_HTTP(.url = URL, .body = "{}", .lane = "a", .tag = "edit", .flags = TC_IDEMPOTENT));
    kit_run_idle(&k);
    is_str(results(), "edit ambiguous 0 1 doubt\nedit ok 200 2 doubt\n",
           "an idempotent request in doubt is sent until it succeeds");
    kit_end(&k);
}

static void test_refused(void)
{
    static const struct {
        const char *url, *error;
        uint32_t flags;
    } cases[] = {
        {"{option:base}/{option:nothing}", "unknown option nothing", 0},
        {"{option:base}/{option:unset}", "option unset is not set", 0},
        {"{option:base}/{option:broken}", "option broken contains a line break", 0},
        {"{option:base}/{option:token", "unterminated placeholder", 0},
        {"http://127.0.0.1:1/", "http: is allowed for a configured loopback address only", 0},
        {"http://example.org/", "http: is allowed for a configured", 0},
        {"{option:base}@example.org/", "user name or password", 0},
        {"{option:base}/m", "no directory for files", TC_SAVE},
    };
    kit_begin(&k, NULL, 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        buf_reset(&k.told);
        KIT_SEND(&k, BATCH_NOTHING,
                 TC_HTTP(.url = cases[i].url, .lane = "a", .tag = "x", .flags = cases[i].flags));
        kit_run_idle(&k);
        has_str(results(), "x rejected 0 ", "%s: refused by the host", cases[i].url);
        has_str(k.error, cases[i].error, "the error names the reason");
        ok(!strstr(k.error, CANARY), "the error contains no secret");
    }
    kit_end(&k);
}

static void test_expiry(void)
{
    static const struct httpd_step steps[] = {{HTTPD_SILENT, NULL}};
    kit_begin(&k, steps, 1);
    KIT_SEND(
        &k, BATCH_NOTHING, TC_HTTP(.url = URL, .lane = "a", .tag = "now", .timeout_ms = 150),
        TC_HTTP(.url = URL, .lane = "a", .tag = "late", .max_age_ms = 20, .flags = TC_DURABLE));
    kit_run_idle(&k);
    is_str(results(), "late dropped 0 0 last\nnow ambiguous 0 1 doubt\n",
           "an expired request is not sent");
    kit_end(&k);
}

/* Failed connections to a service that is down are not reported before the deadline. */
static void test_unreachable(void)
{
    kit_begin(&k, NULL, 0);
    httpd_stop(k.server);
    k.server = httpd_start(NULL, 0); /* another port; nobody listens on that of the option */
    KIT_SEND(&k, BATCH_NOTHING, TC_HTTP(.url = URL, .lane = "a", .tag = "x", .max_age_ms = 100));
    kit_run_idle(&k);
    ok(strncmp(results(), "x dropped 0 ", 12) == 0 && k.replies == 1,
       "failed connections are not reported, and the expiry is");
    kit_end(&k);
}

static void test_flood(void)
{
    enum { MANY = 4200 };
    kit_begin(&k, NULL, 0);
    const struct tc_http *http[MANY];
    const struct tc_http one = {
        .size = sizeof one, .url = URL, .lane = "a", .tag = "x", .delay_ms = 3600 * 1000};
    for (size_t i = 0; i < MANY; i++)
        http[i] = &one;
    kit_send(&k, BATCH_NOTHING, http, MANY);
    kit_run_replies(&k, MANY - 4096);
    loop_run_once(k.loop, 5);
    is_int(k.replies, MANY - 4096, "requests above the limit are dropped");
    is_int((long long)outbox_count_pending(k.outbox), 4096, "requests up to the limit wait");
    kit_end(&k);
}

static void test_turns(void)
{
    static const struct httpd_step steps[] = {
        {HTTPD_REPLY, KIT_OK}, {HTTPD_REPLY, KIT_OK}, {HTTPD_REPLY, KIT_OK}, {HTTPD_REPLY, KIT_OK}};
    kit_begin(&k, steps, 4);
    kit_send_of(&k, "", BATCH_NOTHING, (const struct tc_http *[]){TC_HTTP(.url = URL, .tag = "l")},
                1);
    kit_run_idle(&k);
    is_str(results(), "l ok 200 1\n", "the reply to a request of the lobby arrives");
    ok(k.handle == NULL, "the reply has no turn");
    /* on_frame of the lobby sends for a turn, which gets the reply. */
    struct callback_batch *const mixed = xcalloc(1, sizeof *mixed);
    *mixed = (struct callback_batch){.turn = xstrdup("")};
    kit_add(mixed, "t", TC_HTTP(.url = URL, .tag = "mixed"));
    kit_batch(&k, mixed);
    kit_run_idle(&k);
    ok(k.handle == &k, "a reply goes to the turn of its request, whichever callback has sent it");
    struct callback_batch *const last = xcalloc(1, sizeof *last);
    *last = (struct callback_batch){.turn = xstrdup("t"), .over = true};
    KIT_SEND(&k, BATCH_NOTHING, TC_HTTP(.url = URL, .tag = "t"));
    kit_batch(&k, last);
    kit_run_idle(&k);
    has_str(results(), "t ok 200 1\n", "a turn that has ended gets its reply");
    KIT_SEND(&k, BATCH_NOTHING, TC_HTTP(.url = URL, .tag = "gone"));
    kit_run_idle(&k);
    ok(!strstr(results(), "gone") && httpd_requests(k.server) == 4,
       "the reply of a closed turn is dropped, and its request is sent");
    kit_end(&k);
}

/* The kit has opened the turn "t" with the handle &k. Its channel opens another one with that id,
 * before the end of the first arrives. */
static void test_same_id(void)
{
    static const struct httpd_step steps[] = {{HTTPD_REPLY, KIT_OK}};
    static int newer;
    kit_begin(&k, steps, 1);
    outbox_open_turn(k.outbox, "t", &newer);
    struct callback_batch *const last = xcalloc(1, sizeof *last);
    *last = (struct callback_batch){.turn = xstrdup("t"), .over = true, .ending = &k};
    kit_batch(&k, last);
    KIT_SEND(&k, BATCH_NOTHING, TC_HTTP(.url = URL, .tag = "newer"));
    kit_run_idle(&k);
    is_str(results(), "newer ok 200 1\n",
           "the reply of a turn with the id of an ended one arrives");
    ok(k.handle == &newer, "the end of the older turn does not end the newer one");
    kit_end(&k);
}

static void keep_path(struct kit_call *call)
{
    snprintf(k.path, sizeof k.path, "%s", call->reply->reply.path ? call->reply->reply.path : "");
}

static void test_save(void)
{
    static const struct httpd_step steps[] = {
        {HTTPD_REPLY, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nimage"},
        {HTTPD_REPLY, "HTTP/1.1 404 No\r\nContent-Length: 4\r\n\r\ngone"}};
    char files[512];
    snprintf(files, sizeof files, "%s/made/files", tap_tmpdir());
    k.files = files;
    k.on_reply = keep_path;
    kit_begin(&k, steps, 2);
    KIT_SEND(&k, BATCH_NOTHING, TC_HTTP(.url = URL, .method = "GET", .flags = TC_SAVE));
    kit_run_idle(&k);
    has_str(k.path, files, "the response is saved in the folder");
    size_t len = 0;
    char *const bytes = tap_slurp(k.path, &len);
    is_mem(bytes, len, "image", 5, "the file contains the body");
    free(bytes);
    KIT_SEND(&k, BATCH_NOTHING, TC_HTTP(.url = URL, .method = "GET", .flags = TC_SAVE));
    kit_run_idle(&k);
    is_str(k.path, "", "a refusal is not saved");
    kit_end(&k);
}

/* Frees an outbox with a request in flight, a waiting one, and one that waits for its verdict. */
static void test_free(void)
{
    static const struct httpd_step steps[] = {{HTTPD_SILENT, NULL}, {HTTPD_REPLY, KIT_OK}};
    k.on_reply = hold_verdict;
    kit_begin(&k, steps, 2);
    KIT_SEND(&k, BATCH_NOTHING, TC_HTTP(.url = URL, .lane = "a", .tag = "flying"));
    kit_run_requests(&k, 1);
    KIT_SEND(&k, BATCH_NOTHING, TC_HTTP(.url = URL, .lane = "b", .tag = "first"),
             TC_HTTP(.url = URL, .lane = "b", .tag = "waiting"));
    kit_run_replies(&k, 1);
    is_int((long long)outbox_count_pending(k.outbox), 3,
           "three requests are pending, each in another state");
    char *const before = xstrdup(results());
    struct outbox *const freed = k.outbox;
    k.outbox = NULL;
    outbox_free(freed); /* ASan checks for leaks */
    loop_run_once(k.loop, 0);
    is_str(results(), before, "requests of a freed outbox have no result");
    free(before);
    kit_end(&k);
    outbox_free(NULL);
}

int main(void)
{
    plan_lazy();
    log_add_secret(CANARY);
    test_lane();
    test_scope(TC_HOLD_LANE, false, false);
    test_scope(TC_HOLD_RATES, true, false);
    test_scope(TC_HOLD_INSTANCE, true, true);
    test_hold_after_done();
    test_basic_authentication();
    test_headers();
    test_many_headers();
    test_thinking();
    test_replacement();
    test_ambiguous();
    test_refused();
    test_expiry();
    test_unreachable();
    test_flood();
    test_turns();
    test_same_id();
    test_save();
    test_free();
    return 0;
}
