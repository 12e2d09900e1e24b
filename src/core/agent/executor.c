/* SPDX-License-Identifier: MIT
 * Owns the attempts of a turn: starts processes, passes messages and output, and decides the next
 * step. */
#include "core/agent/executor.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/invariant.h"
#include "base/str.h"
#include "base/sys/log.h"
#include "core/agent/executor_internal.h"
#include "core/agent/launch.h"
#include "text/sentence/texts.h"

/* Prompt of an agent that resumes a session in which it has already acted. */
#define CONTINUE_MESSAGE                                                                           \
    "The previous attempt was interrupted by a temporary error. Continue the task from where it "  \
    "stopped. Do not repeat actions that are already done; check their results first."

static void executor_on_over(void *ctx);

/* --- output of the agent ---------------------------------------------------------------------- */

/* Whether the agent accepts another message after its answer. */
static bool executor_can_retain_process(const struct executor *x)
{
    return x->why == WHY_NONE && turn_get_result(x->turn)->has_final && x->owner.may_stay &&
           agent_process_runs(x->process) &&
           agent_input_goes_on(agent_process_dialog(x->process)) && x->owner.may_stay(x->owner.ctx);
}

/* The turn has ended, but the process stays alive: passes it to its keeper. */
static void executor_part(struct executor *x, const char *bytes, size_t n)
{
    ASSERT(x->process && !x->parted);
    struct agent_process *const p = x->process;
    x->process = NULL;
    x->parted = true;
    turn_set_line_cb(x->turn, NULL, NULL);
    agent_process_attach_stream(p, turn_detach_stream(x->turn));
    x->owner.stay(x->owner.ctx, p, bytes, n);
    executor_schedule_retry(x, 0); /* deferred: not allowed within a callback of the process */
}

/* An error is reported at once if no retry follows. */
static void on_outcome(struct executor *x)
{
    ASSERT(!x->outcome);
    x->outcome = true;
    const struct executor_retry retry = executor_decide_retry(x);
    if (x->why == WHY_NONE && !retry.again) {
        end_annotate_error(x, &retry);
        turn_release_gated(x->turn);
    }
}

void executor_check_progress(struct executor *x, const char *rest, size_t n)
{
    if (!x->outcome && !turn_has_outcome(x->turn)) {
        ladder_background(x);
    } else if (!x->outcome) {
        on_outcome(x);
        executor_on_outcome(x);
        if (executor_can_retain_process(x)) {
            executor_part(x, rest, n);
            return;
        }
        agent_process_close_input(x->process);
    }
    if (n)
        turn_feed(x->turn, rest, n);
}

static void executor_on_out(void *ctx, const char *p, size_t n)
{
    struct executor *const x = ctx;
    x->heard = true;
    executor_on_output(x);
    if (x->owner.output)
        x->owner.output(x->owner.ctx, p, n);
    const size_t taken = turn_feed(x->turn, p, n);
    executor_check_progress(x, p + taken, n - taken);
}

static void executor_on_failed(void *ctx, const struct tc_err *err)
{
    struct executor *const x = ctx;
    x->spawn_error = *err;
    x->spawn_failed = true;
    executor_on_spawn_failed(x);
}

static void executor_on_mute(void *ctx)
{
    executor_stop(ctx, WHY_MUTE);
}

static void executor_on_process_exit(void *ctx)
{
    struct executor *const x = ctx;
    if (x->lease_ms && clock_mono_ms() >= x->lease_ms)
        executor_fence(x); /* the shim has killed the agent */
    turn_feed_eof(x->turn);
    executor_on_exited(x);
}

/* Followers are told only when the turn has really ended. */
static void executor_on_stuck(void *ctx, unsigned left)
{
    struct executor *const x = ctx;
    (void)left;
    TEXTS_IN(turn_language(x->turn));
    turn_emit_notice(x->turn, "warn", "processes_left", texts_get(TEXT_PROCESSES_LEFT));
}

/* --- an attempt ------------------------------------------------------------------------------- */

static void executor_on_line(void *ctx, const char *line, size_t len)
{
    struct executor *const x = ctx;
    char id[DIALECT_STEER_ID];
    enum dialect_settled how;
    agent_process_line(x->process, line, len);
    while ((how = agent_input_settled(agent_process_dialog(x->process), id)) != DIALECT_UNSETTLED)
        if (x->owner.settled)
            x->owner.settled(x->owner.ctx, id, how);
}

static void executor_send_message(struct executor *x)
{
    CLEANUP_FREE char *cwd = x->agent->cwd ? xstrdup(x->agent->cwd) : getcwd(NULL, 0);
    const struct str message =
        x->continues ? STR(CONTINUE_MESSAGE) : (struct str){x->message.p, x->message.len};
    const struct dialect_prompt prompt = {.text = message.p,
                                          .len = message.len,
                                          .session_id = x->session_id,
                                          .cwd = cwd ? cwd : "/",
                                          .mode = x->agent->mode};
    if (x->warm)
        agent_process_next(x->process, &prompt);
    else
        agent_process_begin(x->process, turn_dialect(x->turn), &prompt);
}

int executor_answer(struct executor *x, const struct dialect_answer *answer)
{
    CLEANUP_FREE char *id = turn_agent_request_id(x->turn, answer->request_id);
    struct dialect_answer named = *answer;
    named.request_id = id;
    if (!id || !x->process || x->outcome || agent_process_answer(x->process, &named) < 0)
        return -1;
    executor_on_output(x); /* the time of silence starts here */
    return 0;
}

enum dialect_steer executor_steer(struct executor *x, const char *id, struct str text)
{
    return x->process && !x->outcome && x->why == WHY_NONE
               ? agent_process_steer(x->process, id, text)
               : DIALECT_REFUSED;
}

bool executor_withdraw(struct executor *x, const char *id)
{
    return x->process && !x->outcome && x->why == WHY_NONE &&
           agent_process_withdraw(x->process, id);
}

bool executor_waits(const struct executor *x, const char *request_id)
{
    CLEANUP_FREE char *id = turn_agent_request_id(x->turn, request_id);
    return id && x->process && agent_input_waits(agent_process_dialog(x->process), id);
}

bool executor_accepts_args(const struct executor *x, const char *request_id)
{
    CLEANUP_FREE char *id = turn_agent_request_id(x->turn, request_id);
    return id && x->process && agent_input_takes_args(agent_process_dialog(x->process), id);
}

static const struct agent_process_events events = {executor_on_failed, executor_on_out,
                                                   executor_on_mute,   executor_on_process_exit,
                                                   executor_on_stuck,  executor_on_over};

static void executor_listen_to(struct executor *x)
{
    executor_on_spawned(x);
    if (x->owner.may_stay)
        turn_stop_at_outcome(x->turn);
    if (x->owner.spawned)
        x->owner.spawned(x->owner.ctx, agent_process_pid(x->process));
}

static void start_process(struct executor *x)
{
    ASSERT(!x->process);
    const struct agent_process_spec spec = {.agent = x->agent,
                                            .session_id = x->session_id,
                                            .conversation = x->conversation,
                                            .turn = turn_id(x->turn),
                                            .place = x->owner.place};
    x->process = agent_process_spawn(x->loop, &spec, &events, x, &x->spawn_error);
    if (!x->process) {
        x->spawn_failed = true;
        executor_on_spawn_failed(x);
        return;
    }
    if (x->lease_ms)
        agent_process_set_lease(x->process, x->lease_ms);
    if (x->owner.lost)
        x->owner.lost(x->owner.ctx);
    executor_listen_to(x);
    executor_send_message(x);
}

/* Continues with a process that served an earlier turn. */
static void continue_process(struct executor *x, const struct executor_spec *spec)
{
    x->process = spec->process;
    x->warm = true;
    agent_process_set_lease(x->process, x->lease_ms);
    agent_process_hand_over(x->process, &events, x);
    turn_continue_stream(x->turn, agent_process_detach_stream(x->process), spec->by_agent);
    executor_listen_to(x);
    if (!spec->by_agent && !spec->has_message)
        executor_send_message(x);
    if (spec->unread.len)
        executor_on_out(x, spec->unread.p, spec->unread.len);
}

/* The process that has started the turn by itself exited before any of its output was passed on. */
static void fail_ended(struct executor *x)
{
    err_set(&x->spawn_error, x->agent->name, "the waiting process of the agent has exited");
    x->spawn_failed = true;
    executor_on_spawn_failed(x);
}

void executor_start_attempt(struct executor *x)
{
    x->attempt++;
    x->heard = x->warm = false;
    agent_process_free(x->process);
    x->process = NULL;
    start_process(x);
}

static void executor_set_session(struct executor *x, const char *id)
{
    char *const old = x->session_id;
    x->session_id = id && *id ? xstrdup(id) : NULL;
    free(old);
}

/* Resumes the session named in the stream, unless the retry repairs the loss of a session. */
static void prepare_retry(struct executor *x, const struct executor_retry *retry)
{
    const char *const id = turn_session_id(x->turn);
    if (retry->without_session)
        executor_set_session(x, NULL);
    else if (launch_is_session_id(id))
        executor_set_session(x, id);
}

static void try_again(struct executor *x, const struct executor_retry *retry)
{
    ASSERT(retry->again && retry->reason);
    CLEANUP_BUF struct buf text = {0};
    buf_printf(&text, "%s; retrying (attempt %u", retry->reason, x->attempt + 1);
    if (retry->anew)
        buf_add_str(&text, ") in a new process");
    else if (retry->without_session)
        buf_add_str(&text, ") in a new session");
    else
        buf_printf(&text, " of %lld in %lld s)", (long long)x->agent->attempts,
                   (long long)retry->delay_ms / 1000);
    if (retry->continues)
        buf_add_str(&text, ", continuing the session");
    log_write(LOG_WARN, x->log_name, "%s", text.p);
    x->continues = retry->continues;
    struct stream_end_info end = {.how = STREAM_EOF};
    turn_end_attempt(x->turn, &end, text.p);
    x->outcome = false;
    prepare_retry(x, retry);
    executor_schedule_retry(x, retry->delay_ms);
}

static void executor_on_over(void *ctx)
{
    struct executor *const x = ctx;
    if (x->owner.unasked)
        x->owner.unasked(x->owner.ctx);
    const struct executor_retry retry = executor_decide_retry(x);
    if (retry.again)
        try_again(x, &retry);
    else
        executor_finish(x, &retry);
}

void executor_finish(struct executor *x, const struct executor_retry *retry)
{
    ASSERT(x->phase != PHASE_OVER);
    x->phase = PHASE_OVER;
    struct stream_end_info end = {.how = STREAM_EOF};
    CLEANUP_BUF struct buf text = {0}, english = {0};
    if (!x->parted) {
        executor_describe_for_log(x, retry, &english);
        executor_describe_end(x, retry, &end, &text);
        turn_end_attempt(x->turn, &end, NULL);
        end_log(x, &end, &english);
    } else if (x->owner.unasked) {
        x->owner.unasked(x->owner.ctx);
    }
    executor_timers_fini(x);
    x->owner.ended(x->owner.ctx, x->spawn_failed);
}

/* --- create and free -------------------------------------------------------------------------- */

struct executor *executor_start(struct loop *l, struct turn *t, const struct executor_spec *spec,
                                void (*ended)(void *ctx, bool spawn_failed), void *ctx)
{
    struct executor *const x = xcalloc(1, sizeof *x);
    x->loop = l;
    x->turn = t;
    x->agent = spec->agent;
    x->owner.ended = ended;
    x->owner.spawned = spec->spawned;
    x->owner.unasked = spec->unasked;
    x->owner.output = spec->output;
    x->owner.settled = spec->settled;
    x->owner.lost = spec->lost;
    x->owner.may_stay = spec->may_stay;
    x->owner.stay = spec->stay;
    x->owner.ctx = ctx;
    x->log_name = xasprintf("agent %s", spec->agent->name);
    buf_add(&x->message, spec->message, spec->message_len);
    x->conversation = xstrdup(spec->conversation);
    x->lease_ms = spec->lease_ms;
    x->owner.place = spec->place;
    executor_set_session(x, spec->session_id);
    turn_set_line_cb(t, executor_on_line, x);
    executor_timers_init(x);
    x->attempt = 1;
    if (spec->process)
        continue_process(x, spec);
    else if (spec->by_agent)
        fail_ended(x);
    else
        start_process(x);
    return x;
}

void executor_cancel(struct executor *x)
{
    x->cancels++;
    executor_stop(x, WHY_CANCEL);
}

void executor_cancel_for_exit(struct executor *x)
{
    x->cancels++;
    ladder_settle(x); /* ends background work, but keeps the answer */
    executor_stop(x, WHY_SHUTDOWN);
}

void executor_fence(struct executor *x)
{
    x->cancels = 2; /* kills at once */
    executor_stop(x, WHY_FENCED);
}

void executor_cut_off(struct executor *x)
{
    x->cancels = 2; /* at once */
    executor_stop(x, WHY_CUT_OFF);
}

void executor_set_lease(struct executor *x, int64_t until_ms)
{
    x->lease_ms = until_ms;
    if (x->process && x->phase == PHASE_ATTEMPT)
        agent_process_set_lease(x->process, until_ms);
}

void executor_free(struct executor *x)
{
    if (!x)
        return;
    executor_timers_fini(x);
    turn_set_line_cb(x->turn, NULL, NULL);
    agent_process_free(x->process);
    buf_fini(&x->message);
    free(x->log_name);
    free(x->conversation);
    free(x->session_id);
    free(x);
}
