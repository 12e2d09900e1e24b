/* SPDX-License-Identifier: MIT
 * Implements the stop sequence, and writes to the agent's stdin. */
#include "core/agent/agent_process.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/invariant.h"
#include "base/plural.h"
#include "base/sys/log.h"
#include "core/agent/agent_log.h"
#include "core/agent/launch.h"
#include "io/process/process.h"

#define KILL_EVERY_MS 100
/* After this many rounds, processes that cannot be killed are reported and abandoned. */
#define KILL_ROUNDS 100

/* State of the stop sequence. */
enum agent_process_phase {
    AGENT_PROCESS_RUNNING,      /* working, or waiting for a message */
    AGENT_PROCESS_INPUT_CLOSED, /* stdin was closed, so that it may exit */
    AGENT_PROCESS_INTERRUPTED,  /* it was interrupted */
    AGENT_PROCESS_TERMINATED,   /* it got SIGTERM */
    AGENT_PROCESS_KILLED,       /* its process tree gets SIGKILL until no process is left */
};

struct agent_process {
    struct loop *loop;
    const struct conf_agent *agent;
    const struct agent_process_events *events;
    void *ctx;
    char *log_name, *turn;
    const struct agent_backend *backend;
    void *process; /* of the backend; NULL: not started, or exited */
    struct agent_input dialog;
    struct agent_stream *stream; /* or NULL */
    struct stderr_tail tail;
    struct agent_log log;
    struct loop_timer *step;
    enum agent_process_phase phase;
    unsigned kills; /* rounds of AGENT_PROCESS_KILLED */
    bool exited;
    int status;
};

/* ---- stop sequence ---- */

static void agent_process_enter_phase(struct agent_process *p, enum agent_process_phase phase,
                                      int64_t for_ms)
{
    p->phase = phase;
    loop_timer_set(p->step, for_ms);
}

static void agent_process_finish(struct agent_process *p)
{
    ASSERT(p->process);
    const unsigned strays = p->backend->count_killed(p->process);
    if (strays)
        log_write(LOG_INFO, p->log_name, "killed %u leftover process%s of the agent", strays,
                  PLURAL(strays, "", "es"));
    loop_timer_set(p->step, -1);
    p->backend->free(p->process);
    p->process = NULL;
    agent_input_end(&p->dialog);
    p->events->over(p->ctx);
}

static void agent_process_kill_round(struct agent_process *p)
{
    ASSERT(p->process && p->kills <= KILL_ROUNDS);
    p->phase = AGENT_PROCESS_KILLED;
    const unsigned left = p->backend->kill_tree(p->process);
    if (!left && p->exited) {
        agent_process_finish(p);
        return;
    }
    if (p->kills++ < KILL_ROUNDS) {
        agent_process_enter_phase(p, AGENT_PROCESS_KILLED, KILL_EVERY_MS);
        return;
    }
    log_write(LOG_ERR, p->log_name, "cannot kill %u leftover process%s of the agent", left,
              PLURAL(left, "", "es"));
    p->events->stuck(p->ctx, left);
    agent_process_finish(p);
}

static void agent_process_on_timer(void *arg)
{
    struct agent_process *const p = arg;
    switch (p->phase) {
    case AGENT_PROCESS_RUNNING:
        p->events->mute(p->ctx);
        break;
    case AGENT_PROCESS_INPUT_CLOSED:
        log_write(LOG_INFO, p->log_name,
                  "the agent is still running after its result; stopping it (exit_grace_s)");
        agent_process_terminate(p);
        break;
    case AGENT_PROCESS_INTERRUPTED:
        agent_process_terminate(p);
        break;
    case AGENT_PROCESS_TERMINATED:
    case AGENT_PROCESS_KILLED:
        agent_process_kill_round(p);
        break;
    }
}

static void write_bytes(struct agent_process *p, const struct buf *bytes)
{
    if (bytes->len && p->process)
        p->backend->write(p->process, bytes->p, bytes->len);
}

/* Lets `append` produce bytes for stdin, and writes them. False: nothing was appended. */
static bool agent_process_write_dialog(struct agent_process *p,
                                       void (*append)(struct agent_input *d, struct buf *out))
{
    CLEANUP_BUF struct buf bytes = {0};
    append(&p->dialog, &bytes);
    write_bytes(p, &bytes);
    return bytes.len > 0;
}

void agent_process_close_input(struct agent_process *p)
{
    if (!p->process)
        return;
    agent_process_write_dialog(p, agent_input_finish);
    p->backend->close_stdin(p->process);
    if (p->phase == AGENT_PROCESS_RUNNING)
        agent_process_enter_phase(p, AGENT_PROCESS_INPUT_CLOSED, p->agent->grace.exit_ms);
}

/* Closes stdin after the interrupt if the dialect permits that: the agent expects no further
 * input. */
void agent_process_interrupt(struct agent_process *p)
{
    if (!p->process || p->phase != AGENT_PROCESS_RUNNING)
        return;
    if (!agent_process_write_dialog(p, agent_input_interrupt))
        p->backend->signal(p->process, SIGINT);
    else if (!agent_input_waits_for_eof(&p->dialog))
        p->backend->close_stdin(p->process);
    agent_process_enter_phase(p, AGENT_PROCESS_INTERRUPTED, p->agent->grace.exit_ms);
}

void agent_process_terminate(struct agent_process *p)
{
    if (!p->process || p->phase >= AGENT_PROCESS_TERMINATED)
        return;
    p->backend->signal(p->process, SIGTERM);
    agent_process_enter_phase(p, AGENT_PROCESS_TERMINATED, p->agent->grace.term_ms);
}

void agent_process_kill(struct agent_process *p)
{
    if (p->process)
        agent_process_enter_phase(p, AGENT_PROCESS_KILLED, 0);
}

/* ---- output of the agent ---- */

static void agent_process_on_failed(void *ctx, const struct tc_err *err)
{
    struct agent_process *const p = ctx;
    p->backend->free(p->process);
    p->process = NULL;
    p->events->failed(p->ctx, err);
}

static void agent_process_on_out(void *ctx, const char *bytes, size_t n)
{
    struct agent_process *const p = ctx;
    agent_log_output(&p->log, n);
    p->events->out(p->ctx, bytes, n);
}

static void agent_process_on_err(void *ctx, const char *bytes, size_t n)
{
    struct agent_process *const p = ctx;
    stderr_tail_append(&p->tail, bytes, n);
    agent_log_error(&p->log, bytes, n);
}

static void on_out_end(void *ctx)
{
    struct agent_process *const p = ctx;
    if (p->phase == AGENT_PROCESS_RUNNING)
        loop_timer_set(p->step, 2 * p->agent->grace.exit_ms);
}

static void agent_process_on_gone(void *ctx, int status)
{
    struct agent_process *const p = ctx;
    ASSERT(p->process && !p->exited);
    p->exited = true;
    p->status = status;
    agent_log_exit(&p->log, p->backend->pid(p->process), status);
    p->events->exited(p->ctx);
    agent_process_kill_round(p);
}

/* ---- input of the agent ---- */

void agent_process_begin(struct agent_process *p, const struct dialect *dialect,
                         const struct dialect_prompt *prompt)
{
    ASSERT(p->process);
    CLEANUP_BUF struct buf bytes = {0};
    agent_input_begin(&p->dialog, dialect, prompt, &bytes);
    p->backend->write(p->process, bytes.p, bytes.len);
    if (!agent_input_keeps_stdin(&p->dialog))
        p->backend->close_stdin(p->process);
}

void agent_process_next(struct agent_process *p, const struct dialect_prompt *prompt)
{
    CLEANUP_BUF struct buf bytes = {0};
    agent_input_next(&p->dialog, prompt, &bytes);
    write_bytes(p, &bytes);
}

enum dialect_steer agent_process_steer(struct agent_process *p, const char *id, struct str text)
{
    CLEANUP_BUF struct buf bytes = {0};
    if (!agent_process_runs(p))
        return DIALECT_REFUSED;
    const enum dialect_steer how = agent_input_steer(&p->dialog, &bytes, id, text);
    write_bytes(p, &bytes);
    return how;
}

bool agent_process_withdraw(struct agent_process *p, const char *id)
{
    CLEANUP_BUF struct buf bytes = {0};
    const bool asked = agent_process_runs(p) && agent_input_withdraw(&p->dialog, &bytes, id);
    write_bytes(p, &bytes);
    return asked;
}

void agent_process_line(struct agent_process *p, const char *line, size_t len)
{
    CLEANUP_BUF struct buf bytes = {0};
    agent_input_handle_line(&p->dialog, &bytes, line, len);
    write_bytes(p, &bytes);
}

int agent_process_answer(struct agent_process *p, const struct dialect_answer *answer)
{
    CLEANUP_BUF struct buf bytes = {0};
    if (!p->process || agent_input_answer(&p->dialog, &bytes, answer) < 0)
        return -1;
    p->backend->write(p->process, bytes.p, bytes.len);
    return 0;
}

/* ---- create and free ---- */

static const struct process_events process_events = {agent_process_on_failed, agent_process_on_out,
                                                     agent_process_on_err, on_out_end,
                                                     agent_process_on_gone};

static void *agent_process_start_child(struct agent_process *p,
                                       const struct agent_process_spec *spec, struct tc_err *err)
{
    char **const argv = launch_build_argv(p->agent, spec->session_id, spec->conversation, err);
    if (!argv)
        return NULL;
    char **const env = launch_build_env(p->agent, environ, spec->turn);
    CLEANUP_FREE char *mark = launch_process_mark(spec->turn);
    const struct process_spec what = {
        .argv = (const char *const *)argv,
        .env = (const char *const *)env,
        .cwd = p->agent->cwd,
        .mark = mark,
        .user = p->agent->user,
        .limits = &p->agent->limits,
        .name = spec->turn,
    };
    agent_log_start(&p->log, p->log_name, what.argv, what.cwd);
    struct process *const process = process_spawn(p->loop, &what, &process_events, p, err);
    launch_free(argv);
    launch_free(env);
    return process;
}

static void *agent_process_start(struct agent_process *p, const struct agent_process_spec *spec,
                                 struct tc_err *err)
{
    const struct agent_place *const place = spec->place;
    p->backend = place ? place->backend : &agent_backend_child;
    return place ? place->start(place->ctx, spec->session_id, &process_events, p, err)
                 : agent_process_start_child(p, spec, err);
}

struct agent_process *agent_process_spawn(struct loop *l, const struct agent_process_spec *spec,
                                          const struct agent_process_events *events, void *ctx,
                                          struct tc_err *err)
{
    struct agent_process *const p = xcalloc(1, sizeof *p);
    p->loop = l;
    p->agent = spec->agent;
    p->events = events;
    p->ctx = ctx;
    p->log_name = xasprintf("agent %s", spec->agent->name);
    p->turn = xstrdup(spec->turn);
    p->step = loop_timer_new(l, agent_process_on_timer, p);
    p->process = agent_process_start(p, spec, err);
    if (p->process)
        return p;
    agent_process_free(p);
    return NULL;
}

void agent_process_hand_over(struct agent_process *p, const struct agent_process_events *events,
                             void *ctx)
{
    p->events = events;
    p->ctx = ctx;
}

void agent_process_free(struct agent_process *p)
{
    if (!p)
        return;
    loop_timer_free(p->step);
    if (p->process)
        p->backend->free(p->process);
    agent_input_end(&p->dialog);
    agent_stream_free(p->stream);
    stderr_tail_fini(&p->tail);
    free(p->log_name);
    free(p->turn);
    free(p);
}

struct agent_input *agent_process_dialog(struct agent_process *p)
{
    return &p->dialog;
}

void agent_process_set_lease(struct agent_process *p, int64_t until_ms)
{
    process_set_lease(p->process, until_ms);
}

pid_t agent_process_pid(const struct agent_process *p)
{
    return p->backend->pid(p->process);
}

const char *agent_process_turn(const struct agent_process *p)
{
    return p->turn;
}

bool agent_process_runs(const struct agent_process *p)
{
    return p->process && p->phase == AGENT_PROCESS_RUNNING && !p->exited;
}

int agent_process_status(const struct agent_process *p)
{
    return p->status;
}

struct stderr_tail *agent_process_tail(struct agent_process *p)
{
    return &p->tail;
}

const struct conf_agent *agent_process_agent(const struct agent_process *p)
{
    return p->agent;
}

struct agent_stream *agent_process_stream(const struct agent_process *p)
{
    return p->stream;
}

struct agent_stream *agent_process_detach_stream(struct agent_process *p)
{
    struct agent_stream *const s = p->stream;
    p->stream = NULL;
    return s;
}

void agent_process_attach_stream(struct agent_process *p, struct agent_stream *s)
{
    ASSERT(s && s != p->stream);
    agent_stream_free(p->stream);
    p->stream = s;
}
