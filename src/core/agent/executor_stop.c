/* SPDX-License-Identifier: MIT
 * Timeouts and the stop sequence of an attempt: close stdin or interrupt, then SIGTERM after
 * exit_grace, then SIGKILL to the process tree after term_grace. */
#include "base/invariant.h"
#include "base/sys/clock.h"
#include "core/agent/executor_internal.h"

/* Time from the last output of an agent that reports no remaining work. A turn that reports the end
 * of a task follows within 0.13 s (Claude Code 2.1.330, 22 cases). */
#define SETTLE_MS 2000

static void on_total(void *arg);
static void on_idle(void *arg);
static void on_pause(void *arg);
static void on_background(void *arg);

void executor_timers_init(struct executor *x)
{
    x->total = loop_timer_new(x->loop, on_total, x);
    x->idle = loop_timer_new(x->loop, on_idle, x);
    x->pause = loop_timer_new(x->loop, on_pause, x);
    x->background = loop_timer_new(x->loop, on_background, x);
    if (x->agent->turn_timeout_ms > 0)
        x->deadline_ms = clock_mono_ms() + x->agent->turn_timeout_ms;
}

void executor_timers_fini(struct executor *x)
{
    loop_timer_free(x->total);
    loop_timer_free(x->idle);
    loop_timer_free(x->pause);
    loop_timer_free(x->background);
    x->total = x->idle = x->pause = x->background = NULL;
}

/* --- the end of an attempt ------------------------------------------------------------------ */

static void on_pause(void *arg)
{
    struct executor *const x = arg;
    ASSERT(x->phase == PHASE_PAUSE);
    if (x->parted || x->why != WHY_NONE || x->spawn_failed)
        executor_finish(x, NULL);
    else
        executor_start_attempt(x);
}

static void stop_clocks(struct executor *x)
{
    loop_timer_set(x->idle, -1);
    loop_timer_set(x->total, -1);
    loop_timer_set(x->background, -1);
}

/* The first reason counts; later ones do not change it, nor an outcome that was emitted. The second
 * cancellation by a person kills at once. */
void executor_stop(struct executor *x, enum executor_stop_reason why)
{
    if (x->phase == PHASE_OVER)
        return;
    stop_clocks(x);
    const bool settled = x->outcome && !turn_gated_error(x->turn);
    if (x->why == WHY_NONE && !settled) {
        x->why = why;
        if (why != WHY_CANCEL) /* after a cancellation, the text so far is kept */
            turn_ignore_outcome(x->turn);
    }
    if (x->phase == PHASE_PAUSE)
        loop_timer_set(x->pause, 0);
    else if (x->cancels > 1)
        agent_process_kill(x->process);
    else if (x->outcome)
        agent_process_terminate(x->process);
    else
        agent_process_interrupt(x->process);
}

static void start_total(struct executor *x)
{
    const int64_t left = x->deadline_ms - clock_mono_ms();
    if (x->deadline_ms)
        loop_timer_set(x->total, left > 0 ? left : 0);
}

void executor_schedule_retry(struct executor *x, int64_t ms)
{
    ASSERT(x->phase != PHASE_OVER);
    start_total(x);
    x->phase = PHASE_PAUSE;
    loop_timer_set(x->pause, ms);
}

/* --- activity of the agent -------------------------------------------------------------------- */

void executor_on_spawned(struct executor *x)
{
    x->phase = PHASE_ATTEMPT;
    x->background_until_ms = 0;
    x->notice_sent = false;
    x->last_out_ms = clock_mono_ms();
    start_total(x);
    if (x->agent->idle_timeout_ms > 0)
        loop_timer_set(x->idle, x->agent->idle_timeout_ms / 2);
}

void executor_on_spawn_failed(struct executor *x)
{
    loop_timer_set(x->idle, -1);
    executor_schedule_retry(x, 0);
}

void executor_on_output(struct executor *x)
{
    x->last_out_ms = clock_mono_ms();
    x->notice_sent = false;
}

void executor_on_outcome(struct executor *x)
{
    stop_clocks(x);
}

void executor_on_exited(struct executor *x)
{
    loop_timer_set(x->idle, -1);
    loop_timer_set(x->background, -1);
}

/* --- background work -------------------------------------------------------------------------- */

/* Remaining time for background work; negative: unlimited. */
static int64_t executor_background_remaining_ms(struct executor *x)
{
    const int64_t limit = x->agent->background_timeout_ms, now = clock_mono_ms();
    if (!limit)
        return -1;
    if (!x->background_until_ms)
        x->background_until_ms = now + limit;
    return x->background_until_ms > now ? x->background_until_ms - now : 0;
}

void ladder_background(struct executor *x)
{
    if (!agent_process_runs(x->process))
        return;
    switch (turn_work(x->turn)) {
    case DIALECT_NO_WORK:
        loop_timer_set(x->background, -1);
        break;
    case DIALECT_SETTLING:
        loop_timer_set(x->background, SETTLE_MS);
        break;
    case DIALECT_WORKS:
        loop_timer_set(x->background, executor_background_remaining_ms(x));
        break;
    }
}

void ladder_settle(struct executor *x)
{
    if (turn_work(x->turn) == DIALECT_NO_WORK)
        return;
    turn_settle(x->turn);
    executor_check_progress(x, NULL, 0);
}

static void on_background(void *arg)
{
    ladder_settle(arg);
}

/* --- timeouts --------------------------------------------------------------------------------- */

static void on_total(void *arg)
{
    struct executor *const x = arg;
    ladder_settle(x);
    if (!x->outcome)
        executor_stop(x, WHY_TOTAL);
}

static void executor_emit_still_working(struct executor *x, int64_t silent_ms)
{
    CLEANUP_BUF struct buf text = {0};
    buf_printf(&text, "no output for %lld s; the agent is still running",
               (long long)silent_ms / 1000);
    turn_emit_notice(x->turn, "info", "still_working", text.p);
    x->notice_sent = true;
}

/* The timer is not reset at every output: when it fires, it computes the length of the silence.
 * Time in which the agent waits for a person or for background work does not count as silence. */
static void on_idle(void *arg)
{
    struct executor *const x = arg;
    if (turn_has_open_request(x->turn) || turn_work(x->turn) == DIALECT_WORKS)
        x->last_out_ms = clock_mono_ms();
    const int64_t limit = x->agent->idle_timeout_ms;
    const int64_t silent = clock_mono_ms() - x->last_out_ms;
    if (silent >= limit) {
        executor_stop(x, WHY_IDLE);
        return;
    }
    if (silent >= limit / 2 && !x->notice_sent)
        executor_emit_still_working(x, silent);
    loop_timer_set(x->idle, (x->notice_sent ? limit : limit / 2) - silent);
}
