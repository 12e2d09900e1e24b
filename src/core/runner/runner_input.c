/* SPDX-License-Identifier: MIT
 * Passes what the gateway of a turn sends to the agent that runs it: decisions, messages,
 * cancelling. */
#include "base/cleanup.h"
#include "core/request/request_registry.h"
#include "core/runner/runner_internal.h"

static const char *runner_job_choice(const struct dialect_answer *a)
{
    switch (a->decision) {
    case DIALECT_ALLOW:
        return a->remember ? "allow_session" : "allow";
    case DIALECT_DENY:
        return a->interrupt ? "deny_stop" : "deny";
    case DIALECT_ANSWERED:
        break;
    }
    return "answer";
}

static void runner_job_answer(const struct runner_job *job, const struct dialect_answer *a)
{
    CLEANUP_BUF struct buf by = {0}, text = {0}, denied = {0};
    buf_printf(&by, "host %s", job->signal.gateway);
    struct request_decision decision = {.turn = job->run,
                                        .request = a->request_id,
                                        .choice = runner_job_choice(a),
                                        .text = a->reason,
                                        .answers = a->answers,
                                        .args = a->args,
                                        .by = by.p};
    if (request_answer(job->runner->requests, &decision, &text) != TC_DENIED)
        return;
    /* The agent cannot execute the decision, although the gateway regards the request as
     * decided. */
    decision.choice = "deny";
    decision.text = text.p;
    decision.answers = decision.args = NULL;
    request_answer(job->runner->requests, &decision, &denied);
}

struct str runner_job_handle_line(struct runner_job *job, struct str line)
{
    struct arena arena = {0};
    struct dialect_answer answer;
    struct turncast_run_message message;
    struct str reply = STR("{\"run\":true}");
    if (turncast_run_is_cancel(line)) {
        turn_scheduler_cancel_turn(job->runner->turns, job->run);
    } else if (turncast_run_read_answer(line, &arena, &answer) == 0) {
        runner_job_answer(job, &answer);
    } else if (turncast_run_read_message(line, &arena, &message) == 0) {
        if (!message.text)
            runner_steered_withdraw(job, message.id);
        else if (runner_steered_add(job, &message))
            reply = STR("{\"run\":true,\"message\":\"given\"}");
        else
            reply = STR("{\"run\":true,\"message\":\"refused\"}");
    }
    arena_fini(&arena);
    return reply;
}
