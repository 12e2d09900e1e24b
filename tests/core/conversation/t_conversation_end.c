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
            "R26: a message that arrives while the host exits is stored");
    ok(!drained, "the host waits for the running turn");
    talk_finish(0);
    talk_spin(is_drained, NULL);
    ok(drained, "the host may exit after the turn has ended");
    is_str(fake_ledger_states(&talk.disk), "ended waiting",
           "R26: the waiting message stays on disk");
    ok(strstr(cast_log_text(&talk.log), "done(completed)"), "the turn ended with its own outcome");
    talk_end("a drain with a running turn");

    talk_begin(NULL);
    drained = false;
    talk.conf.conversations.drain_ms = 50;
    talk_say("work");
    talk_await_working(1);
    turn_scheduler_drain(talk.all, on_drained, NULL);
    talk_spin(is_drained, NULL);
    ok(drained && strstr(cast_log_text(&talk.log), "error(host_shutdown"),
       "a turn that exceeds drain_s ends with host_shutdown");
    is_str(talk.disk.turns[0].error, "host_shutdown", "host_shutdown is on disk");
    talk_end("a drain that exceeds drain_s");

    talk_begin(NULL);
    drained = false;
    turn_scheduler_drain(talk.all, on_drained, NULL);
    ok(!drained, "the callback is called from the event loop only");
    talk_spin(is_drained, NULL);
    ok(drained, "a drain without turns ends at once");
    talk_end("a drain without turns");
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
        ok(turn_scheduler_restore(talk.all, &old[i]), "R26: the waiting turn %s is restored",
           old[i].id);
    }
    ok(!turn_scheduler_restore(talk.all,
                               &(struct journal_turn){.id = "t3", .conv = "x:A", .source = "x"}),
       "R26: a turn of a removed instance is not restored");
    turn_scheduler_start_restored(talk.all);
    talk_await_quiet();
    talk_await_states("ended merged", "R26: messages that waited when the host was killed are run");
    ok(strstr(cast_log_text(&talk.log), "start(one\n\ntwo)"),
       "R26: the waiting messages run as one turn, as before the restart");
    talk_end("a restart with waiting turns");
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
