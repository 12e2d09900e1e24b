/* SPDX-License-Identifier: MIT
 * Tests of requests that the plugin executes itself (self:). */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sys/clock.h"
#include "base/sys/log.h"
#include "plugin/post_kit.h"
#include "tap/tap.h"

static struct kit k;
static uint64_t offered; /* the number of the newest request */

static const char *results(void)
{
    return k.told.len ? k.told.p : "";
}

static void complete_in(struct callback_batch *b, uint64_t number, const struct tc_completion *c)
{
    const char *why;
    struct outbound_result *const r = outbound_result_new(number, c, &why);
    if (!r)
        bail("%s", why);
    r->next = b->results;
    b->results = r;
}

static void complete(uint64_t number, const struct tc_completion *c)
{
    struct callback_batch *const b = xcalloc(1, sizeof *b);
    b->turn = xstrdup("t");
    complete_in(b, number, c);
    kit_batch(&k, b);
}

static void record_offer(struct kit_call *call)
{
    const struct tc_reply *const r = &call->reply->reply;
    if (r->outcome == TC_YOUR_TURN)
        offered = r->number;
    else
        buf_printf(&k.told, " %s|%s\n", r->body, r->error);
}

static void begin(void (*on_reply)(struct kit_call *call))
{
    k.on_reply = on_reply;
    kit_begin(&k, NULL, 0);
}

static void test_later(void)
{
    begin(record_offer);
    KIT_SEND(&k, BATCH_NOTHING,
             TC_HTTP(.url = "self:", .body = "{1}", .lane = "a", .tag = "1", .key = "x"),
             TC_HTTP(.url = "self:", .body = "{2}", .lane = "a", .tag = "2"));
    kit_run_replies(&k, 1);
    loop_run_once(k.loop, 5);
    is_str(results(), "1 your-turn 0 1\n", "the plugin is asked to execute the first request");
    ok(outbox_read_stats(k.outbox).in_flight == 1 && outbox_count_pending(k.outbox) == 2,
       "the lane waits until the request is executed");
    complete(offered + 77, TC_COMPLETION(.outcome = TC_OK));
    complete(offered, TC_COMPLETION(.outcome = TC_OK, .status = 200, .body = "{\"id\":7}"));
    complete(offered, TC_COMPLETION(.outcome = TC_REJECTED));
    kit_run_replies(&k, 3);
    is_str(results(), "1 your-turn 0 1\n1 ok 200 1\n {\"id\":7}|\n2 your-turn 0 1\n",
           "the result is reported once as a reply; then the plugin is asked to execute the next "
           "request");
    complete(offered, TC_COMPLETION(.outcome = TC_NOT_SENT, .error = "no program"));
    loop_run_once(k.loop, 5);
    is_int((long long)outbox_read_stats(k.outbox).waiting, 1,
           "a request that was not executed is repeated");
    kit_end(&k);
}

/* The callback executes the request at once; one request is refused, and replaced by another. */
static void perform_at_once(struct kit_call *call)
{
    const struct tc_reply *const r = &call->reply->reply;
    if (r->outcome == TC_YOUR_TURN)
        complete_in(call->batch, r->number,
                    strcmp(r->tag, "1") == 0
                        ? TC_COMPLETION(.outcome = TC_REJECTED, .status = 400, .body = "too long",
                                        .error = "token " CANARY)
                        : TC_COMPLETION(.outcome = TC_OK));
    else if (r->outcome == TC_REJECTED)
        kit_reply_send(call,
                       TC_HTTP(.url = "self:", .lane = "a", .tag = "shorter", .flags = TC_DURABLE));
}

static void test_at_once(void)
{
    begin(perform_at_once);
    KIT_SEND(&k, BATCH_NOTHING,
             TC_HTTP(.url = "self:", .lane = "a", .tag = "1", .flags = TC_DURABLE),
             TC_HTTP(.url = "self:", .lane = "a", .tag = "2"));
    kit_run_idle(&k);
    is_str(results(),
           "1 your-turn 0 1\n1 rejected 400 1\nshorter your-turn 0 1\nshorter ok 0 1\n"
           "2 your-turn 0 1\n2 ok 0 1\n",
           "requests are executed in the callback, and a replacement has the place of its request");
    kit_end(&k);
}

static void decide(struct kit_call *call)
{
    static int turns;
    call->verdict.next = call->reply->reply.outcome != TC_YOUR_TURN ? TC_NEXT_LATER
                         : turns++ == 0                             ? TC_NEXT_AGAIN
                                                                    : TC_NEXT_DONE;
    call->verdict.hold_ms = 20;
}

static void test_decided(void)
{
    begin(decide);
    KIT_SEND(&k, BATCH_NOTHING, TC_HTTP(.url = "self:", .tag = "1"));
    kit_run_idle(&k);
    is_str(results(), "1 your-turn 0 1\n1 your-turn 0 2\n",
           "the verdict of the callback applies at once");
    kit_end(&k);
}

static void test_time_limit(void)
{
    begin(record_offer);
    KIT_SEND(&k, BATCH_NOTHING, TC_HTTP(.url = "self:", .lane = "a", .tag = "1", .timeout_ms = 20));
    kit_run_replies(&k, 2);
    is_str(results(), "1 your-turn 0 1\n1 ambiguous 0 1 doubt\n |no result within its time limit\n",
           "a request without a result within its time limit is in doubt");
    kit_run_idle(&k);
    complete(offered, TC_COMPLETION(.outcome = TC_OK));
    is_int((long long)outbox_count_pending(k.outbox), 0, "a late result is ignored");
    kit_end(&k);
}

/* The batch that answers the request arrives after its time limit, so it is not the answer to the
 * report of doubt. */
static void hold_offer(struct kit_call *call)
{
    call->is_held = call->reply->reply.outcome == TC_YOUR_TURN;
    if (call->is_held)
        call->verdict.next = TC_NEXT_DONE;
}

static void test_slow_callback(void)
{
    begin(hold_offer);
    KIT_SEND(&k, BATCH_NOTHING, TC_HTTP(.url = "self:", .lane = "a", .tag = "1", .timeout_ms = 20));
    kit_run_replies(&k, 1);
    const int64_t until = clock_mono_ms() + 60;
    while (clock_mono_ms() < until)
        loop_run_once(k.loop, 5);
    kit_release(&k);
    kit_run_idle(&k);
    is_str(results(), "1 your-turn 0 1\n1 ambiguous 0 1 doubt\n",
           "each reply is answered by its own batch");
    kit_end(&k);
}

static void test_death(void)
{
    static char dir[600];
    snprintf(dir, sizeof dir, "%s/perform", tap_tmpdir());
    k.dir = dir;
    begin(record_offer);
    KIT_SEND(&k, BATCH_NOTHING,
             TC_HTTP(.url = "self:", .lane = "a", .tag = "1", .flags = TC_DURABLE));
    kit_run_replies(&k, 1);
    kit_die(&k);
    CLEANUP_BUF struct buf list = {0};
    kit_list(&k, &list);
    is_str(list.p, "request t a sending 1 0\n", "the attempt is stored before the plugin is asked");
    kit_begin(&k, NULL, 0);
    kit_run_replies(&k, 2);
    has_str(results(), "1 ambiguous 0 1 doubt\n", "after a restart the request is in doubt");
    has_str(results(), "1 your-turn 0 2 doubt\n",
            "the plugin is asked again only because of its verdict");
    complete(offered, TC_COMPLETION(.outcome = TC_OK));
    kit_run_idle(&k);
    kit_die(&k);
    buf_reset(&list);
    kit_list(&k, &list);
    is_int((long long)list.len, 0, "the executed request is deleted");
    k.dir = NULL;
    kit_begin(&k, NULL, 0);
    kit_end(&k);
}

static void check_result_refused(const struct tc_completion *c, const char *wanted)
{
    const char *why = "";
    ok(!outbound_result_new(1, c, &why), "refused: %s", wanted);
    has_str(why, wanted, "the error names the reason");
}

static void test_refused(void)
{
    check_result_refused(NULL, "is NULL");
    check_result_refused(TC_COMPLETION(.outcome = TC_DROPPED), "outcome");
    check_result_refused(TC_COMPLETION(.outcome = TC_YOUR_TURN), "outcome");
    check_result_refused(TC_COMPLETION(.status = 1000), "range");
    check_result_refused(TC_COMPLETION(.hold_ms = -1), "range");
    check_result_refused(TC_COMPLETION(.error = "\xff"), "not UTF-8");
    check_result_refused(TC_COMPLETION(.body = "x", .body_len = (1 << 20) + 1), "too large");
}

int main(void)
{
    plan_lazy();
    log_add_secret(CANARY);
    test_later();
    test_at_once();
    test_decided();
    test_time_limit();
    test_slow_callback();
    test_death();
    test_refused();
    return 0;
}
