/* SPDX-License-Identifier: MIT
 * An agent that works on behind its answer: what is waited for, and when that ends. */
#include <string.h>

#include "core/stage.h"
#include "tap/tap.h"

#define SAY_TASKS(list)                                                                            \
    "text={\"type\":\"system\",\"subtype\":\"background_tasks_changed\",\"tasks\":[" list          \
    "],\"session_id\":\"s-1\"}"
#define COUNT "{\"task_id\":\"a1\",\"task_type\":\"local_agent\",\"description\":\"Count files\"}"
#define SAY_IDLE                                                                                   \
    "text={\"type\":\"system\",\"subtype\":\"session_state_changed\",\"state\":\"idle\","          \
    "\"session_id\":\"s-1\"}"
#define SAY_ANSWER(text) "text=" RESULT(text)
#define SAY_WAKE_UP                                                                                \
    "text={\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":[{\"type\":"               \
    "\"tool_result\",\"tool_use_id\":\"t1\",\"content\":\"ok\"}]},\"session_id\":\"s-1\","         \
    "\"tool_use_result\":{\"scheduledFor\":1795384560000}}"

static void set(struct stage *s, const char *const *words)
{
    *s = (struct stage){0};
    stage_set(s, words);
    s->agent.grace.exit_ms = s->agent.grace.term_ms = 100;
}

/* It is silent for longer than any grace, and than an agent may be that works. */
static void test_waits(void)
{
    struct stage s;
    set(&s, WORDS(SAY_INIT, SAY_TASKS(COUNT), SAY_ANSWER("first"), "ms=1500", SAY_TASKS(""),
                  SAY_INIT, SAY_ANSWER("last"), SAY_IDLE, "eof"));
    s.agent.idle_timeout_ms = 400;
    stage_begin(&s);
    ok(stage_wait(&s, "notice(background_work)"),
       "a notice reports that the turn waits for background work");
    ok(!strstr(cast_log_text(&s.log), "final("), "the first answer is held back");
    stage_end(&s, "final(last) done(completed)", "the answer after background work is the outcome");
    ok(s.took_ms >= 1500, "the turn lasts until the background work has ended");

    set(&s, WORDS(SAY_INIT, SAY_TASKS(COUNT), SAY_ANSWER("first"), SAY_TASKS(""), SAY_INIT,
                  SAY_ANSWER(""), SAY_IDLE, "eof"));
    stage_run(&s, "final(first) done(completed)",
              "an empty answer after background work does not replace the first one");

    set(&s, WORDS(SAY_INIT, SAY_WAKE_UP, SAY_ANSWER("first"), SAY_IDLE, "ms=600", SAY_INIT,
                  SAY_ANSWER("last"), SAY_IDLE, "eof"));
    stage_run(&s, "final(last) done(completed)", "the answer after a wake-up is the outcome");

    set(&s, WORDS(SAY_INIT, SAY_ANSWER("first"), "eof"));
    s.agent.grace.exit_ms = 20000;
    stage_run(&s, "final(first) done(completed)", "a turn without background work");
    ok(s.took_ms < 10000, "a turn without background work does not wait");
}

/* Without its states a list that is empty is no end: the turn that reports the task follows. */
static void test_without_states(void)
{
    struct stage s;
    set(&s, WORDS(SAY_INIT, SAY_TASKS(COUNT), SAY_ANSWER("first"), SAY_TASKS(""), "ms=300",
                  SAY_INIT, SAY_ANSWER("last"), "eof"));
    stage_run(&s, "final(last) done(completed)", "an agent that does not report its states");
    ok(s.took_ms >= 2300, "the turn ends after two seconds of silence");
}

static void test_limits(void)
{
    struct stage s;
    set(&s, WORDS(SAY_INIT, SAY_TASKS(COUNT), SAY_ANSWER("first"), SAY_IDLE, "sleep"));
    s.agent.background_timeout_ms = 300;
    stage_begin(&s);
    ok(stage_wait(&s, "notice(background_work_ended)"),
       "a notice reports that the turn no longer waits");
    stage_end(&s, "final(first) done(completed)",
              "background work that exceeds background_timeout_s");

    set(&s, WORDS(SAY_INIT, SAY_TASKS(COUNT), SAY_ANSWER("first"), "sleep"));
    s.agent.turn_timeout_ms = 500;
    stage_run(&s, "final(first) done(completed)", "background work that exceeds turn_timeout_s");

    set(&s, WORDS(SAY_INIT, SAY_TASKS(COUNT), SAY_ANSWER("first"), "errtext=HTTP 503", "exit=3"));
    stage_run(&s, "final(first) done(completed)", "an agent that exits during background work");
}

static void test_ends(void)
{
    struct stage s;
    set(&s, WORDS(SAY_INIT, SAY_TASKS(COUNT), SAY_ANSWER("first"), "sleep"));
    stage_begin(&s);
    stage_wait(&s, "notice(background_work)");
    executor_cancel(s.executor);
    ok(stage_wait(&s, "notice(background_work_ended)"),
       "a notice reports the background work that a cancel ended");
    stage_end(&s, "final(first) done(*", "a cancel keeps the first answer");

    set(&s, WORDS(SAY_INIT, SAY_TASKS(COUNT), SAY_ANSWER("first"), "sleep"));
    stage_begin(&s);
    stage_wait(&s, "notice(background_work)");
    executor_cancel_for_exit(s.executor);
    stage_end(&s, "final(first) done(*", "the exit of the host keeps the first answer");
}

int main(void)
{
    plan_lazy();
    stage_init();
    test_waits();
    test_without_states();
    test_limits();
    test_ends();
    stage_fini();
    return 0;
}
