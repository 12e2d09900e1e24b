/* SPDX-License-Identifier: MIT
 * Tests of the restarts of an instance in its own process: crashes, hangs, and that nothing of them
 * is left in the system. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sys/clock.h"
#include "plugin/events.h"
#include "plugin/puppet_kit.h"
#include "tap/tap.h"

/* ---- crashes */

#define LARGE ((size_t)400 << 20) /* bytes that the host has allocated */

/* Returns the memory of the process as the log reports it. */
static long logged_mib(const char *log)
{
    const char *const end = strstr(log, " MiB); restarting");
    const char *at = end;
    while (at && at > log && at[-1] != ' ')
        at--;
    return end ? strtol(at, NULL, 10) : -1;
}

static void test_restart(void)
{
    char *const large = malloc(LARGE);
    memset(large, 1, LARGE);
    struct channel *const c = puppet_start("lives");
    void *const turn = puppet_open_turn(c, "t1"), *const other = puppet_open_turn(c, "t2");
    puppet_cast(c, turn, TC_START);
    puppet_cast(c, other, TC_START);
    puppet_say(c, turn, "remember the middle");
    ok(kit_wait_batches(1), "the memory of the turn arrives");
    puppet_say(c, turn, "crash-once");
    puppet_say(c, turn, "goes on");
    puppet_cast(c, other, TC_DONE);
    ok(puppet_wait_written("goes on"), "the restarted process gets the next event");
    is_int((long long)puppet_count(puppet_written(), "init "), 2, "the process was started twice");
    has_str(puppet_written(), "open t1 claude - - the middle resumed\n",
            "the turn is opened again with its memory");
    is_int((long long)puppet_count(puppet_written(), "resumed\n"), 2,
           "all turns are opened as resumed");
    is_int((long long)puppet_count(puppet_written(), "remember the middle"), 1,
           "a handled event is not delivered again");
    const struct channel_health h = c->ops->health(c);
    ok(h.deaths == 1 && !h.down && h.pid > 0, "the crash is counted");
    const char *const log = kit_logged();
    has_str(log, "process terminated by signal 11", "the log names the signal");
    has_str(log, "in on_narration, turn t1 (plugin puppet 7, ABI ",
            "the log names the callback, the turn and the plugin");
    has_str(log, " MiB); restarting in 1000 ms",
            "the log has the memory, and the delay of the restart");
    ok(logged_mib(log) > 0 && logged_mib(log) < 250,
       "the memory is that of the process, not of the host: %ld MiB", logged_mib(log));
    free(large);
    puppet_say(c, turn, "send x");
    ok(kit_wait_batches(3), "the restarted process sends a request");
    puppet_cast(c, turn, TC_FINAL);
    puppet_cast(c, turn, TC_DONE);
    ok(kit_wait_batches(4), "the batch of the outcome arrives");
    is_int(kit_stop(c, KIT_DEADLINE_MS), 0, "the instance ends");
    is_int((long long)puppet_count(puppet_written(), "\"final\""), 1,
           "the outcome is delivered once");
}

/* The process crashes after its batch was sent, so the outcome is not delivered again. */
static void test_settled(void)
{
    struct channel *const c = puppet_start("settled");
    void *const turn = puppet_open_turn(c, "t1");
    puppet_cast(c, turn, TC_START);
    struct event ev = draft(TC_FINAL, 2);
    ev.u.final.text = "send the outcome";
    ev.u.final.text_len = strlen(ev.u.final.text);
    c->ops->send(c, turn, shared_event_new(&ev));
    ok(kit_wait_batches(1), "the outcome is settled");
    puppet_say(c, turn, "crash-once");
    ok(puppet_wait_written("resumed"), "the process is restarted");
    puppet_cast(c, turn, TC_DONE);
    ok(puppet_wait_written("\"done\""), "the process gets done");
    c->ops->reply(c, turn, puppet_reply_to(puppet_newest_request(), "ok", true));
    ok(kit_wait_batches(2) && puppet_newest_batch()->over,
       "the turn is over after the reply to the request of the first process");
    is_int((long long)puppet_count(puppet_written(), "\"final\""), 1,
           "the outcome is delivered once");
    is_int(kit_stop(c, KIT_DEADLINE_MS), 0, "the instance ends");
}

/* Crashes by a narration, an outcome, a reply, the end, and the start. */
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
    is_int(kit_stop(c, KIT_DEADLINE_MS), 0, "a stop does not wait for the next restart");
    has_str(puppet_written(), "the rest", "after three crashes the event is skipped");
    const char *const log = kit_logged();
    has_str(log, "narration of turn t1 crashed the process 3 times; moved to dead letters",
            "the log names the skipped event");
    has_str(log, "done of turn t1 crashed the process 3 times; moved to dead letters",
            "the log names the done event, too");
    ok(strstr(kit_told.p, "bury:3:t1:{") && strstr(kit_told.p, "\"crash\""),
       "the event is a dead letter with its JSON line");
    is_int((long long)puppet_count(puppet_written(), "init "), 6,
           "the process was started six times");
    ok(kit_n_batches == 1 && puppet_newest_batch()->over,
       "a turn whose done crashes the process is over");
}

/* A request that the process was executing when it crashed may have been executed, so it is not
 * repeated. */
static void test_death_while_performing(void)
{
    struct channel *const c = puppet_start("performs");
    void *const turn = puppet_open_turn(c, "t1");
    puppet_cast(c, turn, TC_START);
    puppet_say(c, turn, "send x");
    ok(kit_wait_batches(1), "a request arrives");
    const struct outbound_request *const l = puppet_newest_request();
    struct outbound_reply *const r = puppet_reply_to(l, "crash", false);
    r->reply.outcome = TC_YOUR_TURN;
    r->verdict = (struct tc_verdict){.next = TC_NEXT_LATER};
    c->ops->reply(c, turn, r);
    ok(kit_wait_batches(2), "the process crashes while it executes the request");
    const struct callback_batch *const b = puppet_newest_batch();
    ok(b->settles == BATCH_REQUEST && b->request == l->id && b->verdict.next == TC_NEXT_LATER &&
           b->results && b->results->request == l->id && b->results->outcome == TC_AMBIGUOUS,
       "the request is in doubt at once");
    has_str(b->results->error, "crashed while it performed this", "the result has the reason");
    ok(puppet_wait_written("resumed"), "the process is restarted");
    c->ops->reply(c, turn, puppet_reply_to(l, "doubt", true));
    ok(kit_wait_batches(3), "the plugin is asked for its verdict");
    is_int((long long)puppet_count(puppet_written(), "crash"), 1,
           "the plugin is not asked to execute the request again");
    is_int(kit_stop(c, KIT_DEADLINE_MS), 0, "the instance ends");
}

static void test_poisoned_outcome(void)
{
    struct channel *const c = puppet_start("outcome");
    void *const turn = puppet_open_turn(c, "t1");
    puppet_cast(c, turn, TC_START);
    puppet_say(c, turn, "send x");
    ok(kit_wait_batches(1), "a request arrives");
    struct event ev = draft(TC_FINAL, 2);
    ev.u.final.text = "crash";
    ev.u.final.text_len = 5;
    c->ops->stop(c);
    c->ops->send(c, turn, shared_event_new(&ev));
    c->ops->reply(c, turn, puppet_reply_to(puppet_newest_request(), "crash", true));
    puppet_cast(c, turn, TC_DONE);
    is_int(c->ops->join(c, clock_mono_ms() + KIT_DEADLINE_MS), 0, "the instance ends");
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

/* A process that crashes at each start does not delay a stop. */
static void test_crash_at_start(void)
{
    struct channel *const c = puppet_start("nolife");
    void *const turn = puppet_open_turn(c, "t1");
    puppet_cast(c, turn, TC_START);
    ok(puppet_wait_written("\"start\""), "the process is running");
    tap_spew(puppet_path, "", 0);
    chmod(puppet_path, 0);
    kill(kit_child(), SIGKILL);
    ok(kit_wait_log("restarting in"), "the process is killed");
    has_str(kit_logged(),
            "killed (SIGKILL; possibly out of memory) or closed its connection while idle",
            "the log says that it was killed from outside");
    puppet_say(c, turn, "x");
    const int64_t before = clock_mono_ms();
    kit_stop(c, KIT_DEADLINE_MS);
    ok(geteuid() == 0 || clock_mono_ms() - before < KIT_DEADLINE_MS / 2,
       "a stop does not wait for the restarts");
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
    ok(kit_wait_log("on_narration has not returned for "), "a callback that hangs is detected");
    ok(kit_wait_log("killed after a hang in on_narration, turn t1"),
       "the process that hangs is killed");
    puppet_cast(c, turn, TC_USAGE);
    is_int(kit_stop(c, KIT_DEADLINE_MS), 0, "the instance ends");
    has_str(kit_logged(), "narration of turn t1 crashed the process 3 times",
            "the event is skipped after three hangs");
    has_str(puppet_written(), "\"usage\"", "the next event is delivered");
}

static void test_stopped(void)
{
    struct channel *const c = start_hasty("stopped", "");
    void *const turn = puppet_open_turn(c, "t1");
    puppet_cast(c, turn, TC_START);
    ok(puppet_wait_written("\"start\""), "the process is running");
    kill(kit_child(), SIGSTOP);
    puppet_say(c, turn, "x");
    ok(kit_wait_log("the main loop of the process has not returned for "),
       "a suspended process counts as hanging");
    is_int(kit_stop(c, KIT_DEADLINE_MS), 0, "the instance ends");
    has_str(puppet_written(), "\"x\"", "the events are delivered after a restart");
}

static void test_hanging_end(void)
{
    struct channel *const c = start_hasty("end", "hang");
    const int64_t before = clock_mono_ms();
    kit_stop(c, KIT_DEADLINE_MS);
    ok(clock_mono_ms() - before < KIT_DEADLINE_MS / 2, "a process whose teardown hangs is killed");
    ok(kit_wait_log("teardown has not returned for "), "the hang is logged");
    struct conf_instance spec = puppet_spec_of("join");
    puppet_set_option(1, "at_end", "hang");
    struct channel *const d = kit_start(&spec, "puppet", &kit_host);
    is_int(kit_stop(d, 300), -1, "a stop ends at its time limit");
    ok(kit_wait_log("did not stop in time (in teardown)"), "the time limit is logged");
}

static void test_init_faults(void)
{
    struct tc_err err = {0};
    struct conf_instance spec = puppet_spec_of("init");
    puppet_set_option(1, "at_start", "fail");
    ok(!kit_try(&spec, "puppet", &kit_host, &err), "an instance whose init fails is not started");
    is_str(err_format(&err), "my.conf:3: instance init: disabled: init failed; see the log",
           "the error says that init failed");
    spec.init_ms = 300;
    puppet_set_option(1, "at_start", "hang");
    ok(!kit_try(&spec, "puppet", &kit_host, &err), "an instance whose init hangs is not started");
    is_str(err_format(&err),
           "my.conf:3: instance init: disabled: init did not return within 300 ms (init_ms)",
           "the error says that init did not return");
    puppet_set_option(1, "nonsense", "x");
    ok(!kit_try(&spec, "puppet", &kit_host, &err),
       "an instance with an unknown option is not started");
    has_str(err_format(&err), "my.conf:9: plugins.instances.init.nonsense: unknown option",
            "the error names the option");
}

/* ---- memory */

static bool has_started_twice(void *arg)
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
    ok(kit_wait(has_started_twice, NULL), "a process above its memory limit is restarted");
    has_str(kit_logged(), "exceeds memory_mb = 192; restarting the process",
            "the restart is logged");
    is_int((long long)puppet_count(puppet_written(), "teardown\n"), 1,
           "teardown runs before the restart");
    is_int((long long)c->ops->health(c).deaths, 0, "the restart is not counted as a crash");
    puppet_cast(c, turn, TC_DONE);
    is_int(kit_stop(c, KIT_DEADLINE_MS), 0, "the instance ends");
    is_int((long long)puppet_count(puppet_written(), "take 256"), 1, "no event is delivered twice");
}

/* ---- processes that it starts */

static void test_left_process(void)
{
    struct channel *const c = puppet_start("heir");
    void *const turn = puppet_open_turn(c, "t1");
    puppet_cast(c, turn, TC_START);
    puppet_say(c, turn, "fork 3");
    ok(kit_wait(puppet_has_written, (char[]){"fork"}),
       "a connector leaves a process behind, or is not permitted to");
    is_int(kit_stop(c, KIT_DEADLINE_MS), 0, "the instance ends");
}

/* The position of the violated invariant is logged at every log level. */
static void test_violated(void)
{
    struct channel *const c = puppet_start("violated");
    void *const turn = puppet_open_turn(c, "t1");
    puppet_cast(c, turn, TC_START);
    kit_logged();
    puppet_say(c, turn, "violate");
    ok(puppet_wait_written("resumed"), "a process whose invariant is violated is restarted");
    const char *const log = kit_logged();
    has_str(log, "error instance violated: turncast: invariant violated at src/x.c:1: all is well",
            "the violated invariant is logged as an error");
    has_str(log, "process terminated by signal 6", "the signal is logged");
    is_int(kit_stop(c, KIT_DEADLINE_MS), 0, "the instance ends");
}

int main(void)
{
    plan_lazy();
    kit_begin();
    const unsigned fds = kit_count_fds(), children = kit_count_children();
    test_restart();
    test_settled();
    test_poison();
    test_death_while_performing();
    test_poisoned_outcome();
    test_crash_at_start();
    test_hangs();
    test_stopped();
    test_hanging_end();
    test_init_faults();
    test_recycled();
    test_left_process();
    test_violated();
    is_int(kit_count_children(), children, "no process is left");
    is_int(kit_count_fds(), fds, "no descriptor is left");
    kit_end();
}
