/* SPDX-License-Identifier: MIT
 * The outbox of the journal: places and what takes them, attempts, dead letters, bounds. */
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

static void test_places(void)
{
    struct journal *j = kit_fresh();
    is_int(kit_add(j, "a b c"), JOURNAL_DONE, "three requests");
    kit_ended(j, "t1", "c1");
    is_int(kit_add(j, "d"), JOURNAL_DONE, "an outcome and another request");
    is_str(kit_rows(j), "a b c t1 d", "in the order in which they came");
    is_int(kit_expand(j, "t1", "x y"), JOURNAL_DONE, "the outcome becomes two requests");
    is_str(kit_rows(j), "a b c d x y", "behind those that the connector made before");
    is_int(kit_expand(j, "t1", "z"), JOURNAL_NO_CHANGE, "once");
    is_str(kit_rows_of(j, "slack"), "t1", "the other connector's is its own");
    is_int(kit_settle(j, "x", JOURNAL_SENT, "x1 x2 x3"), JOURNAL_DONE, "an answer brings three");
    is_int(kit_settle(j, "x2", JOURNAL_SENT, "x21 x22"), JOURNAL_DONE, "one of them two");
    is_int(kit_settle(j, "x3", JOURNAL_FAIL, "x31"), JOURNAL_DONE, "one that failed a fallback");
    is_int(kit_settle(j, "b", JOURNAL_SENT, "b1"), JOURNAL_DONE, "one takes the place of one");
    is_int(kit_settle(j, "x1", JOURNAL_RETRY, "n1 n2"), JOURNAL_DONE, "and two come behind one");
    is_str(kit_rows(j), "a b1 c d x1 n1 n2 x21 x22 x31 y", "each where what it follows stood");
    journal_close(j);
    j = kit_reopen(NULL);
    is_str(kit_rows(j), "a b1 c d x1 n1 n2 x21 x22 x31 y", "after a restart, too");
    is_str(kit_dead_of(j, NULL), "", "no dead letter came of it");
    is_int(kit_settle(j, "none", JOURNAL_SENT, "z"), JOURNAL_NO_CHANGE, "a row that is not there");
    is_int(kit_expand(j, "t", "z"), JOURNAL_NO_CHANGE, "a request is no outcome");
    is_int(kit_add(j, ""), JOURNAL_DONE, "none at all");
    is_int(kit_seq(j, "z"), 0, "lays nothing");
    kit_ended(j, "t2", "c1");
    is_int(kit_expand(j, "t2", ""), JOURNAL_DONE, "an outcome of which nothing is shown");
    is_int(kit_seq(j, "t2"), 0, "is gone");
    journal_close(j);
}

static void see_row(void *ctx, const struct journal_row *row)
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
    is_int(journal_add_requests(j, "tg", &r, 1, 50), JOURNAL_TOO_BIG, "a body above the cap");
    r.body = (struct str){huge, JOURNAL_MAX_BODY};
    is_int(journal_add_requests(j, "tg", &r, 1, 50), JOURNAL_DONE, "one of sixteen mebibytes");
    r.body = (struct str){"a\0b", 3};
    is_int(journal_add_requests(j, "tg", &r, 1, 50), JOURNAL_FAILED, "no number twice");
    is_int(journal_add_requests(j, "tg", &r, 1, 60), JOURNAL_DONE, "any bytes");
    is_int(journal_last_seq(j), 60, "the last number is known");
    clock_fake_advance(SECOND);
    struct buf seen = {0};
    is_int(journal_list_rows(j, "tg", see_row, &seen), JOURNAL_DONE, "all comes back");
    is_str(seen.p,
           "0 tg c1 t1 0 0 1000 86399000 2\n"
           "1 tg c2 t2 3 0 1000 59000 16777216\n"
           "1 tg c2 t2 3 0 1000 59000 3\n",
           "as it was laid, with its age");
    buf_fini(&seen);
    const struct journal_settlement sent = {.verdict = JOURNAL_SENT};
    is_int(journal_settle_row(j, 60, &sent, 61), JOURNAL_DONE, "a row is sent");
    is_int(journal_last_seq(j), 60, "and its number is not given again");
    journal_close(j);
}

static void test_attempts(void)
{
    struct journal *const j = kit_fresh();
    kit_add(j, "a b");
    is_int(kit_start(j, "a"), JOURNAL_DONE, "an attempt begins");
    is_int(kit_start(j, "a"), JOURNAL_NO_CHANGE, "one at a time");
    is_int(kit_stats(j).in_flight, 1, "one is in flight");
    is_int(kit_settle(j, "a", JOURNAL_RETRY, ""), JOURNAL_DONE, "it was not sent");
    is_str(kit_rows(j), "a1 b", "and stays");
    kit_start(j, "a");
    const struct journal_settlement lost = {.verdict = JOURNAL_RETRY, .in_doubt = true};
    is_int(journal_settle_row(j, kit_seq(j, "a"), &lost, 9), JOURNAL_DONE, "its answer was lost");
    kit_start(j, "a");
    kit_settle(j, "a", JOURNAL_RETRY, "");
    is_str(kit_rows(j), "a3? b", "the doubt stays");
    kit_start(j, "a");
    is_int(kit_settle(j, "a", JOURNAL_SENT, ""), JOURNAL_DONE, "it is sent");
    is_str(kit_rows(j), "b", "and gone");
    is_int(kit_settle(j, "a", JOURNAL_SENT, ""), JOURNAL_NO_CHANGE, "once");
    is_int(kit_settle(j, "b", JOURNAL_SENT, ""), JOURNAL_DONE,
           "what never was in flight can be settled");
    is_int(kit_start(j, "b"), JOURNAL_NO_CHANGE, "and does not start any more");
    journal_close(j);
}

/* One connector is restarted while the host lives on. */
static void test_take_over(void)
{
    struct journal *const j = kit_fresh();
    const struct journal_request other = {.turn = "t", .lane = "c", .body = {"z", 1}};
    kit_add(j, "a b");
    kit_start(j, "a");
    is_int(journal_add_requests(j, "slack", &other, 1, 90), JOURNAL_DONE,
           "another connector has a row");
    is_int(journal_start_attempt(j, 90), JOURNAL_DONE, "that is in flight, too");
    is_int(journal_take_over(j, "tg"), JOURNAL_DONE, "a row of tg was in flight");
    is_str(kit_rows(j), "a1? b", "it is in doubt, its attempt counted");
    is_int(kit_stats(j).in_flight, 1, "what another connector sends stays in flight");
    is_int(journal_take_over(j, "tg"), JOURNAL_NO_CHANGE, "nothing is in flight any more");
    is_int(kit_start(j, "a"), JOURNAL_DONE, "it can be sent again");
    is_int(kit_stats(j).in_flight, 2, "as another attempt");
    journal_close(j);
}

static void test_dead_letters(void)
{
    struct journal *j = kit_fresh();
    is_str(kit_dead_of(j, NULL), "", "no dead letters");
    kit_add(j, "a b");
    kit_ended(j, "t1", "c1");
    kit_start(j, "a");
    is_int(kit_settle(j, "a", JOURNAL_FAIL, ""), JOURNAL_DONE, "a request fails for good");
    is_str(kit_rows(j), "b t1", "and is not sent again");
    kit_settle(j, "t1", JOURNAL_FAIL, "");
    is_str(kit_dead_of(j, NULL),
           "1 tg/c t request 400 1 []\n"
           "2 tg/c1 t1 outcome 400 0 []\n",
           "it is a dead letter");
    is_str(kit_dead_of(j, "slack"), "", "of its connector");
    is_int(kit_stats(j).dead, 2, "counted");
    struct buf text = {0};
    is_int(journal_dead_get(j, 1, kit_on_dead, &text), JOURNAL_DONE, "it can be shown");
    is_str(text.p, "1 tg/c t request 400 1 [a]\n", "with its body");
    is_int(journal_dead_get(j, 9, kit_on_dead, &text), JOURNAL_NO_CHANGE, "one that is not there");
    buf_fini(&text);
    journal_close(j);
    j = kit_reopen(NULL);
    is_int(journal_dead_retry(j, 1, 77), JOURNAL_DONE,
           "it can be tried again, after a restart too");
    is_int(journal_dead_retry(j, 1, 78), JOURNAL_NO_CHANGE, "once");
    is_str(kit_rows(j), "b a?", "and is the last, in doubt");
    const struct journal_settlement failed = {.verdict = JOURNAL_FAIL, .reason = "no words"};
    is_int(journal_settle_outcome(j, "slack", "t1", &failed, 0), JOURNAL_DONE,
           "an outcome that nobody can tell");
    is_int(journal_settle_outcome(j, "slack", "t1", &failed, 0), JOURNAL_NO_CHANGE, "fails once");
    is_str(kit_dead_of(j, "slack"), "3 slack/c1 t1 outcome no words 0 []\n",
           "and is a dead letter");
    is_int(journal_dead_drop(j, 3), JOURNAL_DONE, "that can be dropped");
    is_int(journal_dead_retry(j, 2, 78), JOURNAL_DONE, "an outcome can be tried again as well");
    is_int(kit_expand(j, "t1", "x"), JOURNAL_DONE, "which is an outcome again");
    is_str(kit_rows(j), "b a? x", "and has its place");
    kit_settle(j, "b", JOURNAL_FAIL, "");
    is_int(journal_dead_drop(j, 4), JOURNAL_DONE, "one is dropped");
    is_int(journal_dead_drop(j, 4), JOURNAL_NO_CHANGE, "once");
    is_str(kit_dead_of(j, NULL), "", "then none is left");
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
           "none of that turn for another chat");
    is_int(count, 0, "none");
    is_int(journal_dead_retry_turn(j, &here, 70, 2, &count), JOURNAL_DONE, "those for this chat");
    is_int(count, 2, "at most so many");
    is_str(kit_rows(j), "a? b?", "in their order, in doubt");
    is_int(journal_dead_retry_turn(j, &here, 80, 2, &count), JOURNAL_DONE, "the rest");
    is_int(count, 1, "one");
    is_int(journal_dead_retry_turn(j, &here, 90, 2, &count), JOURNAL_NO_CHANGE, "once");
    is_str(kit_dead_of(j, NULL), "", "none is left");
    journal_close(j);
}

/* Starts a row and dies with it. */
static void start_and_die(void)
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
    start_and_die();
    start_and_die();
    j = kit_reopen(NULL);
    is_str(kit_rows(j), "a2? b", "a row in flight at two deaths comes again");
    kit_start(j, "a");
    journal_close(j);
    j = kit_reopen(NULL);
    is_str(kit_rows(j), "a3? b", "an orderly end is no death, but the row is in doubt");
    journal_close(j);
    start_and_die();
    j = kit_reopen(NULL);
    is_str(kit_rows(j), "b", "at the third death it does not");
    is_str(kit_dead_of(j, NULL), "1 tg/c t request poison 4 []\n", "it is a dead letter");
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
    is_str(kit_rows(j), "t1 long plain1", "what has its own age ends with it");
    is_str(kit_dead_of(j, NULL), "1 tg/c t9 request expired 0 []\n", "as a dead letter");
    is_int(kit_stats(j).oldest_ms, MINUTE, "the oldest is a minute old");
    clock_fake_advance(24 * HOUR);
    kit_prune(j);
    is_str(kit_rows(j), "long plain1", "the others after a day, but for what is in flight");
    is_int(kit_admit(j, "t3", "t1"), JOURNAL_NO_CHANGE,
           "a message of a day ago is a duplicate still");
    clock_fake_advance(24 * HOUR);
    journal_close(j);
    j = kit_reopen(NULL);
    is_str(kit_rows(j), "", "nothing old comes to life at a start");
    is_int(kit_stats(j).dead, 5, "all of it is dead");
    kit_prune(j);
    is_int(kit_admit(j, "t3", "t1"), JOURNAL_DONE, "after two days a message is forgotten");
    is_int(kit_admit(j, "t1", NULL), JOURNAL_DONE, "with its turn");
    is_int(kit_stats(j).running, 3, "a turn that runs is never forgotten");
    clock_fake_advance(31 * 24 * HOUR);
    kit_prune(j);
    is_str(kit_dead_of(j, NULL), "", "dead letters after a month");
    journal_close(j);
}

static void test_clocks(void)
{
    struct journal *j = kit_fresh();
    add_for(j, "a", MINUTE);
    clock_fake(1000 + 30 * SECOND, 1000000000);
    kit_prune(j);
    is_str(kit_rows(j), "a", "the wall clock may jump while the host runs");
    journal_close(j);
    clock_fake(5, 1700000000);
    j = kit_reopen(NULL);
    is_int(kit_stats(j).oldest_ms, 0, "a clock set back by years");
    clock_fake_advance(MINUTE);
    kit_prune(j);
    is_str(kit_rows(j), "", "makes no row live longer than it may");
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
           "no more rows than allowed; the oldest go, not what is in flight");
    is_str(kit_dead_of(j, NULL),
           "2 tg/c t request overflow 0 []\n"
           "3 tg/c t request overflow 0 []\n",
           "dead letters have their bound too");
    journal_close(j);
    limits = (struct journal_limits){.bytes = 10, .dead_bytes = 8};
    j = kit_fresh_with(&limits);
    kit_add(j, "aaaa bbbb cccc dddd eeee");
    kit_prune(j);
    is_int(kit_stats(j).bytes, 8, "no more bytes than allowed");
    is_str(kit_rows(j), "dddd eeee", "the newest stay");
    is_str(kit_dead_of(j, NULL),
           "2 tg/c t request overflow 0 []\n"
           "3 tg/c t request overflow 0 []\n",
           "and of the dead");
    journal_close(j);
}

static const char *untold(struct journal *j, struct buf *ids)
{
    buf_reset(ids);
    is_int(journal_list_untold(j, "tg", ids), JOURNAL_DONE, "what is left to be told");
    return ids->p ? ids->p : "";
}

static void test_untold(void)
{
    struct journal *const j = kit_fresh();
    CLEANUP_BUF struct buf ids = {0};
    const struct journal_request request = {.turn = "t1", .lane = "c1", .body = STR("post")};
    const struct journal_settlement made = {.verdict = JOURNAL_SENT, .requests = &request, .n = 1};
    const struct journal_request later = {
        .turn = "t1", .lane = "c1", .body = STR("tidy"), .priority = 2};
    const struct journal_request pair[] = {later, request};
    is_str(untold(j, &ids), "", "nothing at first");
    const struct journal_turn t = {
        .id = "t1", .agent = "a", .conv = "c", .source = "tg", .msg_id = "m1"};
    is_int(journal_admit_turn(j, &t, NULL), JOURNAL_DONE, "a turn is admitted");
    is_str(untold(j, &ids), "bt1\n", "it runs");
    kit_end(j, "t1", NULL, "c1");
    is_str(untold(j, &ids), "ot1\n", "its outcome");
    is_int(journal_settle_outcome(j, "tg", "t1", &made, 200), JOURNAL_DONE, "which is a request");
    is_str(untold(j, &ids), "rt1\n", "that is left");
    const struct journal_settlement tidied = {.verdict = JOURNAL_SENT, .requests = &later, .n = 1};
    is_int(journal_settle_row(j, 200, &tidied, 201), JOURNAL_DONE, "which another one follows");
    is_str(untold(j, &ids), "lt1\n", "that is not of the outcome");
    const struct journal_settlement both = {.verdict = JOURNAL_SENT, .requests = pair, .n = 2};
    is_int(journal_settle_row(j, 201, &both, 202), JOURNAL_DONE, "one of two");
    is_str(untold(j, &ids), "rt1\n", "is of the outcome");
    is_int(journal_remove_turn(j, "t1"), JOURNAL_DONE, "it is removed");
    is_str(untold(j, &ids), "", "with that");
    is_int(journal_remove_turn(j, "t1"), JOURNAL_NO_CHANGE, "once");
    is_str(kit_rows_of(j, "slack"), "t1", "another connector is told all the same");
    is_int(journal_admit_turn(j, &t, NULL), JOURNAL_NO_CHANGE, "its message is known");
    is_int(kit_admit(j, "t1", NULL), JOURNAL_DONE, "and it can be admitted again");
    journal_close(j);
}

int main(void)
{
    plan_lazy();
    const int log = open("/dev/null", O_WRONLY | O_CLOEXEC);
    log_setup(LOG_TEXT, LOG_WARN, log);
    test_places();
    test_rows();
    test_attempts();
    test_take_over();
    test_dead_letters();
    test_retry_turn();
    test_poison();
    test_ages();
    test_clocks();
    test_bounds();
    test_untold();
    clock_fake_end();
    close(log);
    return 0;
}
