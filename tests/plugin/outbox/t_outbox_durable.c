/* SPDX-License-Identifier: MIT
 * Tests of durable requests, which are stored before they are sent: over restarts of the host,
 * until their final result. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/sys/log.h"
#include "plugin/post_kit.h"
#include "tap/tap.h"

#define URL "{option:base}/m"

static struct kit k;
static char dir[600];

static const char *results(void)
{
    return k.told.len ? k.told.p : "";
}

static void begin(const struct httpd_step *steps, size_t count)
{
    static int n;
    snprintf(dir, sizeof dir, "%s/d%d", tap_tmpdir(), n++);
    k.dir = dir;
    kit_begin(&k, steps, count);
}

static void check_stored(const char *wanted, const char *name)
{
    CLEANUP_BUF struct buf list = {0};
    kit_list(&k, &list);
    is_str(list.p, wanted, "%s", name);
}

/* Ends the host normally, and compares the stored requests. */
static void end(const char *wanted, const char *name)
{
    kit_die(&k);
    check_stored(wanted, name);
    ok(!kit_disk_has(&k, CANARY), "%s: no secret is stored", name);
    k.dir = NULL;
    kit_begin(&k, NULL, 0);
    kit_end(&k);
}

static void test_done(void)
{
    static const struct httpd_step steps[] = {{HTTPD_REPLY, KIT_OK}, {HTTPD_REPLY, KIT_OK}};
    static const struct tc_header headers[] = {{"Authorization", "Bearer {option:token}"}};
    begin(steps, 2);
    KIT_SEND(&k, BATCH_NOTHING,
             TC_HTTP(.url = URL, .body = "{1}", .lane = "a", .tag = "1", .flags = TC_DURABLE,
                     .headers = headers, .header_count = 1),
             TC_HTTP(.url = URL, .body = "{2}", .lane = "a", .tag = "2"));
    ok(!k.replies && outbox_count_pending(k.outbox) == 1, "no request is sent before it is stored");
    kit_run_idle(&k);
    is_str(results(), "1 ok 200 1\n2 ok 200 1\n", "both requests are sent in order");
    has_str(httpd_request(k.server, 0), CANARY, "the request contains the secret");
    end("", "completed requests are deleted");
}

/* The positions of requests when the host is killed. */
static void test_waiting(void)
{
    static const struct httpd_step steps[] = {{HTTPD_REPLY, KIT_OK}, {HTTPD_REPLY, KIT_OK}};
    begin(NULL, 0);
    for (int i = 1; i < 3; i++)
        KIT_SEND(&k, BATCH_NOTHING,
                 TC_HTTP(.url = URL, .body = i == 1 ? "{1}" : "{2}", .lane = "a",
                         .tag = i == 1 ? "1" : "2", .flags = TC_DURABLE, .delay_ms = 60000));
    struct callback_batch *const memo = xcalloc(1, sizeof *memo);
    *memo = (struct callback_batch){.turn = xstrdup("t"), .memory = xstrdup("shown: 7")};
    kit_batch(&k, memo);
    while (outbox_read_stats(k.outbox).waiting < 2)
        loop_run_once(k.loop, 10);
    kit_die(&k);
    check_stored("request t a queued 0 0\nrequest t a queued 0 0\n", "both requests are stored");
    kit_begin(&k, steps, 2);
    is_str(k.opened.p, "t agent= conversation=- route=- letters=2 over=1 memory=shown: 7\n",
           "the turn of the requests is opened");
    ok(outbox_read_stats(k.outbox).waiting == 2, "the requests wait after the restart");
    end("request t a queued 0 0\nrequest t a queued 0 0\n",
        "the requests are stored after the restart");
}

static struct callback_batch *creating(uint32_t flags)
{
    struct callback_batch *const b = xcalloc(1, sizeof *b);
    *b = (struct callback_batch){.turn = xstrdup("t"), .memory = xstrdup("creating")};
    kit_add(b, "t",
            TC_HTTP(.url = URL, .body = "{live}", .lane = "a", .tag = "live", .priority = TC_P_LIVE,
                    .flags = flags));
    return b;
}

/* The arrival of the request shows that the memory is stored; the host is killed then. */
static void die_while_creating(const struct httpd_step *steps)
{
    kit_begin(&k, steps, 1);
    KIT_SEND(&k, BATCH_NOTHING,
             TC_HTTP(.url = URL, .lane = "b", .flags = TC_DURABLE, .delay_ms = 60000));
    while (outbox_read_stats(k.outbox).waiting < 1)
        loop_run_once(k.loop, 10);
    kit_batch(&k, creating(TC_AFTER_MEMORY));
    kit_run_requests(&k, 1);
    raise(SIGKILL);
}

static void test_after_memory(void)
{
    static const struct httpd_step silent[] = {{HTTPD_SILENT, NULL}},
                                   steps[] = {{HTTPD_REPLY, KIT_OK}, {HTTPD_REPLY, KIT_OK}};
    begin(steps, 2);
    kit_batch(&k, creating(0));
    is_int((long long)outbox_read_stats(k.outbox).waiting, 1,
           "a live request does not wait until the memory of its callback is stored");
    kit_run_idle(&k);
    kit_batch(&k, creating(TC_AFTER_MEMORY));
    is_int((long long)outbox_read_stats(k.outbox).waiting, 0,
           "a live request with TC_AFTER_MEMORY waits until the memory is stored");
    kit_run_idle(&k);
    is_str(results(), "live ok 200 1\nlive ok 200 1\n",
           "the request is sent when the memory is stored");
    struct callback_batch *const later = xcalloc(1, sizeof *later);
    *later = (struct callback_batch){.turn = xstrdup("t"), .memory = xstrdup("shown")};
    kit_batch(&k, later); /* its outcome is unknown when the outbox is freed */
    end("", "live requests are not stored");

    char crashed[620];
    snprintf(crashed, sizeof crashed, "%s-crash", dir);
    const pid_t child = fork();
    if (child == 0) {
        k = (struct kit){.dir = crashed};
        die_while_creating(silent);
    }
    int status = 0;
    waitpid(child, &status, 0);
    ok(WIFSIGNALED(status), "the host is killed when the request arrives");
    k.dir = crashed;
    kit_begin(&k, NULL, 0);
    has_str(k.opened.p, "memory=creating", "the turn has its memory after the restart");
    kit_end(&k);
    k.dir = NULL;
}

static void test_resumed(void)
{
    static const struct httpd_step steps[] = {{HTTPD_REPLY, KIT_OK}, {HTTPD_REPLY, KIT_OK}};
    begin(NULL, 0);
    KIT_SEND(&k, BATCH_NOTHING,
             TC_HTTP(.url = URL, .body = "{1}", .lane = "a", .tag = "1", .flags = TC_DURABLE,
                     .delay_ms = 20),
             TC_HTTP(.url = URL, .body = "{2}", .lane = "a", .tag = "2", .flags = TC_DURABLE));
    while (outbox_read_stats(k.outbox).waiting < 2)
        loop_run_once(k.loop, 10);
    kit_die(&k);
    kit_begin(&k, steps, 2);
    kit_run_idle(&k);
    is_str(results(), "1 ok 200 1\n2 ok 200 1\n",
           "after the restart the requests are sent in order");
    has_str(httpd_request(k.server, 0), "{1}", "the request has the same bytes");
    end("", "the sent requests are deleted");
}

static void test_in_flight(void)
{
    static const struct httpd_step silent[] = {{HTTPD_SILENT, NULL}};
    static const struct httpd_step steps[] = {{HTTPD_REPLY, KIT_OK}, {HTTPD_REPLY, KIT_OK}};
    begin(silent, 1);
    KIT_SEND(&k, BATCH_NOTHING,
             TC_HTTP(.url = URL, .body = "{1}", .lane = "a", .tag = "1", .flags = TC_DURABLE),
             TC_HTTP(.url = URL, .body = "{2}", .lane = "a", .tag = "2", .flags = TC_DURABLE));
    kit_run_requests(&k, 1);
    kit_die(&k);
    check_stored("request t a sending 1 0\nrequest t a queued 0 0\n",
                 "the attempt is stored before the request is sent");
    kit_begin(&k, steps, 2);
    kit_run_replies(&k, 1);
    is_str(results(), "1 ambiguous 0 1 doubt\n", "the plugin gets the request in doubt first");
    ok(httpd_requests(k.server) == 0, "no request is sent before the plugin has decided");
    has_str(k.error, "in flight when turncast or the connector stopped",
            "the plugin gets the reason");
    kit_run_idle(&k);
    is_str(results(), "1 ambiguous 0 1 doubt\n1 ok 200 2 doubt\n2 ok 200 1\n",
           "the request is sent again, and the next one after it");
    end("", "both requests are deleted");
}

/* The host keeps running, so the journal is not scanned for requests in flight. */
static void test_restart_in_flight(void)
{
    static const struct httpd_step steps[] = {
        {HTTPD_SILENT, NULL}, {HTTPD_REPLY, KIT_OK}, {HTTPD_REPLY, KIT_OK}};
    begin(steps, 3);
    KIT_SEND(&k, BATCH_NOTHING,
             TC_HTTP(.url = URL, .body = "{1}", .lane = "a", .tag = "1", .flags = TC_DURABLE),
             TC_HTTP(.url = URL, .body = "{2}", .lane = "a", .tag = "2", .flags = TC_DURABLE));
    kit_run_requests(&k, 1);
    kit_restart(&k);
    kit_run_replies(&k, 1);
    is_str(results(), "1 ambiguous 0 1 doubt\n",
           "a request that was in flight when the connector was restarted is in doubt");
    kit_run_idle(&k);
    is_str(results(), "1 ambiguous 0 1 doubt\n1 ok 200 2 doubt\n2 ok 200 1\n",
           "the request in doubt is sent again, and the next one after it");
    end("", "restarted: none is a dead letter");
}

/* The plugin replaces a request in doubt by an edit. */
static void edit_instead(struct kit_call *call)
{
    if (call->reply->reply.outcome != TC_AMBIGUOUS)
        return;
    call->verdict.next = TC_NEXT_FAIL;
    kit_reply_send(call, TC_HTTP(.url = URL, .body = "{edit}", .lane = "a", .tag = "edit",
                                 .flags = TC_DURABLE | TC_IDEMPOTENT));
}

static void test_in_doubt_replaced(void)
{
    static const struct httpd_step silent[] = {{HTTPD_SILENT, NULL}};
    static const struct httpd_step steps[] = {{HTTPD_REPLY, KIT_OK}, {HTTPD_REPLY, KIT_OK}};
    begin(silent, 1);
    KIT_SEND(&k, BATCH_NOTHING,
             TC_HTTP(.url = URL, .body = "{1}", .lane = "a", .tag = "1", .flags = TC_DURABLE),
             TC_HTTP(.url = URL, .body = "{2}", .lane = "a", .tag = "2", .flags = TC_DURABLE));
    kit_run_requests(&k, 1);
    kit_die(&k);
    k.on_reply = edit_instead;
    kit_begin(&k, steps, 2);
    kit_run_idle(&k);
    is_str(results(), "1 ambiguous 0 1 doubt\nedit ok 200 1\n2 ok 200 1\n",
           "the replacement is sent before the waiting request");
    end("", "a replaced request is no dead letter");
}

static void keep_thinking(struct kit_call *call)
{
    call->is_held = true;
}

/* The row is deleted when the batch of on_reply is committed. */
static void test_unsettled(void)
{
    static const struct httpd_step steps[] = {{HTTPD_REPLY, KIT_OK}};
    begin(steps, 1);
    k.on_reply = keep_thinking;
    KIT_SEND(&k, BATCH_NOTHING,
             TC_HTTP(.url = URL, .body = "{1}", .lane = "a", .tag = "1", .flags = TC_DURABLE));
    kit_run_replies(&k, 1);
    kit_die(&k);
    check_stored("request t a sending 1 0\n", "a request without a verdict is still stored");
    k.on_reply = NULL;
    kit_begin(&k, steps, 1);
    kit_run_idle(&k);
    has_str(results(), "1 ambiguous 0 1 doubt\n", "the request is in doubt after the restart");
    end("", "the request is deleted after the verdict");
}

static void fall_back(struct kit_call *call)
{
    if (call->reply->reply.outcome != TC_REJECTED || call->reply->reply.tag[0] != 'r')
        return;
    kit_reply_send(
        call, TC_HTTP(.url = URL, .body = "{p1}", .lane = "a", .tag = "p1", .flags = TC_DURABLE));
    kit_reply_send(call, TC_HTTP(.url = URL, .body = "{p2}", .lane = "a", .tag = "p2",
                                 .flags = TC_DURABLE, .delay_ms = 60000));
}

/* The host is killed between storing the replacement and deleting its request: exactly one of them
 * is left, at the same position of the queue. */
static void test_replaced(void)
{
    static const struct httpd_step steps[] = {{HTTPD_REPLY, KIT_STATUS("400 Bad", "")},
                                              {HTTPD_REPLY, KIT_OK}};
    static const struct httpd_step later[] = {{HTTPD_REPLY, KIT_OK}};
    begin(steps, 2);
    k.on_reply = fall_back;
    KIT_SEND(&k, BATCH_NOTHING,
             TC_HTTP(.url = URL, .body = "{rich}", .lane = "a", .tag = "rich", .flags = TC_DURABLE),
             TC_HTTP(.url = URL, .body = "{n}", .lane = "a", .tag = "n", .flags = TC_DURABLE));
    kit_run_replies(&k, 2);
    is_str(results(), "rich rejected 400 1\np1 ok 200 1\n",
           "the first of two replacements is sent");
    loop_run_once(k.loop, 5);
    kit_die(&k);
    check_stored("request t a queued 0 0\nrequest t a queued 0 0\n",
                 "the second replacement and the next request are stored");
    ok(kit_disk_has(&k, "{p2}"), "the bytes of the second replacement are stored");
    kit_begin(&k, later, 1);
    loop_run_once(k.loop, 20);
    is_int(httpd_requests(k.server), 0, "no request is sent before the delay of the first one");
    end("request t a queued 0 0\nrequest t a queued 0 0\n", "both requests stay stored");
}

static void give_reason(struct kit_call *call)
{
    if (call->verdict.next == TC_NEXT_FAIL)
        call->verdict.reason = "chat not found, said " CANARY;
}

static void test_dead(void)
{
    static const struct httpd_step steps[] = {{HTTPD_REPLY, KIT_STATUS("403 No", "")},
                                              {HTTPD_REPLY, KIT_STATUS("404 No", "")},
                                              {HTTPD_RESET, NULL},
                                              {HTTPD_RESET, NULL}};
    begin(steps, 4);
    k.on_reply = give_reason;
    KIT_SEND(&k, BATCH_NOTHING, TC_HTTP(.url = URL, .lane = "a", .tag = "1", .flags = TC_DURABLE));
    kit_run_idle(&k);
    k.on_reply = NULL;
    KIT_SEND(&k, BATCH_NOTHING, TC_HTTP(.url = URL, .lane = "a", .tag = "2", .flags = TC_DURABLE),
             TC_HTTP(.url = URL, .body = "{}", .lane = "a", .tag = "3", .flags = TC_DURABLE));
    kit_run_idle(&k);
    has_str(results(), "3 ambiguous 0 1 doubt\n3 ambiguous 0 2 doubt\n",
            "a request in doubt is sent once more only");
    is_int((long long)outbox_read_stats(k.outbox).dead, 3, "three requests are given up");
    kit_die(&k);
    CLEANUP_BUF struct buf list = {0};
    kit_list(&k, &list);
    has_str(list.p, "dead request t chat not found, said ***\n",
            "the dead letter has the reason of the plugin, with the secret masked");
    has_str(list.p, "dead request t HTTP 404\n", "the dead letter has the reason of the host");
    k.dir = NULL;
    kit_begin(&k, NULL, 0);
    kit_end(&k);
}

static void store_outcome(const char *turn)
{
    const struct journal_turn t = {
        .id = turn, .agent = "claude", .conv = "c", .source = "kit", .route = "{\"r\":1}"};
    const struct journal_target target = {"kit", "c", STR("{}")};
    journal_async_admit_turn(k.journal, &t, NULL, NULL);
    journal_async_end_turn(
        k.journal, &(struct journal_outcome){.turn = turn, .targets = &target, .n = 1}, NULL, NULL);
}

static void test_outcome(void)
{
    static const struct httpd_step steps[] = {{HTTPD_SILENT, NULL}};
    static const struct httpd_step later[] = {{HTTPD_REPLY, KIT_OK}, {HTTPD_REPLY, KIT_OK}};
    begin(steps, 1);
    store_outcome("t");
    KIT_SEND(&k, BATCH_OUTCOME,
             TC_HTTP(.url = URL, .body = "{1}", .lane = "a", .tag = "1", .flags = TC_DURABLE),
             TC_HTTP(.url = URL, .body = "{2}", .lane = "a", .tag = "2", .flags = TC_DURABLE));
    kit_run_requests(&k, 1);
    kit_die(&k);
    check_stored("request t a sending 1 0\nrequest t a queued 0 0\n",
                 "the requests have replaced the outcome");
    kit_begin(&k, later, 2);
    has_str(k.opened.p, "t agent=claude conversation=c route={\"r\":1} letters=2 over=1",
            "a known turn is opened with its data");
    kit_run_idle(&k);
    has_str(results(), "2 ok 200 1\n", "all requests are sent");
    end("", "the sent requests are deleted");
}

static void test_outcomes(void)
{
    static const struct httpd_step steps[] = {{HTTPD_REPLY, KIT_OK}};
    begin(steps, 1);
    store_outcome("shown");
    store_outcome("broken");
    kit_send_of(&k, "shown", BATCH_OUTCOME, NULL, 0);
    struct callback_batch *const b = xcalloc(1, sizeof *b);
    *b = (struct callback_batch){
        .settles = BATCH_OUTCOME, .turn = xstrdup("broken"), .failed = true, .over = true};
    kit_batch(&k, b);
    KIT_SEND(&k, BATCH_OUTCOME, TC_HTTP(.url = URL, .tag = "x", .flags = TC_DURABLE));
    kit_run_idle(&k);
    is_str(results(), "x ok 200 1\n", "requests of a turn without a stored outcome are sent");
    kit_die(&k);
    CLEANUP_BUF struct buf list = {0};
    kit_list(&k, &list);
    is_str(list.p, "dead outcome broken the callback failed\n",
           "an outcome without requests is deleted, and a failed one is a dead letter");
    k.dir = NULL;
    kit_begin(&k, NULL, 0);
    kit_end(&k);
}

/* Records of another version, and damaged ones. */
static void test_broken(void)
{
    static const struct httpd_step steps[] = {{HTTPD_REPLY, KIT_OK}};
    begin(steps, 1);
    const struct journal_request rows[] = {
        {.turn = "b", .lane = "a", .body = STR("{\"v\":9}\n")},
        {.turn = "b", .lane = "a", .body = STR("\0\xff\n")},
    };
    journal_async_add_requests(k.journal, "kit", rows, 2, NULL, NULL);
    KIT_SEND(&k, BATCH_NOTHING,
             TC_HTTP(.url = URL, .lane = "a", .tag = "1", .flags = TC_DURABLE, .delay_ms = 30));
    while (!outbox_read_stats(k.outbox).waiting)
        loop_run_once(k.loop, 10);
    kit_die(&k);
    kit_begin(&k, steps, 1);
    kit_run_idle(&k);
    is_str(results(), "1 ok 200 1\n", "a valid request is sent");
    kit_die(&k);
    CLEANUP_BUF struct buf list = {0};
    kit_list(&k, &list);
    has_str(list.p, "dead request b the record has an unknown version\n",
            "a record of a newer version is a dead letter");
    has_str(list.p, "dead request b invalid record\n", "a damaged record is a dead letter");
    k.dir = NULL;
    kit_begin(&k, NULL, 0);
    kit_end(&k);
}

/* The request expires before it can be sent. */
static void test_expired(void)
{
    begin(NULL, 0);
    KIT_SEND(&k, BATCH_NOTHING,
             TC_HTTP(.url = URL, .lane = "a", .tag = "1", .flags = TC_DURABLE, .delay_ms = 60000,
                     .max_age_ms = 30));
    kit_run_idle(&k);
    is_str(results(), "1 dropped 0 0 last\n", "the plugin learns that the request has expired");
    kit_die(&k);
    CLEANUP_BUF struct buf list = {0};
    kit_list(&k, &list);
    has_str(list.p, "dead request t ", "the expired request is a dead letter");
    k.dir = NULL;
    kit_begin(&k, NULL, 0);
    kit_end(&k);
}

static void limit_files(rlim_t bytes)
{
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
    setrlimit(RLIMIT_FSIZE, &limit);
}

static void retry_soon(struct kit_call *call)
{
    if (call->verdict.next != TC_NEXT_AGAIN)
        return;
    call->verdict.hold_ms = 5;
    call->is_held = true;
}

/* The disk is full from the first reply on. */
static void test_full_disk(void)
{
    static const struct httpd_step steps[] = {
        {HTTPD_REPLY, KIT_STATUS("429 Slow", "")}, {HTTPD_REPLY, KIT_OK}, {HTTPD_REPLY, KIT_OK}};
    begin(steps, 3);
    k.on_reply = retry_soon;
    KIT_SEND(&k, BATCH_NOTHING, TC_HTTP(.url = URL, .lane = "a", .tag = "1", .flags = TC_DURABLE));
    kit_run_replies(&k, 1);
    limit_files(1); /* nothing may be printed until the limit is removed */
    kit_release(&k);
    KIT_SEND(&k, BATCH_NOTHING, TC_HTTP(.url = URL, .lane = "b", .tag = "2", .flags = TC_DURABLE));
    while (k.replies < 3)
        loop_run_once(k.loop, 20);
    kit_run_idle(&k);
    limit_files(RLIM_INFINITY);
    ok(strstr(results(), "1 ok 200 2\n") && strstr(results(), "2 ok 200 1\n"),
       "a full disk delays no request");
    end("request t a sending 1 0\n",
        "a result that could not be stored leaves the request in doubt");
}

/* The connector is not available, so its requests stay stored. */
static void test_no_turn(void)
{
    begin(NULL, 0);
    KIT_SEND(&k, BATCH_NOTHING,
             TC_HTTP(.url = URL, .lane = "a", .tag = "1", .flags = TC_DURABLE, .delay_ms = 60000));
    while (!outbox_read_stats(k.outbox).waiting)
        loop_run_once(k.loop, 10);
    kit_die(&k);
    k.refuses_turns = true;
    kit_begin(&k, NULL, 0);
    is_int((long long)outbox_count_pending(k.outbox), 0,
           "requests of a turn that cannot be opened are not sent");
    k.refuses_turns = false;
    end("request t a queued 0 0\n", "the request stays stored");
}

/* After 429 the row is reset before the delay, so that a kill during the delay leaves no doubt. */
static void test_retry(void)
{
    static const struct httpd_step steps[] = {
        {HTTPD_REPLY, KIT_STATUS("429 Slow", "Retry-After: 60\r\n")}};
    begin(steps, 1);
    KIT_SEND(&k, BATCH_NOTHING, TC_HTTP(.url = URL, .lane = "a", .tag = "1", .flags = TC_DURABLE));
    kit_run_replies(&k, 1);
    while (outbox_read_stats(k.outbox).in_flight)
        loop_run_once(k.loop, 10);
    end("request t a queued 1 0\n", "a waiting request is not in doubt");
}

/* Frees an outbox while commits and attempts are being stored. */
static void test_free(void)
{
    begin(NULL, 0);
    for (int i = 0; i < 20; i++)
        KIT_SEND(&k, BATCH_NOTHING,
                 TC_HTTP(.url = URL, .lane = i % 2 ? "a" : "b", .flags = TC_DURABLE));
    kit_die(&k);
    CLEANUP_BUF struct buf list = {0};
    kit_list(&k, &list);
    unsigned rows = 0;
    for (size_t i = 0; i < list.len; i++)
        rows += list.p[i] == '\n';
    is_int(rows, 20, "all requests are stored");
    k.dir = NULL;
    kit_begin(&k, NULL, 0);
    kit_end(&k);
}

int main(void)
{
    plan_lazy();
    log_setup(LOG_TEXT, (enum log_level)0, 2); /* failures are expected here */
    log_add_secret(CANARY);
    test_done();
    test_waiting();
    test_after_memory();
    test_resumed();
    test_in_flight();
    test_restart_in_flight();
    test_in_doubt_replaced();
    test_unsettled();
    test_replaced();
    test_dead();
    test_outcome();
    test_outcomes();
    test_broken();
    test_expired();
    test_full_disk();
    test_no_turn();
    test_retry();
    test_free();
    return 0;
}
