/* SPDX-License-Identifier: MIT
 * Classifies how an attempt ended: retry or not, error code and message for the turn, and the log
 * line for the operator. */
#include <stdio.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "base/bytes/utf8.h"
#include "base/plural.h"
#include "base/sys/log.h"
#include "core/agent/agent_retry.h"
#include "core/agent/executor_internal.h"
#include "core/agent/launch.h"
#include "text/sentence/texts.h"

#define STDERR_LOGGED ((size_t)2 << 10)
#define STDERR_SEARCHED ((size_t)4 << 10)
#define STDERR_TOLD ((size_t)200)
#define RETRY_TOLD ((size_t)300)

/* --- another attempt -------------------------------------------------------------------------- */

/* The text for the rules: the error message and the end of stderr. */
static void error_text(const struct executor *x, struct buf *out)
{
    const struct tc_error *const error = turn_gated_error(x->turn);
    if (error && error->message) {
        buf_add(out, error->message, strnlen(error->message, STDERR_SEARCHED));
        buf_add_char(out, '\n');
    }
    if (x->process)
        stderr_tail_copy(out, agent_process_tail(x->process), STDERR_SEARCHED);
    for (char *nul = out->p; nul && (nul = memchr(nul, '\0', (size_t)(out->p + out->len - nul)));)
        *nul = ' ';
}

static bool is_session_lost(const struct executor *x)
{
    CLEANUP_BUF struct buf error = {0};
    error_text(x, &error);
    return agent_retry_is_session_lost(error.p);
}

static const char *find_cause(const struct executor *x)
{
    const struct tc_error *const held = turn_gated_error(x->turn);
    CLEANUP_BUF struct buf error = {0};
    error_text(x, &error);
    return agent_retry_find_cause(held ? held->code : NULL, error.p);
}

/* Whether the agent has named a session that the next attempt can resume. */
static bool can_continue(const struct executor *x)
{
    const struct dialect *const dialect = turn_dialect(x->turn);
    const struct dialect_input *const input = dialect ? dialect->input : NULL;
    return (x->agent->resume[0] || (input && input->loads_session)) &&
           launch_is_session_id(turn_session_id(x->turn));
}

struct executor_retry executor_decide_retry(const struct executor *x)
{
    const struct executor_retry no = {.again = false};
    if (x->why != WHY_NONE || x->spawn_failed)
        return no;
    if (turn_has_outcome(x->turn) && !turn_gated_error(x->turn))
        return no; /* a final, or an emitted error */
    if (x->warm && !x->heard && x->message.len)
        return (struct executor_retry){
            .again = true, .anew = true, .reason = "the waiting process of the agent has exited"};
    if (is_session_lost(x) && x->continues)
        return no; /* a new session does not know the earlier actions */
    if (is_session_lost(x) && x->session_id)
        return (struct executor_retry){
            .again = true, .without_session = true, .reason = "session lost"};
    struct executor_retry retry = {.reason = find_cause(x),
                                   .delay_ms = agent_retry_delay_ms(x->attempt)};
    if (!retry.reason || (int64_t)x->attempt >= x->agent->attempts)
        return no;
    const bool acted = turn_acting_tool(x->turn);
    retry.continues = x->continues || (acted && can_continue(x));
    retry.would_repeat = acted && !can_continue(x);
    retry.again = !retry.would_repeat;
    return retry;
}

/* --- the end of the turn ---------------------------------------------------------------------- */

/* Short form for people: one line of stderr, secrets masked. */
static void add_stderr_line(const struct executor *x, struct buf *text)
{
    CLEANUP_BUF struct buf line = {0}, safe = {0};
    stderr_tail_copy_last_line(&line, agent_process_tail(x->process), STDERR_TOLD);
    log_redact(&safe, (struct str){line.p ? line.p : "", line.len});
    if (safe.len)
        buf_printf(text, ": %s", safe.p);
}

static void explain_spawn(struct executor *x, struct stream_end_info *end, struct buf *text)
{
    *end = (struct stream_end_info){.how = STREAM_SPAWN, .code = "agent_spawn"};
    texts_append(text, TEXT_CANNOT_START,
                 TEXT_VALUES(TEXT_STR("agent", x->agent->name),
                             TEXT_STR("why", err_format(&x->spawn_error))));
}

/* The reason for a timeout, if the agent reported it: repeated requests to its model. */
static void add_retries(const struct executor *x, struct buf *text)
{
    const struct turn_result *const r = turn_get_result(x->turn);
    char notice[RETRY_TOLD];
    if (!r->n_retries)
        return;
    utf8_copy_truncated(notice, sizeof notice, r->retry.p);
    texts_append(text, TEXT_RETRIED,
                 TEXT_VALUES(TEXT_INT("n", r->n_retries), TEXT_STR("notice", notice)));
}

static void explain_limit(struct buf *text, enum text_id sentence, int64_t ms)
{
    char seconds[40];
    snprintf(seconds, sizeof seconds, "%g", (double)ms / 1000);
    texts_append(text, sentence, TEXT_VALUES(TEXT_STR("s", seconds)));
}

static void explain_why(struct executor *x, struct stream_end_info *end, struct buf *text)
{
    const struct conf_agent *const a = x->agent;
    *end = (struct stream_end_info){.how = STREAM_TIMEOUT, .code = "agent_timeout"};
    switch (x->why) {
    case WHY_IDLE:
        explain_limit(text, TEXT_IDLE, a->idle_timeout_ms);
        add_retries(x, text);
        break;
    case WHY_TOTAL:
        explain_limit(text, TEXT_TIMED_OUT, a->turn_timeout_ms);
        add_retries(x, text);
        break;
    case WHY_MUTE:
        texts_append(text, TEXT_NO_EXIT, NULL);
        break;
    case WHY_SHUTDOWN:
        *end = (struct stream_end_info){.how = STREAM_SHUTDOWN, .code = "host_shutdown"};
        texts_append(text, TEXT_SHUTTING_DOWN, NULL);
        return;
    case WHY_FENCED:
        *end = (struct stream_end_info){.how = STREAM_SHUTDOWN, .code = "lock_lost"};
        texts_append(text, TEXT_LOCK_LOST, NULL);
        return;
    case WHY_CUT_OFF:
        *end = (struct stream_end_info){.how = STREAM_SHUTDOWN, .code = "host_lost"};
        texts_append(text, TEXT_CUT_OFF, NULL);
        return;
    case WHY_CANCEL:
    case WHY_NONE:
        *end = (struct stream_end_info){.how = STREAM_CANCELLED};
        texts_append(text, TEXT_CANCELLED, NULL);
        return;
    }
}

static void explain_signal(struct executor *x, struct stream_end_info *end, struct buf *text)
{
    const int signo = WTERMSIG(agent_process_status(x->process));
    const char *const name = sigabbrev_np(signo);
    *end = (struct stream_end_info){.how = STREAM_SIGNAL, .code = "agent_signal"};
    if (name)
        texts_append(text, TEXT_KILLED_BY_NAME, TEXT_VALUES(TEXT_STR("name", name)));
    else
        texts_append(text, TEXT_KILLED_BY_NUMBER, TEXT_VALUES(TEXT_INT("number", signo)));
    if (signo == SIGKILL)
        texts_append(text, TEXT_KILLED_MEMORY, NULL);
}

static void explain_exit(struct executor *x, struct stream_end_info *end, struct buf *text)
{
    const int status = agent_process_status(x->process);
    if (WIFSIGNALED(status)) {
        explain_signal(x, end, text);
    } else if (WEXITSTATUS(status)) {
        *end = (struct stream_end_info){.how = STREAM_EXIT, .code = "agent_exit"};
        texts_append(text, TEXT_EXITED, TEXT_VALUES(TEXT_INT("status", WEXITSTATUS(status))));
    } else {
        *end = (struct stream_end_info){.how = STREAM_EOF, .code = "agent_no_result"};
        texts_append(text, TEXT_NO_RESULT, NULL);
    }
    x->reason_len = text->len;
    add_stderr_line(x, text);
    if (text->p[text->len - 1] != '.')
        buf_add_char(text, '.');
}

static void explain(struct executor *x, struct stream_end_info *end, struct buf *text)
{
    if (x->why != WHY_NONE)
        explain_why(x, end, text);
    else if (x->spawn_failed)
        explain_spawn(x, end, text);
    else if (!turn_has_outcome(x->turn))
        explain_exit(x, end, text);
    else
        *end = (struct stream_end_info){.how = STREAM_EOF};
}

/* Appends the number of attempts, and from `retry` (or NULL) why there is no further one. */
static void explain_attempts(const struct executor *x, const struct executor_retry *retry,
                             struct buf *text)
{
    if (retry && retry->would_repeat)
        texts_append(text, TEXT_NOT_TRIED_AGAIN,
                     TEXT_VALUES(TEXT_STR("why", retry->reason),
                                 TEXT_STR("tool", turn_acting_tool(x->turn))));
    else if (x->attempt > 1)
        texts_append(text, TEXT_ATTEMPT,
                     TEXT_VALUES(TEXT_INT("n", x->attempt), TEXT_INT("of", x->agent->attempts)));
}

void end_annotate_error(struct executor *x, const struct executor_retry *retry)
{
    TEXTS_IN(turn_language(x->turn));
    CLEANUP_BUF struct buf note = {0};
    explain_attempts(x, retry, &note);
    if (note.len)
        turn_annotate_error(x->turn, note.p);
}

void executor_describe_end(struct executor *x, const struct executor_retry *retry,
                           struct stream_end_info *end, struct buf *text)
{
    TEXTS_IN(turn_language(x->turn));
    explain(x, end, text);
    if (end->code)
        explain_attempts(x, retry, text);
    if (x->why == WHY_NONE && is_session_lost(x))
        end->code = "agent_session";
    end->message = text->p;
}

void executor_describe_for_log(struct executor *x, const struct executor_retry *retry,
                               struct buf *text)
{
    TEXTS_IN(LANGUAGE_EN);
    struct stream_end_info unused;
    explain(x, &unused, text);
    if (x->why == WHY_NONE && x->spawn_failed)
        log_write(LOG_ERR, x->log_name, "%s", text->p);
    if (x->reason_len)
        text->len = x->reason_len; /* the complete stderr follows in the log */
    else if (unused.code)
        explain_attempts(x, retry, text);
}

void end_log(const struct executor *x, const struct stream_end_info *end, const struct buf *text)
{
    const struct turn_result *const result = turn_get_result(x->turn);
    const bool failed = result->has_error && end->code && result->error_code.len &&
                        strcmp(result->error_code.p, end->code) == 0;
    if (!failed || x->spawn_failed || x->why == WHY_SHUTDOWN)
        return;
    CLEANUP_BUF struct buf tail = {0}, safe = {0};
    if (x->process)
        stderr_tail_copy(&tail, agent_process_tail(x->process), STDERR_LOGGED);
    log_redact(&safe, (struct str){tail.p ? tail.p : "", tail.len});
    if (safe.len)
        log_write(LOG_ERR, x->log_name, "%.*s; last output on stderr: %s", (int)text->len, text->p,
                  safe.p);
    else
        log_write(LOG_ERR, x->log_name, "%.*s", (int)text->len, text->p);
}
