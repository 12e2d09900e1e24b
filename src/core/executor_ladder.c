/* SPDX-License-Identifier: MIT
 * Owns the clocks of a turn and the rungs of the ladder. */
#include <signal.h>

#include "base/clock.h"
#include "base/log.h"
#include "core/executor_impl.h"

/* From the last output of an agent that says it has nothing left to do: a turn that reports the end
 * of a task follows within 0.13 s (Claude Code 2.1.330, 22 cases). */
#define SETTLE_MS 2000
#define KILL_EVERY_MS 100
#define KILL_ROUNDS 100 /* then what cannot be killed is reported and left */

static void on_total(void *arg);
static void on_idle(void *arg);
static void on_step(void *arg);
static void on_background(void *arg);

void ladder_init(struct executor *x)
{
    x->total = loop_timer_new(x->loop, on_total, x);
    x->idle = loop_timer_new(x->loop, on_idle, x);
    x->step = loop_timer_new(x->loop, on_step, x);
    x->background = loop_timer_new(x->loop, on_background, x);
    if (x->agent->turn_timeout_ms > 0)
        x->deadline_ms = clock_mono_ms() + x->agent->turn_timeout_ms;
}

void ladder_fini(struct executor *x)
{
    loop_timer_free(x->total);
    loop_timer_free(x->idle);
    loop_timer_free(x->step);
    loop_timer_free(x->background);
    x->total = x->idle = x->step = x->background = NULL;
}

/* --- the rungs ------------------------------------------------------------------------------ */

static void stand(struct executor *x, enum rung rung, int64_t for_ms)
{
    x->rung = rung;
    loop_timer_set(x->step, for_ms);
}

/* Whoever watches is not told that it is over while it is not. */
static void tell_survivors(const struct executor *x, unsigned left)
{
    log_line(LOG_ERR, x->log_name, "%u of its processes cannot be killed", left);
    turn_notice(x->turn, "warn", "processes_left",
                "Processes of the agent are left that cannot be killed.");
}

static void kill_all(struct executor *x)
{
    x->rung = RUNG_KILL;
    const unsigned left = process_kill_tree(x->process);
    if (!left && x->exited) {
        executor_attempt_over(x);
        return;
    }
    if (x->kills++ < KILL_ROUNDS) {
        stand(x, RUNG_KILL, KILL_EVERY_MS);
        return;
    }
    tell_survivors(x, left);
    executor_attempt_over(x);
}

static void terminate(struct executor *x)
{
    if (x->outcome && x->why == WHY_NONE)
        log_line(LOG_INFO, x->log_name, "stays after its result: ending it");
    process_signal(x->process, SIGTERM);
    stand(x, RUNG_TERM, x->agent->term_grace_ms);
}

static void on_step(void *arg)
{
    struct executor *const x = arg;
    switch (x->rung) {
    case RUNG_RUN: /* mute for long enough */
        ladder_end(x, WHY_MUTE);
        break;
    case RUNG_LEAVE:
    case RUNG_ASK:
        terminate(x);
        break;
    case RUNG_TERM:
    case RUNG_KILL:
        kill_all(x);
        break;
    case RUNG_PAUSE:
        if (x->why != WHY_NONE || x->spawn_failed)
            executor_finish(x, NULL);
        else
            executor_next_attempt(x);
        break;
    case RUNG_OVER:
        break;
    }
}

/* Where the dialog allows it, stdin ends behind the interrupt: the agent has nothing to wait for
 * once it has obeyed. */
static void interrupt(struct executor *x)
{
    if (!executor_say(x, dialog_interrupt))
        process_signal(x->process, SIGINT);
    else if (!dialog_waits_for_end(&x->dialog))
        process_close_stdin(x->process);
}

static void stop_clocks(struct executor *x)
{
    loop_timer_set(x->idle, -1);
    loop_timer_set(x->total, -1);
    loop_timer_set(x->background, -1);
}

/* Of two reasons the first counts, and none changes an outcome that has been told. A second
 * request by a person goes straight to the end. */
void ladder_end(struct executor *x, enum why why)
{
    if (x->rung == RUNG_OVER)
        return;
    stop_clocks(x);
    const bool settled = x->outcome && !turn_held_error(x->turn);
    if (x->why == WHY_NONE && !settled) {
        x->why = why;
        if (why != WHY_CANCEL) /* a person who cancels may keep what there is */
            turn_abandon(x->turn);
    }
    if (x->rung == RUNG_PAUSE) {
        loop_timer_set(x->step, 0);
    } else if (x->cancels > 1 || x->rung == RUNG_KILL) {
        stand(x, RUNG_KILL, 0);
    } else if (x->outcome) {
        terminate(x);
    } else if (x->rung == RUNG_RUN) {
        interrupt(x);
        stand(x, RUNG_ASK, x->agent->exit_grace_ms);
    }
}

static void start_total(struct executor *x)
{
    const int64_t left = x->deadline_ms - clock_mono_ms();
    if (x->deadline_ms)
        loop_timer_set(x->total, left > 0 ? left : 0);
}

void ladder_pause(struct executor *x, int64_t ms)
{
    start_total(x);
    stand(x, RUNG_PAUSE, ms);
}

/* --- what the agent does -------------------------------------------------------------------- */

void ladder_begin(struct executor *x)
{
    x->kills = 0;
    x->background_until_ms = 0;
    x->still_told = false;
    x->last_out_ms = clock_mono_ms();
    stand(x, RUNG_RUN, -1);
    start_total(x);
    if (x->agent->idle_timeout_ms > 0)
        loop_timer_set(x->idle, x->agent->idle_timeout_ms / 2);
}

void ladder_failed(struct executor *x)
{
    loop_timer_set(x->idle, -1);
    ladder_pause(x, 0);
}

void ladder_output(struct executor *x)
{
    x->last_out_ms = clock_mono_ms();
    x->still_told = false;
}

void ladder_outcome(struct executor *x)
{
    stop_clocks(x);
    executor_say(x, dialog_leave);
    process_close_stdin(x->process);
    if (x->rung == RUNG_RUN)
        stand(x, RUNG_LEAVE, x->agent->exit_grace_ms);
}

void ladder_mute(struct executor *x)
{
    if (x->rung == RUNG_RUN)
        loop_timer_set(x->step, 2 * x->agent->exit_grace_ms);
}

void ladder_exited(struct executor *x)
{
    loop_timer_set(x->idle, -1);
    loop_timer_set(x->background, -1);
    kill_all(x);
}

/* --- background work -------------------------------------------------------------------------- */

/* How long it is waited for from now; negative: for as long as it takes. */
static int64_t background_left_ms(struct executor *x)
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
    if (x->rung != RUNG_RUN)
        return;
    switch (turn_work(x->turn)) {
    case DIALECT_NO_WORK:
        loop_timer_set(x->background, -1);
        break;
    case DIALECT_SETTLING:
        loop_timer_set(x->background, SETTLE_MS);
        break;
    case DIALECT_WORKS:
        loop_timer_set(x->background, background_left_ms(x));
        break;
    }
}

void ladder_settle(struct executor *x)
{
    if (turn_work(x->turn) == DIALECT_NO_WORK)
        return;
    turn_settle(x->turn);
    executor_look(x);
}

static void on_background(void *arg)
{
    ladder_settle(arg);
}

/* --- the clocks ------------------------------------------------------------------------------- */

static void on_total(void *arg)
{
    struct executor *const x = arg;
    ladder_settle(x);
    if (!x->outcome)
        ladder_end(x, WHY_TOTAL);
}

static void tell_still_working(struct executor *x, int64_t silent_ms)
{
    CLEANUP_BUF struct buf text = {0};
    buf_printf(&text, "still working: no output for %lld s", (long long)silent_ms / 1000);
    turn_notice(x->turn, "info", "still_working", text.p);
    x->still_told = true;
}

/* The timer is not moved at every output: when it fires it looks how long the silence is. While the
 * agent waits for a person, or for what it does in the background, the silence is not its own. */
static void on_idle(void *arg)
{
    struct executor *const x = arg;
    if (turn_is_asking(x->turn) || turn_work(x->turn) == DIALECT_WORKS)
        x->last_out_ms = clock_mono_ms();
    const int64_t limit = x->agent->idle_timeout_ms;
    const int64_t silent = clock_mono_ms() - x->last_out_ms;
    if (silent >= limit) {
        ladder_end(x, WHY_IDLE);
        return;
    }
    if (silent >= limit / 2 && !x->still_told)
        tell_still_working(x, silent);
    loop_timer_set(x->idle, (x->still_told ? limit : limit / 2) - silent);
}
