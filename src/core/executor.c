/* SPDX-License-Identifier: MIT
 * Owns the attempts of a turn: what is spawned, what it is told, what follows it. */
#include "core/executor.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "base/str.h"
#include "core/executor_impl.h"
#include "core/launch.h"

/* What an agent is told that resumes a session in which it has already acted. */
#define CONTINUE_MESSAGE                                                                           \
    "The previous attempt was interrupted by a temporary error. Continue the task from where it "  \
    "stopped. Do not repeat actions that are already done; check their results first."

/* --- what comes from the agent -------------------------------------------------------------- */

/* An error is told at once when nothing is tried after it. */
static void on_outcome(struct executor *x)
{
    x->outcome = true;
    const struct retry retry = end_retry(x);
    if (x->why == WHY_NONE && !retry.again) {
        end_annotate_error(x, &retry);
        turn_release(x->turn);
    }
    ladder_outcome(x);
}

void executor_look(struct executor *x)
{
    if (x->outcome)
        return;
    if (turn_has_outcome(x->turn))
        on_outcome(x);
    else
        ladder_background(x);
}

static void on_out(void *ctx, const char *p, size_t n)
{
    struct executor *const x = ctx;
    ladder_output(x);
    turn_feed(x->turn, p, n);
    executor_look(x);
}

static void on_err(void *ctx, const char *p, size_t n)
{
    tail_add(&((struct executor *)ctx)->tail, p, n);
}

static void on_out_end(void *ctx)
{
    ladder_mute(ctx);
}

static void on_failed(void *ctx, const struct tc_err *err)
{
    struct executor *const x = ctx;
    process_free(x->process);
    x->process = NULL;
    x->spawn_error = *err;
    x->spawn_failed = true;
    ladder_failed(x);
}

static void on_gone(void *ctx, int status)
{
    struct executor *const x = ctx;
    x->exited = true;
    x->status = status;
    turn_feed_end(x->turn);
    ladder_exited(x);
}

/* --- an attempt ------------------------------------------------------------------------------- */

static int spawn(struct executor *x)
{
    static const struct process_events events = {on_failed, on_out, on_err, on_out_end, on_gone};
    char **const argv = launch_argv(x->agent, x->session_id, x->conversation, &x->spawn_error);
    if (!argv)
        return -1;
    char **const env = launch_env(x->agent, environ, turn_id(x->turn));
    CLEANUP_FREE char *mark = launch_mark(turn_id(x->turn));
    const struct process_spec spec = {
        .argv = (const char *const *)argv,
        .env = (const char *const *)env,
        .cwd = x->agent->cwd,
        .mark = mark,
        .user = x->agent->user,
        .limits = &x->agent->limits,
        .name = turn_id(x->turn),
    };
    x->process = process_spawn(x->loop, &spec, &events, x, &x->spawn_error);
    launch_free(argv);
    launch_free(env);
    return x->process ? 0 : -1;
}

static void on_line(void *ctx, const char *line, size_t len)
{
    struct executor *const x = ctx;
    CLEANUP_BUF struct buf bytes = {0};
    dialog_line(&x->dialog, &bytes, line, len);
    if (bytes.len && x->process)
        process_write(x->process, bytes.p, bytes.len);
}

static void send_message(struct executor *x)
{
    CLEANUP_FREE char *cwd = x->agent->cwd ? xstrdup(x->agent->cwd) : getcwd(NULL, 0);
    const struct str message =
        x->continues ? STR(CONTINUE_MESSAGE) : (struct str){x->message.p, x->message.len};
    const struct dialect_prompt prompt = {.text = message.p,
                                          .len = message.len,
                                          .session_id = x->session_id,
                                          .cwd = cwd ? cwd : "/",
                                          .mode = x->agent->mode};
    CLEANUP_BUF struct buf bytes = {0};
    dialog_begin(&x->dialog, turn_dialect(x->turn), &prompt, &bytes);
    process_write(x->process, bytes.p, bytes.len);
    if (!dialog_keeps_open(&x->dialog))
        process_close_stdin(x->process);
}

bool executor_say(struct executor *x, void (*say)(struct dialog *d, struct buf *out))
{
    CLEANUP_BUF struct buf bytes = {0};
    say(&x->dialog, &bytes);
    if (bytes.len)
        process_write(x->process, bytes.p, bytes.len);
    return bytes.len > 0;
}

int executor_answer(struct executor *x, const struct dialect_answer *answer)
{
    CLEANUP_BUF struct buf bytes = {0};
    CLEANUP_FREE char *id = turn_agents_id(x->turn, answer->request_id);
    struct dialect_answer named = *answer;
    named.request_id = id;
    if (!id || !x->process || x->outcome || dialog_answer(&x->dialog, &bytes, &named) < 0)
        return -1;
    process_write(x->process, bytes.p, bytes.len);
    ladder_output(x); /* its silence counts from here */
    return 0;
}

bool executor_waits(const struct executor *x, const char *request_id)
{
    CLEANUP_FREE char *id = turn_agents_id(x->turn, request_id);
    return id && dialog_waits(&x->dialog, id);
}

void executor_next_attempt(struct executor *x)
{
    x->attempt++;
    x->exited = false;
    tail_reset(&x->tail);
    if (spawn(x) < 0) {
        x->spawn_failed = true;
        ladder_failed(x);
        return;
    }
    ladder_begin(x);
    if (x->spawned)
        x->spawned(x->ctx, process_pid(x->process));
    send_message(x);
}

static void set_session(struct executor *x, const char *id)
{
    char *const old = x->session_id;
    x->session_id = id && *id ? xstrdup(id) : NULL;
    free(old);
}

/* The session that the stream named is resumed, unless its loss is what is being repaired. */
static void prepare_retry(struct executor *x, const struct retry *retry)
{
    const char *const id = turn_session_id(x->turn);
    if (retry->without_session)
        set_session(x, NULL);
    else if (launch_is_session(id))
        set_session(x, id);
}

static void try_again(struct executor *x, const struct retry *retry)
{
    CLEANUP_BUF struct buf text = {0};
    buf_printf(&text, "%s: attempt %u", retry->reason, x->attempt + 1);
    if (retry->without_session)
        buf_add_str(&text, " begins a new one");
    else
        buf_printf(&text, " of %lld in %lld s", (long long)x->agent->attempts,
                   (long long)retry->delay_ms / 1000);
    if (retry->continues)
        buf_add_str(&text, ", continuing the session");
    log_line(LOG_WARN, x->log_name, "%s", text.p);
    x->continues = retry->continues;
    struct stream_end_info end = {.how = STREAM_EOF};
    turn_end_attempt(x->turn, &end, text.p);
    x->outcome = false;
    prepare_retry(x, retry);
    ladder_pause(x, retry->delay_ms);
}

void executor_attempt_over(struct executor *x)
{
    const unsigned strays = process_strays(x->process);
    if (strays)
        log_line(LOG_INFO, x->log_name, "killed %u processes it had left running", strays);
    process_free(x->process);
    x->process = NULL;
    dialog_end(&x->dialog);
    if (x->unasked)
        x->unasked(x->ctx);
    const struct retry retry = end_retry(x);
    if (retry.again)
        try_again(x, &retry);
    else
        executor_finish(x, &retry);
}

void executor_finish(struct executor *x, const struct retry *retry)
{
    x->rung = RUNG_OVER;
    struct stream_end_info end = {.how = STREAM_EOF};
    CLEANUP_BUF struct buf text = {0};
    end_explain(x, retry, &end, &text);
    turn_end_attempt(x->turn, &end, NULL);
    end_log(x, &end);
    ladder_fini(x);
    x->ended(x->ctx, x->spawn_failed);
}

/* --- its life --------------------------------------------------------------------------------- */

struct executor *executor_start(struct loop *l, struct turn *t, const struct executor_spec *spec,
                                void (*ended)(void *ctx, bool spawn_failed), void *ctx)
{
    struct executor *const x = xcalloc(1, sizeof *x);
    x->loop = l;
    x->turn = t;
    x->agent = spec->agent;
    x->ended = ended;
    x->spawned = spec->spawned;
    x->unasked = spec->unasked;
    x->ctx = ctx;
    x->log_name = xasprintf("agent %s", spec->agent->name);
    buf_add(&x->message, spec->message, spec->message_len);
    x->conversation = xstrdup(spec->conversation);
    set_session(x, spec->session_id);
    turn_on_line(t, on_line, x);
    ladder_init(x);
    executor_next_attempt(x);
    return x;
}

void executor_cancel(struct executor *x)
{
    x->cancels++;
    ladder_end(x, WHY_CANCEL);
}

void executor_shutdown(struct executor *x)
{
    x->cancels++;
    ladder_settle(x); /* the answer is not lost with what went on behind it */
    ladder_end(x, WHY_SHUTDOWN);
}

void executor_free(struct executor *x)
{
    if (!x)
        return;
    ladder_fini(x);
    turn_on_line(x->turn, NULL, NULL);
    process_free(x->process);
    dialog_end(&x->dialog);
    tail_fini(&x->tail);
    buf_fini(&x->message);
    free(x->log_name);
    free(x->conversation);
    free(x->session_id);
    free(x);
}
