/* SPDX-License-Identifier: MIT
 * Requests that are on disk before they go: across deaths of the host, until their last word. */
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

static const char *told(void)
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

static void is_on_disk(const char *wanted, const char *name)
{
    CLEANUP_BUF struct buf list = {0};
    kit_list(&k, &list);
    is_str(list.p, wanted, "%s", name);
}

/* Ends the host as it should end, then looks. */
static void end(const char *wanted, const char *name)
{
    kit_die(&k);
    is_on_disk(wanted, name);
    ok(!kit_disk_has(&k, CANARY), "%s: no secret on disk", name);
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
    ok(!k.replies && outbox_count_pending(k.outbox) == 1,
       "nothing is under way before it is on disk");
    kit_run_idle(&k);
    is_str(told(), "1 ok 200 1\n2 ok 200 1\n", "both went, in order");
    has_str(httpd_request(k.server, 0), CANARY, "with the secret");
    end("", "nothing is left of what is done");
}

/* Where the request is when the host dies. */
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
    is_on_disk("request t a queued 0 0\nrequest t a queued 0 0\n", "both wait on disk");
    kit_begin(&k, steps, 2);
    is_str(k.opened.p, "t agent= conversation=- route=- letters=2 over=1 memory=shown: 7\n",
           "their turn is opened");
    ok(outbox_read_stats(k.outbox).waiting == 2, "they wait again");
    end("request t a queued 0 0\nrequest t a queued 0 0\n", "and again");
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

/* A request that is on its way tells that the memory is on disk: the host is killed there. */
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
           "a live request does not wait for the memory of its callback");
    kit_run_idle(&k);
    kit_batch(&k, creating(TC_AFTER_MEMORY));
    is_int((long long)outbox_read_stats(k.outbox).waiting, 0, "but with TC_AFTER_MEMORY it does");
    kit_run_idle(&k);
    is_str(told(), "live ok 200 1\nlive ok 200 1\n", "and then it goes");
    struct callback_batch *const later = xcalloc(1, sizeof *later);
    *later = (struct callback_batch){.turn = xstrdup("t"), .memory = xstrdup("shown")};
    kit_batch(&k, later); /* with its outcome unknown when the outbox ends */
    end("", "no row was needed");

    char crashed[620];
    snprintf(crashed, sizeof crashed, "%s-crash", dir);
    const pid_t child = fork();
    if (child == 0) {
        k = (struct kit){.dir = crashed};
        die_while_creating(silent);
    }
    int status = 0;
    waitpid(child, &status, 0);
    ok(WIFSIGNALED(status), "the host is killed as the request arrives");
    k.dir = crashed;
    kit_begin(&k, NULL, 0);
    has_str(k.opened.p, "memory=creating", "the turn knows that it has begun to show something");
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
    is_str(told(), "1 ok 200 1\n2 ok 200 1\n", "after the death they go, in their order");
    has_str(httpd_request(k.server, 0), "{1}", "the same bytes");
    end("", "and are done");
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
    is_on_disk("request t a sending 1 0\nrequest t a queued 0 0\n",
               "the attempt was on record before the request went out");
    kit_begin(&k, steps, 2);
    kit_run_replies(&k, 1);
    is_str(told(), "1 ambiguous 0 1 doubt\n", "the plugin is asked first");
    ok(httpd_requests(k.server) == 0, "before anything goes again");
    has_str(k.error, "in flight when turncast or the connector stopped", "and is told why");
    kit_run_idle(&k);
    is_str(told(), "1 ambiguous 0 1 doubt\n1 ok 200 2 doubt\n2 ok 200 1\n",
           "then once more, and the next behind it");
    end("", "all is done");
}

/* The host lives on: nobody has looked through the journal for what was in flight. */
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
    is_str(told(), "1 ambiguous 0 1 doubt\n",
           "a request that was in flight when the connector was restarted is in doubt");
    kit_run_idle(&k);
    is_str(told(), "1 ambiguous 0 1 doubt\n1 ok 200 2 doubt\n2 ok 200 1\n",
           "and is sent again, with the next one behind it");
    end("", "restarted: none is a dead letter");
}

/* What the plugin makes of a doubt: an edit in its place. */
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
    is_str(told(), "1 ambiguous 0 1 doubt\nedit ok 200 1\n2 ok 200 1\n",
           "what takes its place goes before what waits");
    end("", "and nobody is a dead letter");
}

static void keep_thinking(struct kit_call *call)
{
    call->is_held = true;
}

/* The row is gone only when the batch of on_reply was committed. */
static void test_unsettled(void)
{
    static const struct httpd_step steps[] = {{HTTPD_REPLY, KIT_OK}};
    begin(steps, 1);
    k.on_reply = keep_thinking;
    KIT_SEND(&k, BATCH_NOTHING,
             TC_HTTP(.url = URL, .body = "{1}", .lane = "a", .tag = "1", .flags = TC_DURABLE));
    kit_run_replies(&k, 1);
    kit_die(&k);
    is_on_disk("request t a sending 1 0\n", "answered, but not settled: it is still there");
    k.on_reply = NULL;
    kit_begin(&k, steps, 1);
    kit_run_idle(&k);
    has_str(told(), "1 ambiguous 0 1 doubt\n", "and in doubt");
    end("", "until the plugin has decided");
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

/* The host dies between the replacement and what it replaced: one of both is there, in place. */
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
    is_str(told(), "rich rejected 400 1\np1 ok 200 1\n", "the first of the two that replace it");
    loop_run_once(k.loop, 5);
    kit_die(&k);
    is_on_disk("request t a queued 0 0\nrequest t a queued 0 0\n",
               "the second and the next are there");
    ok(kit_disk_has(&k, "{p2}"), "by its bytes");
    kit_begin(&k, later, 1);
    loop_run_once(k.loop, 20);
    is_int(httpd_requests(k.server), 0, "in their order: the first still has to wait");
    end("request t a queued 0 0\nrequest t a queued 0 0\n", "both stay");
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
    has_str(told(), "3 ambiguous 0 1 doubt\n3 ambiguous 0 2 doubt\n", "once more, then no more");
    is_int((long long)outbox_read_stats(k.outbox).dead, 3, "three are given up");
    kit_die(&k);
    CLEANUP_BUF struct buf list = {0};
    kit_list(&k, &list);
    has_str(list.p, "dead request t chat not found, said ***\n", "the plugin's reason, masked");
    has_str(list.p, "dead request t HTTP 404\n", "or the host's");
    k.dir = NULL;
    kit_begin(&k, NULL, 0);
    kit_end(&k);
}

static void lay_outcome(const char *turn)
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
    lay_outcome("t");
    KIT_SEND(&k, BATCH_OUTCOME,
             TC_HTTP(.url = URL, .body = "{1}", .lane = "a", .tag = "1", .flags = TC_DURABLE),
             TC_HTTP(.url = URL, .body = "{2}", .lane = "a", .tag = "2", .flags = TC_DURABLE));
    kit_run_requests(&k, 1);
    kit_die(&k);
    is_on_disk("request t a sending 1 0\nrequest t a queued 0 0\n",
               "the requests have taken the place of the outcome");
    kit_begin(&k, later, 2);
    has_str(k.opened.p, "t agent=claude conversation=c route={\"r\":1} letters=2 over=1",
            "a turn that is known is opened as it was");
    kit_run_idle(&k);
    has_str(told(), "2 ok 200 1\n", "all is sent");
    end("", "and done");
}

static void test_outcomes(void)
{
    static const struct httpd_step steps[] = {{HTTPD_REPLY, KIT_OK}};
    begin(steps, 1);
    lay_outcome("shown");
    lay_outcome("broken");
    kit_send_of(&k, "shown", BATCH_OUTCOME, NULL, 0);
    struct callback_batch *const b = xcalloc(1, sizeof *b);
    *b = (struct callback_batch){
        .settles = BATCH_OUTCOME, .turn = xstrdup("broken"), .failed = true, .over = true};
    kit_batch(&k, b);
    KIT_SEND(&k, BATCH_OUTCOME, TC_HTTP(.url = URL, .tag = "x", .flags = TC_DURABLE));
    kit_run_idle(&k);
    is_str(told(), "x ok 200 1\n", "without an outcome on disk it is sent all the same");
    kit_die(&k);
    CLEANUP_BUF struct buf list = {0};
    kit_list(&k, &list);
    is_str(list.p, "dead outcome broken the callback failed\n",
           "an outcome that needs no request is done, one that failed is a dead letter");
    k.dir = NULL;
    kit_begin(&k, NULL, 0);
    kit_end(&k);
}

/* Records of another version, or damaged ones. */
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
    is_str(told(), "1 ok 200 1\n", "the good one goes");
    kit_die(&k);
    CLEANUP_BUF struct buf list = {0};
    kit_list(&k, &list);
    has_str(list.p, "dead request b the record has an unknown version\n", "a newer version");
    has_str(list.p, "dead request b invalid record\n", "and rubbish are dead letters");
    k.dir = NULL;
    kit_begin(&k, NULL, 0);
    kit_end(&k);
}

/* Its time is over before its turn comes. */
static void test_expired(void)
{
    begin(NULL, 0);
    KIT_SEND(&k, BATCH_NOTHING,
             TC_HTTP(.url = URL, .lane = "a", .tag = "1", .flags = TC_DURABLE, .delay_ms = 60000,
                     .max_age_ms = 30));
    kit_run_idle(&k);
    is_str(told(), "1 dropped 0 0 last\n", "too old: the plugin is told");
    kit_die(&k);
    CLEANUP_BUF struct buf list = {0};
    kit_list(&k, &list);
    has_str(list.p, "dead request t ", "and it is a dead letter");
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

static void again_soon(struct kit_call *call)
{
    if (call->verdict.next != TC_NEXT_AGAIN)
        return;
    call->verdict.hold_ms = 5;
    call->is_held = true;
}

/* Nothing can be written from the answer of the first on. */
static void test_full_disk(void)
{
    static const struct httpd_step steps[] = {
        {HTTPD_REPLY, KIT_STATUS("429 Slow", "")}, {HTTPD_REPLY, KIT_OK}, {HTTPD_REPLY, KIT_OK}};
    begin(steps, 3);
    k.on_reply = again_soon;
    KIT_SEND(&k, BATCH_NOTHING, TC_HTTP(.url = URL, .lane = "a", .tag = "1", .flags = TC_DURABLE));
    kit_run_replies(&k, 1);
    limit_files(1); /* nothing is printed until it is lifted */
    kit_release(&k);
    KIT_SEND(&k, BATCH_NOTHING, TC_HTTP(.url = URL, .lane = "b", .tag = "2", .flags = TC_DURABLE));
    while (k.replies < 3)
        loop_run_once(k.loop, 20);
    kit_run_idle(&k);
    limit_files(RLIM_INFINITY);
    ok(strstr(told(), "1 ok 200 2\n") && strstr(told(), "2 ok 200 1\n"),
       "a full disk holds up nobody");
    end("request t a sending 1 0\n", "and what it did not take is in doubt afterwards");
}

/* The instance cannot be reached: its requests wait for another day. */
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
           "nothing is sent of a turn that cannot be opened");
    k.refuses_turns = false;
    end("request t a queued 0 0\n", "it stays on disk");
}

/* 429: the row is put back before the wait, so a death meanwhile leaves no doubt. */
static void test_retry(void)
{
    static const struct httpd_step steps[] = {
        {HTTPD_REPLY, KIT_STATUS("429 Slow", "Retry-After: 60\r\n")}};
    begin(steps, 1);
    KIT_SEND(&k, BATCH_NOTHING, TC_HTTP(.url = URL, .lane = "a", .tag = "1", .flags = TC_DURABLE));
    kit_run_replies(&k, 1);
    while (outbox_read_stats(k.outbox).in_flight)
        loop_run_once(k.loop, 10);
    end("request t a queued 1 0\n", "it waits, and is in no doubt");
}

/* Freed with commits and attempts on their way to the disk. */
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
    is_int(rows, 20, "all of them are on disk");
    k.dir = NULL;
    kit_begin(&k, NULL, 0);
    kit_end(&k);
}

int main(void)
{
    plan_lazy();
    log_setup(LOG_TEXT, (enum log_level)0, 2); /* failures are the matter here */
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
