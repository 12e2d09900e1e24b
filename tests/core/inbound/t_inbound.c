/* SPDX-License-Identifier: MIT
 * Cancellation of a turn at an instance that shows it, but where it did not begin. */
#include "core/inbound/inbound.h"

#include <string.h>

#include "core/stage.h"
#include "core/talk.h"
#include "tap/tap.h"

static void test_cancel(void)
{
    talk_begin(NULL);
    talk.instances[1].grants |= CONF_CANCEL;
    talk_say("work");
    talk_await_working(1);
    const char *const id = talk.disk.turns[0].id;
    talk_is(talk_cancel("sl", "1", id), TC_KNOWN, "",
            "R21: an instance that does not show the turn stops nothing");
    is_int(turn_scheduler_count_running(talk.all), 1, "the turn still runs");
    talk.log.shown_at = "sl";
    talk_is(talk_cancel("sl", "3", id), TC_DENIED, "",
            "R21: a stranger may not stop a turn that the chat shows");
    talk_is(talk_cancel("sl", "1", "nonsense"), TC_KNOWN, "", "an unknown turn cannot be stopped");
    talk_is(talk_say("later"), TC_QUEUED, NULL, "a message waits for the turn");
    talk_is(talk_cancel("sl", "1", talk.disk.turns[1].id), TC_KNOWN, "",
            "another instance does not drop the waiting message");
    talk_is(talk_say("/queue clear"), TC_COMMAND, "Dropped 1 queued message.",
            "its own chat drops the waiting message");
    talk_is(talk_cancel("sl", "1", id), TC_COMMAND, "Stopping the running turn.",
            "R19: the stop button of another instance that shows the turn stops it");
    talk_await_quiet();
    ok(strstr(cast_log_text(&talk.log), "done(cancelled)"),
       "R19: the stopped turn ends as cancelled");
    talk_end("a cancelled turn that another chat shows");
}

int main(void)
{
    plan_lazy();
    talk_init();
    test_cancel();
    stage_fini();
    return 0;
}
