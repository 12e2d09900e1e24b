/* SPDX-License-Identifier: MIT
 * Tests of the lives of an instance in a process of its own: what a death leaves, what a hang
 * costs; nothing of it stays in the system. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sys/clock.h"
#include "plugin/events.h"
#include "plugin/puppet_kit.h"
#include "tap/tap.h"

/* ---- deaths */

#define LARGE ((size_t)400 << 20) /* bytes that the host has in memory */

/* What the obituary says that the process had in memory. */
static long told_mib(const char *log)
{
    const char *const end = strstr(log, " MiB); restarting");
    const char *at = end;
    while (at && at > log && at[-1] != ' ')
        at--;
    return end ? strtol(at, NULL, 10) : -1;
}

static void test_another_life(void)
{
    char *const large = malloc(LARGE);
    memset(large, 1, LARGE);
    struct channel *const c = puppet_start("lives");
    void *const turn = puppet_open_turn(c, "t1"), *const other = puppet_open_turn(c, "t2");
    puppet_cast(c, turn, TC_START);
    puppet_cast(c, other, TC_START);
    puppet_say(c, turn, "remember the middle");
    ok(kit_wait_batches(1), "it has something to remember");
    puppet_say(c, turn, "crash-once");
    puppet_say(c, turn, "goes on");
    puppet_cast(c, other, TC_DONE);
    ok(puppet_wait_written("goes on"), "after a death it goes on");
    is_int((long long)puppet_count(puppet_written(), "init "), 2, "in a second life");
    has_str(puppet_written(), "open t1 claude - - the middle resumed\n", "with what it remembered");
    is_int((long long)puppet_count(puppet_written(), "resumed\n"), 2,
           "all its turns are told as resumed");
    is_int((long long)puppet_count(puppet_written(), "remember the middle"), 1,
           "what was done is not done again");
    const struct channel_health h = c->ops->health(c);
    ok(h.deaths == 1 && !h.down && h.pid > 0, "the death is counted");
    const char *const log = kit_logged();
    has_str(log, "process terminated by signal 11", "the obituary names the signal");
    has_str(log, "in on_narration, turn t1 (plugin puppet 7, ABI ", "callback, turn, plugin");
    has_str(log, " MiB); restarting in 1000 ms", "what it used, and what follows");
    ok(told_mib(log) > 0 && told_mib(log) < 250, "its own memory, not the host's: %ld MiB",
       told_mib(log));
    free(large);
    puppet_say(c, turn, "send x");
    ok(kit_wait_batches(3), "it sends");
    puppet_cast(c, turn, TC_FINAL);
    puppet_cast(c, turn, TC_DONE);
    ok(kit_wait_batches(4), "its outcome");
    is_int(kit_stop(c, KIT_DEADLINE_MS), 0, "it ends");
    is_int((long long)puppet_count(puppet_written(), "\"final\""), 1, "is told once");
}

/* It dies after its batch has been sent: the host has it, so it is not done again. */
static void test_settled(void)
{
    struct channel *const c = puppet_start("settled");
    void *const turn = puppet_open_turn(c, "t1");
    puppet_cast(c, turn, TC_START);
    struct event ev = draft(TC_FINAL, 2);
    ev.u.final.text = "send the outcome";
    ev.u.final.text_len = strlen(ev.u.final.text);
    c->ops->send(c, turn, shared_event_new(&ev));
    ok(kit_wait_batches(1), "its outcome is settled");
    puppet_say(c, turn, "crash-once");
    ok(puppet_wait_written("resumed"), "it dies and lives");
    puppet_cast(c, turn, TC_DONE);
    ok(puppet_wait_written("\"done\""), "the turn ends");
    c->ops->reply(c, turn, puppet_reply_to(puppet_newest_request(), "ok", true));
    ok(kit_wait_batches(2) && puppet_newest_batch()->over,
       "over, with the reply to the first life's");
    is_int((long long)puppet_count(puppet_written(), "\"final\""), 1, "  without being told twice");
    is_int(kit_stop(c, KIT_DEADLINE_MS), 0, "it ends");
}

/* Poison: a narration, an outcome, a reply, the end, the start. */
static void test_poison(void)
{
    struct channel *const c = puppet_start("poison");
    void *const turn = puppet_open_turn(c, "t1");
    struct event ev = draft(TC_DONE, 9);
    ev.u.done.reason = "crash";
    puppet_cast(c, turn, TC_START);
    puppet_say(c, turn, "crash");
    puppet_say(c, turn, "the rest");
    c->ops->send(c, turn, shared_event_new(&ev));
    is_int(kit_stop(c, KIT_DEADLINE_MS), 0, "at the end no life waits for the next");
    has_str(puppet_written(), "the rest", "after three deaths the poison is given up");
    const char *const log = kit_logged();
    has_str(log, "narration of turn t1 crashed the process 3 times; moved to dead letters",
            "  logged");
    has_str(log, "done of turn t1 crashed the process 3 times; moved to dead letters",
            "  the end, too");
    ok(strstr(kit_told.p, "bury:3:t1:{") && strstr(kit_told.p, "\"crash\""),
       "  buried with its line");
    is_int((long long)puppet_count(puppet_written(), "init "), 6, "  in six lives");
    ok(kit_n_batches == 1 && puppet_newest_batch()->over,
       "one whose end kills is over all the same");
}

/* What it was performing when it died may have been performed: it is not told again. */
static void test_death_while_performing(void)
{
    struct channel *const c = puppet_start("performs");
    void *const turn = puppet_open_turn(c, "t1");
    puppet_cast(c, turn, TC_START);
    puppet_say(c, turn, "send x");
    ok(kit_wait_batches(1), "a request");
    const struct outbound_request *const l = puppet_newest_request();
    struct outbound_reply *const r = puppet_reply_to(l, "crash", false);
    r->reply.outcome = TC_YOUR_TURN;
    r->verdict = (struct tc_verdict){.next = TC_NEXT_LATER};
    c->ops->reply(c, turn, r);
    ok(kit_wait_batches(2), "it dies of performing it");
    const struct callback_batch *const b = puppet_newest_batch();
    ok(b->settles == BATCH_REQUEST && b->request == l->id && b->verdict.next == TC_NEXT_LATER &&
           b->results && b->results->request == l->id && b->results->outcome == TC_AMBIGUOUS,
       "  which is in doubt at once");
    has_str(b->results->error, "crashed while it performed this", "  with the reason");
    ok(puppet_wait_written("resumed"), "in another life");
    c->ops->reply(c, turn, puppet_reply_to(l, "doubt", true));
    ok(kit_wait_batches(3), "it is asked what that means");
    is_int((long long)puppet_count(puppet_written(), "crash"), 1, "and is not told again");
    is_int(kit_stop(c, KIT_DEADLINE_MS), 0, "it ends");
}

static void test_poisoned_outcome(void)
{
    struct channel *const c = puppet_start("outcome");
    void *const turn = puppet_open_turn(c, "t1");
    puppet_cast(c, turn, TC_START);
    puppet_say(c, turn, "send x");
    ok(kit_wait_batches(1), "a request");
    struct event ev = draft(TC_FINAL, 2);
    ev.u.final.text = "crash";
    ev.u.final.text_len = 5;
    c->ops->stop(c);
    c->ops->send(c, turn, shared_event_new(&ev));
    c->ops->reply(c, turn, puppet_reply_to(puppet_newest_request(), "crash", true));
    puppet_cast(c, turn, TC_DONE);
    is_int(c->ops->join(c, clock_mono_ms() + KIT_DEADLINE_MS), 0, "it ends");
    size_t outcomes = 0, requests = 0, overs = 0;
    for (size_t i = 0; i < kit_n_batches; i++) {
        outcomes += kit_batches[i]->settles == BATCH_OUTCOME && kit_batches[i]->failed;
        requests += kit_batches[i]->settles == BATCH_REQUEST && kit_batches[i]->failed &&
                    kit_batches[i]->verdict.next == TC_NEXT_FAIL;
        overs += kit_batches[i]->over;
    }
    is_int((long long)outcomes, 1, "the outcome has failed");
    is_int((long long)requests, 1, "the reply has failed");
    is_int((long long)overs, 1, "the turn is over");
}

/* One that dies at each start never gets anywhere, and is not waited for. */
static void test_no_life(void)
{
    struct channel *const c = puppet_start("nolife");
    void *const turn = puppet_open_turn(c, "t1");
    puppet_cast(c, turn, TC_START);
    ok(puppet_wait_written("\"start\""), "it runs");
    tap_spew(puppet_path, "", 0);
    chmod(puppet_path, 0);
    kill(kit_child(), SIGKILL);
    ok(kit_wait_log("restarting in"), "it is killed");
    has_str(kit_logged(),
            "killed (SIGKILL; possibly out of memory) or closed its connection while idle",
            "  from outside");
    puppet_say(c, turn, "x");
    const int64_t before = clock_mono_ms();
    kit_stop(c, KIT_DEADLINE_MS);
    ok(geteuid() == 0 || clock_mono_ms() - before < KIT_DEADLINE_MS / 2,
       "no life is lived in vain for ever");
    chmod(puppet_path, 0600);
}

/* ---- hangs */

static struct channel *start_hasty(const char *name, const char *at_end)
{
    kit_forget();
    kit_logged();
    struct conf_instance spec = puppet_spec_of(name);
    spec.callback_ms = 300;
    puppet_set_option(1, "at_end", at_end);
    return kit_start(&spec, "puppet", &kit_host);
}

static void test_hangs(void)
{
    struct channel *const c = start_hasty("hangs", "");
    void *const turn = puppet_open_turn(c, "t1");
    puppet_cast(c, turn, TC_START);
    puppet_say(c, turn, "hang");
    ok(kit_wait_log("on_narration has not returned for "), "a callback that hangs is seen");
    ok(kit_wait_log("killed after a hang in on_narration, turn t1"), "  and killed");
    puppet_cast(c, turn, TC_USAGE);
    is_int(kit_stop(c, KIT_DEADLINE_MS), 0, "it ends");
    has_str(kit_logged(), "narration of turn t1 crashed the process 3 times", "  given up at last");
    has_str(puppet_written(), "\"usage\"", "  so that it can go on");
}

static void test_stopped(void)
{
    struct channel *const c = start_hasty("stopped", "");
    void *const turn = puppet_open_turn(c, "t1");
    puppet_cast(c, turn, TC_START);
    ok(puppet_wait_written("\"start\""), "it runs");
    kill(kit_child(), SIGSTOP);
    puppet_say(c, turn, "x");
    ok(kit_wait_log("the main loop of the process has not returned for "),
       "one that was stopped hangs, too");
    is_int(kit_stop(c, KIT_DEADLINE_MS), 0, "it ends");
    has_str(puppet_written(), "\"x\"", "with what it had to see");
}

static void test_hanging_end(void)
{
    struct channel *const c = start_hasty("end", "hang");
    const int64_t before = clock_mono_ms();
    kit_stop(c, KIT_DEADLINE_MS);
    ok(clock_mono_ms() - before < KIT_DEADLINE_MS / 2, "a teardown that hangs is killed");
    ok(kit_wait_log("teardown has not returned for "), "  logged");
    struct conf_instance spec = puppet_spec_of("join");
    puppet_set_option(1, "at_end", "hang");
    struct channel *const d = kit_start(&spec, "puppet", &kit_host);
    is_int(kit_stop(d, 300), -1, "or when the time to end is over");
    ok(kit_wait_log("did not stop in time (in teardown)"), "  logged");
}

static void test_init_faults(void)
{
    struct tc_err err = {0};
    struct conf_instance spec = puppet_spec_of("init");
    puppet_set_option(1, "at_start", "fail");
    ok(!kit_try(&spec, "puppet", &kit_host, &err), "init that fails");
    is_str(err_format(&err), "my.conf:3: instance init: disabled: init failed; see the log",
           "  says so");
    spec.init_ms = 300;
    puppet_set_option(1, "at_start", "hang");
    ok(!kit_try(&spec, "puppet", &kit_host, &err), "init that hangs");
    is_str(err_format(&err),
           "my.conf:3: instance init: disabled: init did not return within 300 ms (init_ms)",
           "  says so");
    puppet_set_option(1, "nonsense", "x");
    ok(!kit_try(&spec, "puppet", &kit_host, &err), "a wrong option");
    has_str(err_format(&err), "my.conf:9: plugins.instances.init.nonsense: unknown option",
            "  says so");
}

/* ---- memory */

static bool has_lived_twice(void *arg)
{
    (void)arg;
    return puppet_count(puppet_written(), "init ") == 2;
}

static void test_recycled(void)
{
    kit_forget();
    kit_logged();
    struct conf_instance spec = puppet_spec_of("grows");
    spec.memory_mb = 192;
    struct channel *const c = kit_start(&spec, "puppet", &kit_host);
    void *const turn = puppet_open_turn(c, "t1");
    puppet_cast(c, turn, TC_START);
    puppet_say(c, turn, "take 256");
    ok(kit_wait(has_lived_twice, NULL), "one that grew too big begins anew");
    has_str(kit_logged(), "exceeds memory_mb = 192; restarting the process", "  logged");
    is_int((long long)puppet_count(puppet_written(), "teardown\n"), 1, "  after teardown");
    is_int((long long)c->ops->health(c).deaths, 0, "  which is no death");
    puppet_cast(c, turn, TC_DONE);
    is_int(kit_stop(c, KIT_DEADLINE_MS), 0, "it ends");
    is_int((long long)puppet_count(puppet_written(), "take 256"), 1, "and did nothing twice");
}

/* ---- what it starts */

static void test_heir(void)
{
    struct channel *const c = puppet_start("heir");
    void *const turn = puppet_open_turn(c, "t1");
    puppet_cast(c, turn, TC_START);
    puppet_say(c, turn, "fork 3");
    ok(kit_wait(puppet_has_written, (char[]){"fork"}),
       "one that leaves a process behind, or may not");
    is_int(kit_stop(c, KIT_DEADLINE_MS), 0, "it ends");
}

/* Where it stood is in the log of the host at any level. */
static void test_violated(void)
{
    struct channel *const c = puppet_start("violated");
    void *const turn = puppet_open_turn(c, "t1");
    puppet_cast(c, turn, TC_START);
    kit_logged();
    puppet_say(c, turn, "violate");
    ok(puppet_wait_written("resumed"), "one whose code is in an impossible state lives again");
    const char *const log = kit_logged();
    has_str(log, "error instance violated: turncast: invariant violated at src/x.c:1: all is well",
            "  which assertion failed is logged as an error");
    has_str(log, "process terminated by signal 6", "  and its death");
    is_int(kit_stop(c, KIT_DEADLINE_MS), 0, "  it ends");
}

int main(void)
{
    plan_lazy();
    kit_begin();
    const unsigned fds = kit_count_fds(), children = kit_count_children();
    test_another_life();
    test_settled();
    test_poison();
    test_death_while_performing();
    test_poisoned_outcome();
    test_no_life();
    test_hangs();
    test_stopped();
    test_hanging_end();
    test_init_faults();
    test_recycled();
    test_heir();
    test_violated();
    is_int(kit_count_children(), children, "no process is left");
    is_int(kit_count_fds(), fds, "no descriptor is left");
    kit_end();
}
