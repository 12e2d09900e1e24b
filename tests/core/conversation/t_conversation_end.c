/* SPDX-License-Identifier: MIT
 * Conversations when the host ends, and when another begins. */
#include "core/stage.h"
#include "core/talk.h"
#include "tap/tap.h"

static bool drained;

static void on_drained(void *ctx)
{
    (void)ctx;
    drained = true;
}

static bool is_drained(const void *arg)
{
    (void)arg;
    return drained;
}

static void test_drain(void)
{
    talk_begin(NULL);
    drained = false;
    talk_say("work");
    talk_await_working(1);
    turn_scheduler_drain(talk.all, on_drained, NULL);
    talk_is(talk_say("late"), TC_QUEUED,
            "turncast is restarting. Your message is saved and will be answered after the restart.",
            "R26: what comes while the host ends is kept");
    ok(!drained, "a turn is given its time");
    talk_finish(0);
    talk_spin(is_drained, NULL);
    ok(drained, "then the host may end");
    is_str(fake_ledger_states(&talk.disk), "ended waiting", "R26: what waits stays on disk");
    ok(strstr(cast_log_text(&talk.log), "done(completed)"), "the turn ended by itself");
    talk_end("a drain");

    talk_begin(NULL);
    drained = false;
    talk.conf.conversations.drain_ms = 50;
    talk_say("work");
    talk_await_working(1);
    turn_scheduler_drain(talk.all, on_drained, NULL);
    talk_spin(is_drained, NULL);
    ok(drained && strstr(cast_log_text(&talk.log), "error(host_shutdown"),
       "time is up: host_shutdown");
    is_str(talk.disk.turns[0].error, "host_shutdown", "on disk, too");
    talk_end("a drain that is over");

    talk_begin(NULL);
    drained = false;
    turn_scheduler_drain(talk.all, on_drained, NULL);
    ok(!drained, "told from the loop only");
    talk_spin(is_drained, NULL);
    ok(drained, "nothing to wait for");
    talk_end("an idle drain");
}

static void test_restore(void)
{
    talk_begin((const char *const[]){SAY_INIT, SAY_RESULT, NULL});
    static const struct journal_turn old[] = {
        {.id = "t1",
         .conv = "tg:A",
         .source = "tg",
         .agent = "fake",
         .waiting = true,
         .prompt = "one",
         .route = "{}"},
        {.id = "t2",
         .conv = "tg:A",
         .source = "tg",
         .agent = "fake",
         .waiting = true,
         .prompt = "two"},
    };
    for (size_t i = 0; i < 2; i++) {
        journal_async_admit_turn(&talk.disk, &old[i], NULL, NULL);
        ok(turn_scheduler_restore(talk.all, &old[i]), "R26: %s waited", old[i].id);
    }
    ok(!turn_scheduler_restore(talk.all,
                               &(struct journal_turn){.id = "t3", .conv = "x:A", .source = "x"}),
       "R26: one of an instance that is gone");
    turn_scheduler_start_restored(talk.all);
    talk_await_quiet();
    talk_await_states("ended merged", "R26: messages that waited when the host was killed are run");
    ok(strstr(cast_log_text(&talk.log), "start(one\n\ntwo)"), "R26: as it would have");
    talk_end("a restart");
}

int main(void)
{
    plan_lazy();
    talk_init();
    test_drain();
    test_restore();
    stage_fini();
    return 0;
}
