/* SPDX-License-Identifier: MIT
 * Tests of the outbox in the journal: the order of rows and of those that replace them, attempts,
 * dead letters, and limits. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/sys/clock.h"
#include "base/sys/log.h"
#include "io/journal_kit.h"
#include "tap/tap.h"

static void test_order(void)
{
    struct journal *j = kit_fresh();
    is_int(kit_add(j, "a b c"), JOURNAL_DONE, "three requests are added");
    kit_ended(j, "t1", "c1");
    is_int(kit_add(j, "d"), JOURNAL_DONE, "a request is added after an outcome");
    is_str(kit_rows(j), "a b c t1 d", "the rows are in the order of their arrival");
    is_int(kit_expand(j, "t1", "x y"), JOURNAL_DONE, "the outcome is replaced by two requests");
    is_str(kit_rows(j), "a b c d x y",
           "the requests of the outcome are behind those that were added before");
    is_int(kit_expand(j, "t1", "z"), JOURNAL_NO_CHANGE, "the outcome is replaced once");
    is_str(kit_rows_of(j, "slack"), "t1", "the row of the other connector is unchanged");
    is_int(kit_settle(j, "x", JOURNAL_SENT, "x1 x2 x3"), JOURNAL_DONE,
           "a reply replaces a request by three others");
    is_int(kit_settle(j, "x2", JOURNAL_SENT, "x21 x22"), JOURNAL_DONE,
           "a reply replaces one of them by two");
    is_int(kit_settle(j, "x3", JOURNAL_FAIL, "x31"), JOURNAL_DONE,
           "a failed request is replaced by a fallback");
    is_int(kit_settle(j, "b", JOURNAL_SENT, "b1"), JOURNAL_DONE,
           "a reply replaces a request by another one");
    is_int(kit_settle(j, "x1", JOURNAL_RETRY, "n1 n2"), JOURNAL_DONE,
           "a retried request gets two followers");
    is_str(kit_rows(j), "a b1 c d x1 n1 n2 x21 x22 x31 y",
           "each row is at the place of the row that it replaces");
    journal_close(j);
    j = kit_reopen(NULL);
    is_str(kit_rows(j), "a b1 c d x1 n1 n2 x21 x22 x31 y", "the order is the same after a restart");
    is_str(kit_dead_of(j, NULL), "", "no dead letter was created");
    is_int(kit_settle(j, "none", JOURNAL_SENT, "z"), JOURNAL_NO_CHANGE,
           "an unknown row cannot be settled");
    is_int(kit_expand(j, "t", "z"), JOURNAL_NO_CHANGE,
           "a request cannot be expanded like an outcome");
    is_int(kit_add(j, ""), JOURNAL_DONE, "an empty list of requests is accepted");
    is_int(kit_seq(j, "z"), 0, "an empty list adds no row");
    kit_ended(j, "t2", "c1");
    is_int(kit_expand(j, "t2", ""), JOURNAL_DONE, "an outcome that creates no request is settled");
    is_int(kit_seq(j, "t2"), 0, "the settled outcome has no row");
    journal_close(j);
}

static void add_row(void *ctx, const struct journal_row *row)
{
    buf_printf(ctx, "%d %s %s %s %d %d %" PRId64 " %" PRId64 " %zu\n", (int)row->kind, row->conn,
               row->lane, row->turn, row->priority, (int)row->attempts, row->age_ms, row->left_ms,
               row->body.len);
}

static void test_rows(void)
{
    struct journal *const j = kit_fresh();
    kit_ended(j, "t1", "c1");
    static char huge[JOURNAL_MAX_BODY + 1];
    struct journal_request r = {.turn = "t2",
                                .lane = "c2",
                                .priority = 3,
                                .max_age_ms = MINUTE,
                                .body = {huge, sizeof huge}};
    is_int(journal_add_requests(j, "tg", &r, 1, 50), JOURNAL_TOO_BIG,
           "a body above the limit is refused");
    r.body = (struct str){huge, JOURNAL_MAX_BODY};
    is_int(journal_add_requests(j, "tg", &r, 1, 50), JOURNAL_DONE, "a body of 16 MiB is accepted");
    r.body = (struct str){"a\0b", 3};
    is_int(journal_add_requests(j, "tg", &r, 1, 50), JOURNAL_FAILED,
           "a number that is in use is refused");
    is_int(journal_add_requests(j, "tg", &r, 1, 60), JOURNAL_DONE,
           "a body of arbitrary bytes is accepted");
    is_int(journal_last_seq(j), 60, "the last number is returned");
    clock_fake_advance(SECOND);
    struct buf seen = {0};
    is_int(journal_list_rows(j, "tg", add_row, &seen), JOURNAL_DONE, "the rows are listed");
    is_str(seen.p,
           "0 tg c1 t1 0 0 1000 86399000 2\n"
           "1 tg c2 t2 3 0 1000 59000 16777216\n"
           "1 tg c2 t2 3 0 1000 59000 3\n",
           "the rows have their fields and their age");
    buf_fini(&seen);
    const struct journal_settlement sent = {.verdict = JOURNAL_SENT};
    is_int(journal_settle_row(j, 60, &sent, 61), JOURNAL_DONE, "a row is sent");
    is_int(journal_last_seq(j), 60, "the number of a sent row is not used again");
    journal_close(j);
}

static void test_attempts(void)
{
    struct journal *const j = kit_fresh();
    kit_add(j, "a b");
    is_int(kit_start(j, "a"), JOURNAL_DONE, "an attempt begins");
    is_int(kit_start(j, "a"), JOURNAL_NO_CHANGE, "a row has one attempt at a time");
    is_int(kit_stats(j).in_flight, 1, "one row is in flight");
    is_int(kit_settle(j, "a", JOURNAL_RETRY, ""), JOURNAL_DONE, "the request was not sent");
    is_str(kit_rows(j), "a1 b", "the row stays, with one attempt");
    kit_start(j, "a");
    const struct journal_settlement lost = {.verdict = JOURNAL_RETRY, .in_doubt = true};
    is_int(journal_settle_row(j, kit_seq(j, "a"), &lost, 9), JOURNAL_DONE,
           "the reply to the request was lost");
    kit_start(j, "a");
    kit_settle(j, "a", JOURNAL_RETRY, "");
    is_str(kit_rows(j), "a3? b", "the row stays in doubt");
    kit_start(j, "a");
    is_int(kit_settle(j, "a", JOURNAL_SENT, ""), JOURNAL_DONE, "the request is sent");
    is_str(kit_rows(j), "b", "the row of a sent request is removed");
    is_int(kit_settle(j, "a", JOURNAL_SENT, ""), JOURNAL_NO_CHANGE, "a request is sent once");
    is_int(kit_settle(j, "b", JOURNAL_SENT, ""), JOURNAL_DONE,
           "a row that was not in flight can be settled");
    is_int(kit_start(j, "b"), JOURNAL_NO_CHANGE, "a settled row cannot be started");
    journal_close(j);
}

/* A connector is restarted while the host runs. */
static void test_take_over(void)
{
    struct journal *const j = kit_fresh();
    const struct journal_request other = {.turn = "t", .lane = "c", .body = {"z", 1}};
    kit_add(j, "a b");
    kit_start(j, "a");
    is_int(journal_add_requests(j, "slack", &other, 1, 90), JOURNAL_DONE,
           "another connector has a row");
    is_int(journal_start_attempt(j, 90), JOURNAL_DONE,
           "the row of the other connector is in flight");
    is_int(journal_take_over(j, "tg"), JOURNAL_DONE,
           "the row of tg that was in flight is taken over");
    is_str(kit_rows(j), "a1? b", "the row is in doubt, and its attempt counts");
    is_int(kit_stats(j).in_flight, 1, "the row of the other connector stays in flight");
    is_int(journal_take_over(j, "tg"), JOURNAL_NO_CHANGE, "no row of tg is in flight");
    is_int(kit_start(j, "a"), JOURNAL_DONE, "the row can be sent again");
    is_int(kit_stats(j).in_flight, 2, "both rows are in flight");
    journal_close(j);
}

static void test_dead_letters(void)
{
    struct journal *j = kit_fresh();
    is_str(kit_dead_of(j, NULL), "", "there are no dead letters at first");
    kit_add(j, "a b");
    kit_ended(j, "t1", "c1");
    kit_start(j, "a");
    is_int(kit_settle(j, "a", JOURNAL_FAIL, ""), JOURNAL_DONE, "a request fails permanently");
    is_str(kit_rows(j), "b t1", "a failed request has no row");
    kit_settle(j, "t1", JOURNAL_FAIL, "");
    is_str(kit_dead_of(j, NULL),
           "1 tg/c t request 400 1 []\n"
           "2 tg/c1 t1 outcome 400 0 []\n",
           "a failed request and a failed outcome are dead letters");
    is_str(kit_dead_of(j, "slack"), "", "a dead letter belongs to its connector");
    is_int(kit_stats(j).dead, 2, "dead letters are counted");
    struct buf text = {0};
    is_int(journal_dead_get(j, 1, kit_on_dead, &text), JOURNAL_DONE,
           "a dead letter is found by its number");
    is_str(text.p, "1 tg/c t request 400 1 [a]\n", "a dead letter has its body");
    is_int(journal_dead_get(j, 9, kit_on_dead, &text), JOURNAL_NO_CHANGE,
           "an unknown number is not found");
    buf_fini(&text);
    journal_close(j);
    j = kit_reopen(NULL);
    is_int(journal_dead_retry(j, 1, 77), JOURNAL_DONE,
           "a dead letter can be sent again after a restart");
    is_int(journal_dead_retry(j, 1, 78), JOURNAL_NO_CHANGE, "a dead letter is sent again once");
    is_str(kit_rows(j), "b a?", "the row of the dead letter is the last one, and in doubt");
    const struct journal_settlement failed = {.verdict = JOURNAL_FAIL, .reason = "no words"};
    is_int(journal_settle_outcome(j, "slack", "t1", &failed, 0), JOURNAL_DONE, "an outcome fails");
    is_int(journal_settle_outcome(j, "slack", "t1", &failed, 0), JOURNAL_NO_CHANGE,
           "an outcome fails once");
    is_str(kit_dead_of(j, "slack"), "3 slack/c1 t1 outcome no words 0 []\n",
           "a failed outcome is a dead letter");
    is_int(journal_dead_delete(j, 3), JOURNAL_DONE, "a dead letter is deleted");
    is_int(journal_dead_retry(j, 2, 78), JOURNAL_DONE,
           "the dead letter of an outcome is sent again");
    is_int(kit_expand(j, "t1", "x"), JOURNAL_DONE, "an outcome that is sent again can be expanded");
    is_str(kit_rows(j), "b a? x", "an outcome that is sent again is expanded at the end");
    kit_settle(j, "b", JOURNAL_FAIL, "");
    is_int(journal_dead_delete(j, 4), JOURNAL_DONE, "a second dead letter is deleted");
    is_int(journal_dead_delete(j, 4), JOURNAL_NO_CHANGE, "a dead letter is deleted once");
    is_str(kit_dead_of(j, NULL), "", "no dead letter is left");
    journal_close(j);
}

static void test_retry_turn(void)
{
    struct journal *const j = kit_fresh();
    const struct journal_dead elsewhere = {.conn = "tg", .turn = "t", .lane = "other"};
    const struct journal_dead here = {.conn = "tg", .turn = "t", .lane = "c"};
    int64_t count = -1;
    kit_add(j, "a b d");
    kit_settle(j, "a", JOURNAL_FAIL, "");
    kit_settle(j, "b", JOURNAL_FAIL, "");
    kit_settle(j, "d", JOURNAL_FAIL, "");
    is_int(journal_dead_retry_turn(j, &elsewhere, 70, 2, &count), JOURNAL_NO_CHANGE,
           "the turn has no dead letters for another chat");
    is_int(count, 0, "no dead letter was sent again");
    is_int(journal_dead_retry_turn(j, &here, 70, 2, &count), JOURNAL_DONE,
           "the dead letters for this chat are sent again");
    is_int(count, 2, "at most the demanded number is sent again");
    is_str(kit_rows(j), "a? b?", "the rows are in order, and in doubt");
    is_int(journal_dead_retry_turn(j, &here, 80, 2, &count), JOURNAL_DONE,
           "the remaining dead letters are sent again");
    is_int(count, 1, "one dead letter was left");
    is_int(journal_dead_retry_turn(j, &here, 90, 2, &count), JOURNAL_NO_CHANGE,
           "dead letters are sent again once");
    is_str(kit_dead_of(j, NULL), "", "no dead letter is left");
    journal_close(j);
}

/* Starts the row in a child, which exits without closing the journal. */
static void start_and_crash(void)
{
    const pid_t child = fork();
    if (child == 0) {
        struct journal *const j = kit_reopen(NULL);
        _exit(kit_start(j, "a") == JOURNAL_DONE ? 0 : 1);
    }
    if (waitpid(child, NULL, 0) != child)
        bail("child");
}

static void test_poison(void)
{
    struct journal *j = kit_fresh();
    kit_add(j, "a b");
    journal_close(j);
    start_and_crash();
    start_and_crash();
    j = kit_reopen(NULL);
    is_str(kit_rows(j), "a2? b", "a row that was in flight at two crashes is sent again");
    kit_start(j, "a");
    journal_close(j);
    j = kit_reopen(NULL);
    is_str(kit_rows(j), "a3? b", "a normal end is no crash, but the row is in doubt");
    journal_close(j);
    start_and_crash();
    j = kit_reopen(NULL);
    is_str(kit_rows(j), "b", "a row that was in flight at three crashes is not sent again");
    is_str(kit_dead_of(j, NULL), "1 tg/c t request poison 4 []\n", "the row is a dead letter");
    journal_close(j);
}

static void add_for(struct journal *j, const char *body, int64_t max_age_ms)
{
    const struct journal_request r = {
        .turn = "t9", .lane = "c", .max_age_ms = max_age_ms, .body = {body, strlen(body)}};
    if (journal_add_requests(j, "tg", &r, 1, journal_last_seq(j) + 1) != JOURNAL_DONE)
        bail("no row");
}

static void test_ages(void)
{
    struct journal *j = kit_fresh();
    kit_ended(j, "t1", "c1");
    kit_admit(j, "t2", "m2");
    add_for(j, "short", MINUTE);
    add_for(j, "long", 30 * HOUR);
    add_for(j, "plain", 0);
    clock_fake_advance(MINUTE);
    kit_start(j, "plain");
    kit_prune(j);
    is_str(kit_rows(j), "t1 long plain1", "a row with its own maximum age expires");
    is_str(kit_dead_of(j, NULL), "1 tg/c t9 request expired 0 []\n",
           "the expired row is a dead letter");
    is_int(kit_stats(j).oldest_ms, MINUTE, "the oldest row is a minute old");
    clock_fake_advance(24 * HOUR);
    kit_prune(j);
    is_str(kit_rows(j), "long plain1", "other rows expire after a day, unless they are in flight");
    is_int(kit_admit(j, "t3", "t1"), JOURNAL_NO_CHANGE,
           "a message of the day before is a duplicate");
    clock_fake_advance(24 * HOUR);
    journal_close(j);
    j = kit_reopen(NULL);
    is_str(kit_rows(j), "", "expired rows are not sent after a start");
    is_int(kit_stats(j).dead, 5, "the expired rows are dead letters");
    kit_prune(j);
    is_int(kit_admit(j, "t3", "t1"), JOURNAL_DONE, "after two days a message is no duplicate");
    is_int(kit_admit(j, "t1", NULL), JOURNAL_DONE, "the turn of that message was deleted");
    is_int(kit_stats(j).running, 3, "a running turn is never deleted");
    clock_fake_advance(31 * 24 * HOUR);
    kit_prune(j);
    is_str(kit_dead_of(j, NULL), "", "dead letters are deleted after a month");
    journal_close(j);
}

static void test_clocks(void)
{
    struct journal *j = kit_fresh();
    add_for(j, "a", MINUTE);
    clock_fake(1000 + 30 * SECOND, 1000000000);
    kit_prune(j);
    is_str(kit_rows(j), "a", "a jump of the wall clock expires no row while the host runs");
    journal_close(j);
    clock_fake(5, 1700000000);
    j = kit_reopen(NULL);
    is_int(kit_stats(j).oldest_ms, 0, "a clock that was set back makes the age 0");
    clock_fake_advance(MINUTE);
    kit_prune(j);
    is_str(kit_rows(j), "", "a clock that was set back does not extend the life of a row");
    journal_close(j);
}

static void test_bounds(void)
{
    struct journal_limits limits = {.rows = 3, .dead_rows = 2};
    struct journal *j = kit_fresh_with(&limits);
    kit_add(j, "a b c d e f");
    kit_start(j, "a");
    clock_fake_advance(10000 * HOUR);
    kit_prune(j);
    is_str(kit_rows(j), "a1 e f",
           "the oldest rows above the limit are removed, except those in flight");
    is_str(kit_dead_of(j, NULL),
           "2 tg/c t request overflow 0 []\n"
           "3 tg/c t request overflow 0 []\n",
           "the number of dead letters is limited");
    journal_close(j);
    limits = (struct journal_limits){.bytes = 10, .dead_bytes = 8};
    j = kit_fresh_with(&limits);
    kit_add(j, "aaaa bbbb cccc dddd eeee");
    kit_prune(j);
    is_int(kit_stats(j).bytes, 8, "the bytes of the rows are limited");
    is_str(kit_rows(j), "dddd eeee", "the newest rows are kept");
    is_str(kit_dead_of(j, NULL),
           "2 tg/c t request overflow 0 []\n"
           "3 tg/c t request overflow 0 []\n",
           "the bytes of the dead letters are limited");
    journal_close(j);
}

static const char *list_undelivered(struct journal *j, struct buf *ids)
{
    buf_reset(ids);
    is_int(journal_list_untold(j, "tg", ids), JOURNAL_DONE, "the undelivered turns are listed");
    return ids->p ? ids->p : "";
}

static void test_undelivered(void)
{
    struct journal *const j = kit_fresh();
    CLEANUP_BUF struct buf ids = {0};
    const struct journal_request request = {.turn = "t1", .lane = "c1", .body = STR("post")};
    const struct journal_settlement made = {.verdict = JOURNAL_SENT, .requests = &request, .n = 1};
    const struct journal_request later = {
        .turn = "t1", .lane = "c1", .body = STR("tidy"), .priority = 2};
    const struct journal_request pair[] = {later, request};
    is_str(list_undelivered(j, &ids), "", "no turn is undelivered at first");
    const struct journal_turn t = {
        .id = "t1", .agent = "a", .conv = "c", .source = "tg", .msg_id = "m1"};
    is_int(journal_admit_turn(j, &t, NULL), JOURNAL_DONE, "a turn is admitted");
    is_str(list_undelivered(j, &ids), "bt1\n", "the turn is running");
    kit_end(j, "t1", NULL, "c1");
    is_str(list_undelivered(j, &ids), "ot1\n", "the outcome of the turn is left");
    is_int(journal_settle_outcome(j, "tg", "t1", &made, 200), JOURNAL_DONE,
           "the outcome is replaced by a request");
    is_str(list_undelivered(j, &ids), "rt1\n", "a request of the outcome is left");
    const struct journal_settlement tidied = {.verdict = JOURNAL_SENT, .requests = &later, .n = 1};
    is_int(journal_settle_row(j, 200, &tidied, 201), JOURNAL_DONE,
           "the request is replaced by one of low priority");
    is_str(list_undelivered(j, &ids), "lt1\n", "only a request of low priority is left");
    const struct journal_settlement both = {.verdict = JOURNAL_SENT, .requests = pair, .n = 2};
    is_int(journal_settle_row(j, 201, &both, 202), JOURNAL_DONE, "a request is replaced by two");
    is_str(list_undelivered(j, &ids), "rt1\n", "a request of the outcome is left again");
    is_int(journal_remove_turn(j, "t1"), JOURNAL_DONE, "the turn is removed");
    is_str(list_undelivered(j, &ids), "", "the requests of the turn are removed");
    is_int(journal_remove_turn(j, "t1"), JOURNAL_NO_CHANGE, "a turn is removed once");
    is_str(kit_rows_of(j, "slack"), "t1", "the row of another connector is kept");
    is_int(journal_admit_turn(j, &t, NULL), JOURNAL_NO_CHANGE,
           "the message of a removed turn is a duplicate");
    is_int(kit_admit(j, "t1", NULL), JOURNAL_DONE, "the id of a removed turn can be used again");
    journal_close(j);
}

int main(void)
{
    plan_lazy();
    const int log = open("/dev/null", O_WRONLY | O_CLOEXEC);
    log_setup(LOG_TEXT, LOG_WARN, log);
    test_order();
    test_rows();
    test_attempts();
    test_take_over();
    test_dead_letters();
    test_retry_turn();
    test_poison();
    test_ages();
    test_clocks();
    test_bounds();
    test_undelivered();
    clock_fake_end();
    close(log);
    return 0;
}
