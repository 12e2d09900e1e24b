/* SPDX-License-Identifier: MIT
 * The outbox: one order in a lane, nothing lost, nothing repeated without need or kept too long. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "io/journal_kit.h"
#include "tap/tap.h"

static void test_live(void)
{
    struct journal *const j = kit_fresh();
    is_int(kit_live(j, "t1", "x"), JOURNAL_UNCHANGED, "no live row without a turn");
    kit_admit(j, "t1", "m1");
    is_int(kit_live(j, "t1", "one"), JOURNAL_DONE, "a live row");
    is_int(kit_live(j, "t1", "two"), JOURNAL_DONE, "a newer body");
    is_int(kit_live(j, "t1", "two"), JOURNAL_UNCHANGED, "the same again");
    is_int(kit_stats(j).waiting, 1, "are one row");
    is_str(kit_claim(j), "t1 live 2 1", "of the newest generation");
    kit_live(j, "t1", "three");
    is_str(kit_claim(j), "-", "one of a lane in flight");
    kit_sent(j, "77");
    is_str(kit_claim(j), "t1 live 3 1 id=77 live=77", "then what came meanwhile, with the id");
    kit_sent(j, NULL);
    is_str(kit_claim(j), "-", "and nothing when all was sent");
    is_int(kit_live(j, "t1", "three"), JOURNAL_UNCHANGED, "what was sent is not sent again");
    kit_live(j, "t1", "four");
    kit_end(j, "t1", NULL, "c1");
    is_str(kit_claim(j), "t1 final 1 1 live=77", "the outcome, and where the live message is");
    kit_sent(j, "78");
    is_str(kit_claim(j), "-", "no live edit after it");
    is_int(kit_live(j, "t1", "five"), JOURNAL_UNCHANGED, "nor a new one");
    journal_row_fini(&kit_row);
    journal_close(j);
}

/* The outcome comes while a live row is on the wire. */
static void live_in_flight(enum journal_verdict v, const char *what, const char *wanted)
{
    struct journal *const j = kit_fresh();
    kit_admit(j, "t1", "m1");
    kit_live(j, "t1", "one");
    kit_claim(j);
    kit_live(j, "t1", "two");
    kit_end(j, "t1", NULL, "c1");
    is_str(kit_claim(j), "-", "%s: the outcome waits for the edit in flight", what);
    const struct journal_answer a = {.verdict = v, .remote_id = v ? NULL : "77"};
    is_int(journal_record(j, &kit_row, &a), JOURNAL_DONE, "%s: its answer comes", what);
    is_str(kit_claim(j), wanted, "%s: then it goes", what);
    kit_sent(j, NULL);
    is_str(kit_claim(j), "-", "%s: and no edit follows", what);
    journal_row_fini(&kit_row);
    journal_close(j);
}

/* Takes the row that claim_of claimed last. */
static struct journal_row take_row(void)
{
    const struct journal_row taken = kit_row;
    kit_row = (struct journal_row){0};
    return taken;
}

static void test_order(void)
{
    struct journal *const j = kit_fresh();
    kit_admit(j, "t1", "m1");
    kit_live(j, "t1", "working");
    const struct journal_target t = kit_target("tg", "c1", "approve?");
    is_int(journal_put(j, JOURNAL_NOTICE, "t1", &t), JOURNAL_DONE, "a notice");
    kit_ended(j, "t2", "c1");
    kit_ended(j, "t3", "c1");
    kit_ended(j, "t4", "c2");
    is_str(kit_claim_of(j, "tg", "c1"), "t2 final 1 1", "outcomes first, the oldest");
    struct journal_row first = take_row();
    is_str(kit_claim_of(j, "tg", "c1"), "-", "one of a lane in flight");
    is_str(kit_claim(j), "t4 final 1 1", "another lane goes on");
    kit_sent(j, NULL);
    is_str(kit_claim(j), "-", "and no third");
    journal_row_fini(&kit_row);
    kit_row = first;
    kit_later(j, 10 * SECOND, JOURNAL_HOLD_NOTHING);
    is_str(kit_claim(j), "-", "a row that waits holds its lane");
    clock_fake_advance(10 * SECOND - 1);
    is_str(kit_claim(j), "-", "until then");
    clock_fake_advance(1);
    is_str(kit_claim(j), "t2 final 1 2", "it comes first again, the attempt counted");
    kit_sent(j, NULL);
    is_str(kit_claim(j), "t3 final 1 1", "then the next outcome");
    kit_sent(j, NULL);
    is_str(kit_claim(j), "t1 notice 1 1", "then the notice");
    kit_sent(j, NULL);
    is_str(kit_claim(j), "t1 live 1 1", "then the live row");
    is_int(kit_sent(j, NULL), JOURNAL_DONE, "the answer is recorded");
    is_int(kit_sent(j, NULL), JOURNAL_UNCHANGED, "once");
    journal_row_fini(&kit_row);
    journal_close(j);
}

static void test_holds(void)
{
    struct journal *j = kit_fresh();
    kit_admit(j, "t1", "m1");
    kit_live(j, "t1", "working");
    kit_claim(j);
    kit_later(j, 10 * SECOND, JOURNAL_HOLD_LANE);
    kit_ended(j, "t2", "c1");
    kit_ended(j, "t3", "c2");
    is_str(kit_claim(j), "t3 final 1 1", "a lane on hold lets others pass");
    is_str(kit_claim_of(j, "tg", "c1"), "-", "but not its own outcome");
    journal_close(j);
    j = kit_reopen(NULL);
    is_str(kit_claim_of(j, "tg", "c1"), "-", "nor after a restart");
    clock_fake_advance(10 * SECOND);
    is_str(kit_claim_of(j, "tg", "c1"), "t2 final 1 1", "until the time has come");
    kit_sent(j, NULL);
    kit_claim_of(j, "tg", "c1");
    kit_later(j, 10 * SECOND, JOURNAL_HOLD_CONN);
    kit_ended(j, "t4", "c4");
    is_str(kit_claim(j), "-", "a connector on hold sends nothing");
    is_str(kit_claim_of(j, "slack", "c4"), "t4 final 1 1", "another one does");
    clock_fake_advance(10 * SECOND);
    is_int(journal_prune(j), JOURNAL_DONE, "a hold that is over is forgotten");
    ok(strcmp(kit_claim(j), "-") != 0, "and all goes on");
    kit_later(j, 1000 * HOUR, JOURNAL_HOLD_CONN);
    clock_fake_advance(HOUR);
    ok(strcmp(kit_claim(j), "-") != 0, "no hold is longer than an hour");
    kit_later(j, HOUR, JOURNAL_HOLD_CONN);
    journal_close(j);
    clock_fake(5, 1700000000);
    j = kit_reopen(NULL);
    is_str(kit_claim(j), "-", "a clock set back by years");
    clock_fake_advance(HOUR);
    ok(strcmp(kit_claim(j), "-") != 0, "costs an hour at most");
    journal_row_fini(&kit_row);
    journal_close(j);
}

static void test_wall_clock_step(void)
{
    struct journal *const j = kit_fresh();
    kit_ended(j, "t1", "c1");
    kit_claim(j);
    kit_later(j, 10 * SECOND, JOURNAL_HOLD_NOTHING);
    clock_fake(1000 + 10 * SECOND, 1000000000);
    is_str(kit_claim(j), "t1 final 1 2", "the wall clock may jump while the host runs");
    journal_row_fini(&kit_row);
    journal_close(j);
}

static void test_dead_letters(void)
{
    struct journal *j = kit_fresh();
    is_str(kit_dead_of(j, NULL), "", "no dead letters");
    kit_ended(j, "t1", "c1");
    kit_claim(j);
    is_int(kit_verdict(j, JOURNAL_REJECT), JOURNAL_DONE, "a row is rejected for good");
    is_str(kit_claim(j), "-", "and not sent again");
    kit_claim_of(j, "slack", NULL);
    kit_verdict(j, JOURNAL_REJECT);
    is_str(kit_dead_of(j, NULL),
           "1 tg/c1 t1 final 400 1 []\n"
           "2 slack/c1 t1 final 400 1 []\n",
           "it is a dead letter");
    is_str(kit_dead_of(j, "slack"), "2 slack/c1 t1 final 400 1 []\n", "of its connector");
    is_int(kit_stats(j).dead, 2, "counted");
    struct buf text = {0};
    is_int(journal_dead_show(j, 1, kit_on_dead, &text), JOURNAL_DONE, "it can be shown");
    is_str(text.p, "1 tg/c1 t1 final 400 1 [answer]\n", "with its body");
    is_int(journal_dead_show(j, 9, kit_on_dead, &text), JOURNAL_UNCHANGED, "one that is not there");
    buf_fini(&text);
    journal_close(j);
    j = kit_reopen(NULL);
    is_int(journal_dead_retry(j, 1), JOURNAL_DONE, "it can be tried again, after a restart too");
    is_int(journal_dead_retry(j, 1), JOURNAL_UNCHANGED, "once");
    is_str(kit_claim(j), "t1 final 1 1 doubt", "and goes out");
    is_int(journal_dead_drop(j, 2), JOURNAL_DONE, "it can be dropped");
    is_int(journal_dead_drop(j, 2), JOURNAL_UNCHANGED, "once");
    is_str(kit_dead_of(j, NULL), "", "then none is left");
    kit_admit(j, "t2", "m2");
    kit_live(j, "t2", "working");
    kit_claim_of(j, "tg", "c1");
    kit_sent(j, NULL);
    kit_claim(j);
    kit_verdict(j, JOURNAL_REJECT);
    is_str(kit_dead_of(j, NULL), "", "a live row makes no dead letter");
    is_str(kit_claim(j), "-", "but is dropped");
    journal_row_fini(&kit_row);
    journal_close(j);
}

static void test_poison(void)
{
    struct journal *const j = kit_fresh();
    kit_ended(j, "t1", "c1");
    kit_ended(j, "t2", "c1");
    kit_claim(j);
    kit_verdict(j, JOURNAL_CRASHED);
    is_str(kit_claim(j), "t1 final 1 2 doubt", "a row over which its sender died comes again");
    kit_verdict(j, JOURNAL_CRASHED);
    kit_claim(j);
    is_int(kit_verdict(j, JOURNAL_CRASHED), JOURNAL_DONE, "at the third time");
    is_str(kit_dead_of(j, NULL), "1 tg/c1 t1 final poison 3 []\n", "it is a dead letter");
    is_str(kit_claim(j), "t2 final 1 1", "and the lane goes on");
    journal_row_fini(&kit_row);
    journal_close(j);
}

/* Claims a row and dies with it. */
static void claim_and_die(void)
{
    const pid_t child = fork();
    if (child == 0) {
        kit_claim(kit_reopen(NULL));
        _exit(0);
    }
    if (waitpid(child, NULL, 0) != child)
        bail("child");
}

static void test_poison_of_the_host(void)
{
    struct journal *j = kit_fresh();
    kit_ended(j, "t1", "c1");
    journal_close(j);
    claim_and_die();
    claim_and_die();
    j = kit_reopen(NULL);
    is_str(kit_claim(j), "t1 final 1 3 doubt",
           "a row in flight at two deaths of the host comes again");
    journal_close(j);
    claim_and_die();
    j = kit_reopen(NULL);
    is_str(kit_claim(j), "-", "at three it does not");
    is_str(kit_dead_of(j, NULL), "1 tg/c1 t1 final poison 4 []\n", "it is a dead letter");
    journal_close(j);
}

static void test_ages(void)
{
    struct journal *const j = kit_fresh();
    kit_ended(j, "t1", "c1");
    kit_admit(j, "t2", "m2");
    kit_live(j, "t2", "working");
    clock_fake_advance(61 * SECOND);
    kit_prune(j);
    is_int(kit_stats(j).waiting, 2, "a live row of a minute ago is dropped, an outcome not");
    is_int(kit_stats(j).oldest_ms, 61 * SECOND, "the oldest is a minute old");
    kit_claim(j);
    kit_sent(j, "5");
    is_str(kit_claim(j), "-", "nothing else is due");
    clock_fake_advance(24 * HOUR);
    kit_prune(j);
    is_str(kit_dead_of(j, NULL), "1 slack/c1 t1 final expired 0 []\n",
           "an outcome of a day ago is a dead letter");
    is_int(kit_admit(j, "t3", "t1"), JOURNAL_UNCHANGED,
           "a message of a day ago is a duplicate still");
    clock_fake_advance(24 * HOUR);
    kit_prune(j);
    is_int(kit_admit(j, "t3", "t1"), JOURNAL_DONE, "after two days it is forgotten");
    is_int(kit_admit(j, "t1", NULL), JOURNAL_DONE, "with its turn");
    is_int(kit_stats(j).running, 3, "a turn that runs is never forgotten");
    clock_fake_advance(31 * 24 * HOUR);
    kit_prune(j);
    is_str(kit_dead_of(j, NULL), "", "dead letters after a month");
    journal_row_fini(&kit_row);
    journal_close(j);
}

static void test_bounds(void)
{
    struct journal_limits limits = {.rows = 4, .dead_rows = 3};
    struct journal *j = kit_fresh_with(&limits);
    kit_admit(j, "t0", "m0");
    kit_live(j, "t0", "working");
    for (int i = 1; i <= 4; i++) {
        char id[8];
        snprintf(id, sizeof id, "t%d", i);
        kit_ended(j, id, "c1");
    }
    clock_fake_advance(10000 * HOUR);
    kit_prune(j);
    is_int(kit_stats(j).waiting, 4, "no more rows than allowed");
    is_str(kit_dead_of(j, NULL),
           "2 slack/c1 t1 final overflow 0 []\n"
           "3 tg/c1 t2 final overflow 0 []\n"
           "4 slack/c1 t2 final overflow 0 []\n",
           "live rows go first, then the oldest; dead letters have their bound too");
    is_str(kit_claim(j), "t3 final 1 1", "age 0 keeps for ever");
    journal_close(j);
    limits = (struct journal_limits){.bytes = 13};
    j = kit_fresh_with(&limits);
    kit_ended(j, "t1", "c1");
    kit_ended(j, "t2", "c1");
    kit_prune(j);
    is_int(kit_stats(j).bytes, 12, "no more bytes than allowed");
    is_int(kit_stats(j).dead, 2, "the rest is dead");
    journal_row_fini(&kit_row);
    journal_close(j);
}

/* A backlog of many lanes and rows does not make a claim slow. */
static void test_backlog(void)
{
    struct journal *const j = kit_fresh();
    struct journal_target to[50];
    char convs[50][8];
    for (int i = 0; i < 50; i++) {
        snprintf(convs[i], sizeof convs[i], "c%d", i);
        to[i] = kit_target("tg", convs[i], "answer");
    }
    for (int i = 0; i < 60; i++) {
        char id[16];
        snprintf(id, sizeof id, "t%d", i);
        kit_admit(j, id, id);
        if (journal_end_turn(j, &(struct journal_outcome){id, NULL, to, 50}) != JOURNAL_DONE)
            bail("no backlog");
    }
    int n = 0;
    while (strcmp(kit_claim(j), "-") != 0) {
        n++;
        kit_later(j, HOUR, JOURNAL_HOLD_NOTHING);
    }
    is_int(n, 50, "3000 rows of 50 lanes: each lane is tried once, then all wait");
    clock_fake_advance(HOUR);
    for (n = 0; strcmp(kit_claim(j), "-") != 0; n++)
        kit_sent(j, NULL);
    is_int(n, 3000, "and all are delivered");
    journal_row_fini(&kit_row);
    journal_close(j);
}

int main(void)
{
    plan_lazy();
    const int log = open("/dev/null", O_WRONLY | O_CLOEXEC);
    log_setup(LOG_TEXT, LOG_WARN, log);
    test_live();
    live_in_flight(JOURNAL_SENT, "sent", "t1 final 1 1 live=77");
    live_in_flight(JOURNAL_RETRY, "failed", "t1 final 1 1");
    live_in_flight(JOURNAL_REJECT, "rejected", "t1 final 1 1");
    live_in_flight(JOURNAL_CRASHED, "crashed", "t1 final 1 1");
    test_order();
    test_holds();
    test_wall_clock_step();
    test_dead_letters();
    test_poison();
    test_poison_of_the_host();
    test_ages();
    test_bounds();
    test_backlog();
    clock_unfake();
    close(log);
    return 0;
}
