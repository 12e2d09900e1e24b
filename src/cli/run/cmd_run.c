/* SPDX-License-Identifier: MIT
 * `turncast run`: runs one turn of an agent; progress through the connectors, result on stdout. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/sys/log.h"
#include "cli/command_table.h"
#include "cli/oneshot_host.h"
#include "cli/run/message_input.h"
#include "cli/run/recorder.h"
#include "cli/run/run_output.h"
#include "cli/run/stop_signal.h"
#include "cli/run/visibility_args.h"
#include "core/agent/executor.h"
#include "core/agent/launch.h"
#include "core/settings/session_store.h"
#include "core/turn/turn_record.h"
#include "io/loop/loop.h"

static const struct args_option rows[] = {
    ARG_AGENT("agent to run; default: default_agent"),
    {'C', ARG_TEXT, "conversation", "NAME", offsetof(struct args, conversation),
     "conversation of the turn, whose session is resumed"},
    {'s', ARG_TEXT, "session", "ID", offsetof(struct args, session),
     "resume this session of the agent"},
    {'o', ARG_TEXT, "output", "FORM", offsetof(struct args, output),
     "print the answer (text), one object (json), or the\nevents (stream-json); default: text on a "
     "terminal,\nelse json"},
    {0, ARG_FLAG, "json", NULL, offsetof(struct args, json), "the same as --output json"},
    {0, ARG_TEXT, "record", "FILE", offsetof(struct args, record),
     "record what the agent prints, for turncast replay"},
    ARG_PLUGIN,
    ARG_CONFIG,
    ARG_VERBOSE,
    {0},
};

struct cmd_run_state {
    const struct args *args;
    struct conf *conf;
    const struct conf_agent *agent;
    const struct dialect *dialect;
    struct visibility visibility;
    struct buf message; /* prompt without slash tokens */
    struct oneshot_host host;
    struct settings_worker *settings; /* NULL: sessions are neither looked up nor stored */
    struct session_store *sessions;   /* the same */
    struct buf session;               /* session to resume; empty: a new one */
    struct turn *turn;
    struct request_turn *requests;
    struct executor *executor; /* NULL: not started */
    int early;                 /* a signal that arrived before the start; or 0 */
    enum run_output_form form; /* result to print at the end */
    struct recorder recorder;
    bool kept; /* the turn is in the journal */
    bool ended, spawn_failed;
};

static int fail_agent(const struct cmd_run_state *r)
{
    CLEANUP_BUF struct buf known = {0};
    conf_add_agent_names(r->conf, &known);
    if (!r->conf->n_agents)
        return args_usage_error(
            &cmd_run,
            "%s: no agent is configured; add: agents : { NAME : { command = [\"PROGRAM\"]; }; };",
            r->conf->file);
    if (!r->args->agent)
        return args_usage_error(
            &cmd_run,
            "%s: several agents are configured but no default_agent; use --agent with one of: %s",
            r->conf->file, known.p);
    buf_reset(&known);
    conf_add_agent_hint(r->conf, r->args->agent, &known);
    return args_usage_error(&cmd_run, "%s: unknown agent \"%s\"%s", r->conf->file, r->args->agent,
                            known.p);
}

static int cmd_run_find_agent(struct cmd_run_state *r)
{
    r->agent = conf_agent_find(r->conf, r->args->agent);
    if (!r->agent)
        return fail_agent(r);
    struct tc_err err = {0};
    if (conf_check_agent_user(r->conf, r->agent, &err) < 0) {
        fprintf(stderr, "turncast: %s\n", err_format(&err));
        return EXIT_USAGE;
    }
    r->dialect = dialect_find(r->agent->dialect);
    if (r->dialect)
        return 0;
    fprintf(stderr,
            "turncast: %s:%d: agents.%s.dialect: unknown dialect \"%s\"; see turncast.conf(5), "
            "DIALECTS\n",
            r->agent->file ? r->agent->file : r->conf->file, r->agent->line, r->agent->name,
            r->agent->dialect);
    return EXIT_USAGE;
}

static const char *cmd_run_conversation(const struct cmd_run_state *r)
{
    return r->args->conversation ? r->args->conversation : "";
}

/* ---- the journal: stores the turn before it starts, and the outcome before it is delivered
 * ---- */

static void cmd_run_check_end(const struct cmd_run_state *r)
{
    if (r->ended && turn_is_flushed(r->turn))
        loop_stop(r->host.loop);
}

static void cmd_run_on_committed(void *ctx, enum journal_status status, const char *text)
{
    const struct cmd_run_state *const r = ctx;
    (void)text;
    if (status != JOURNAL_DONE)
        log_write(
            LOG_ERR, "host",
            "cannot write the turn's outcome to the journal; delivering it without durability");
    turn_confirm_outcome(r->turn);
    cmd_run_check_end(r);
}

static void cmd_run_commit(void *ctx, const struct event *outcome)
{
    struct cmd_run_state *const r = ctx;
    if (!r->kept) {
        turn_confirm_outcome(r->turn);
        return;
    }
    turn_record_outcome(&(struct turn_record_end){.journal = r->host.journal,
                                                  .cast = turn_get_dispatch(r->turn),
                                                  .turn = turn_id(r->turn),
                                                  .lane = cmd_run_conversation(r),
                                                  .outcome = outcome},
                        cmd_run_on_committed, r);
}

static void cmd_run_on_spawned(void *ctx, pid_t pid)
{
    const struct cmd_run_state *const r = ctx;
    if (r->kept)
        turn_record_set_agent_pid(r->host.journal, turn_id(r->turn), pid);
}

/* ---- the session of the conversation ---- */

/* A turn without a conversation or a state directory has no session to resume. */
static void open_sessions(struct cmd_run_state *r)
{
    if (!r->args->conversation || !r->host.journal)
        return;
    r->settings = settings_worker_new(r->host.loop, r->conf);
    r->sessions = session_store_new(r->host.journal, r->settings);
}

static void cmd_run_store_session(struct cmd_run_state *r)
{
    const char *const id = turn_session_id(r->turn);
    if (r->sessions && turn_spent(r->turn))
        session_store_keep_spent(r->sessions, r->agent->name, r->args->conversation,
                                 turn_spent(r->turn));
    if (r->sessions && launch_is_session_id(id))
        session_store_save(r->sessions, r->agent->name, r->args->conversation, id,
                           SESSION_FENCE_CHOSEN);
}

/* ---- the agent ---- */

static void cmd_run_on_ended(void *ctx, bool spawn_failed)
{
    struct cmd_run_state *const r = ctx;
    r->spawn_failed = spawn_failed;
    r->ended = true;
    cmd_run_store_session(r);
    cmd_run_check_end(r);
}

static void cmd_run_interrupt(const struct cmd_run_state *r, int signo)
{
    if (signo == SIGINT)
        executor_cancel(r->executor);
    else
        executor_cancel_for_exit(r->executor);
}

static void cmd_run_on_signal(void *arg, int signo)
{
    struct cmd_run_state *const r = arg;
    if (r->executor)
        cmd_run_interrupt(r, signo);
    else
        r->early = signo;
}

static int cmd_run_answer_agent(void *ctx, const struct dialect_answer *answer)
{
    const struct cmd_run_state *const r = ctx;
    return r->executor ? executor_answer(r->executor, answer) : -1;
}

static bool cmd_run_agent_waits(void *ctx, const char *request_id)
{
    const struct cmd_run_state *const r = ctx;
    return !r->executor || executor_waits(r->executor, request_id);
}

static bool cmd_run_agent_takes_args(void *ctx, const char *request_id)
{
    const struct cmd_run_state *const r = ctx;
    return r->executor && executor_accepts_args(r->executor, request_id);
}

static void cmd_run_on_request(void *ctx, struct tc_request *request)
{
    request_turn_add(((struct cmd_run_state *)ctx)->requests, request);
}

static void cmd_run_on_requests_cancelled(void *ctx)
{
    request_turn_cancel_open(((struct cmd_run_state *)ctx)->requests);
}

static void cmd_run_on_output(void *ctx, const char *p, size_t n)
{
    recorder_feed(&((struct cmd_run_state *)ctx)->recorder, p, n);
}

static void cmd_run_begin(struct cmd_run_state *r)
{
    const struct executor_spec spec = {
        .agent = r->agent,
        .message = r->message.p,
        .message_len = r->message.len,
        .session_id = r->session.len ? r->session.p : NULL,
        .conversation = r->args->conversation,
        .spawned = cmd_run_on_spawned,
        .unasked = cmd_run_on_requests_cancelled,
        .output = cmd_run_on_output,
    };
    r->executor = executor_start(r->host.loop, r->turn, &spec, cmd_run_on_ended, r);
    if (r->early)
        cmd_run_interrupt(r, r->early);
}

static void cmd_run_on_admitted(void *ctx, enum journal_status status, const char *text)
{
    struct cmd_run_state *const r = ctx;
    (void)text;
    r->kept = status == JOURNAL_DONE;
    if (!r->kept)
        log_write(LOG_WARN, "host",
                  "cannot write the turn to the journal; running it without durability");
    cmd_run_begin(r);
}

static void cmd_run_admit(struct cmd_run_state *r)
{
    const struct journal_turn t = {
        .id = turn_id(r->turn),
        .agent = r->agent->name,
        .conv = cmd_run_conversation(r),
        .source = "run",
    };
    turn_record_begin(r->host.journal, r->host.dispatch, &t, cmd_run_on_admitted, r);
}

static void admit_or_begin(struct cmd_run_state *r)
{
    if (r->host.journal)
        cmd_run_admit(r);
    else
        cmd_run_begin(r);
}

static void cmd_run_on_session(void *ctx, const char *id)
{
    struct cmd_run_state *const r = ctx;
    if (id)
        buf_add_str(&r->session, id);
    admit_or_begin(r);
}

static void cmd_run_on_spent(void *ctx, enum journal_status status, const char *text)
{
    struct cmd_run_state *const r = ctx;
    if (status == JOURNAL_DONE)
        turn_set_spent(r->turn, text);
}

/* The option --session overrides the stored session of the conversation. */
static void find_session(struct cmd_run_state *r)
{
    if (r->sessions && r->dialect && r->dialect->counts_session)
        session_store_find_spent(r->sessions, r->agent->name, r->args->conversation,
                                 cmd_run_on_spent, r);
    if (r->args->session)
        cmd_run_on_session(r, r->args->session);
    else if (r->sessions)
        session_store_find(r->sessions, r->agent->name, r->args->conversation, cmd_run_on_session,
                           r);
    else
        cmd_run_on_session(r, NULL);
}

/* Runs the loop until the executor has ended. */
static void run_loop(struct cmd_run_state *r)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    struct loop_signal *watched[sizeof signals / sizeof *signals] = {NULL};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (stop_signal_is_enabled(signals[i]))
            watched[i] = loop_signal_new(r->host.loop, signals[i], cmd_run_on_signal, r);
    find_session(r);
    loop_run(r->host.loop);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        loop_signal_free(watched[i]);
    executor_free(r->executor);
}

static int cmd_run_status_of(const struct cmd_run_state *r)
{
    const struct turn_result *const result = turn_get_result(r->turn);
    return r->spawn_failed                ? EXIT_SPAWN
           : turn_result_is_error(result) ? EXIT_TURN_ERROR
           : result->cancelled            ? EXIT_CANCELLED
                                          : 0;
}

static int run_turn(struct cmd_run_state *r, struct buf *result)
{
    const struct turn_spec spec = {
        .dialect = r->dialect,
        .agent = r->agent->name,
        .conversation = r->args->conversation,
        .task = r->message.p,
        .visibility = r->visibility,
        .max_line = r->agent->max_line,
        .language = oneshot_host_language(r->conf),
        .commit = cmd_run_commit,
        .request = cmd_run_on_request,
        .ctx = r,
    };
    r->turn = turn_new(r->host.dispatch, &spec);
    static const char *const askers[] = {"terminal"}; /* the name that the cli connector gives to
                                                       * its user */
    r->requests = request_turn_begin(r->host.requests, &(struct request_turn_spec){
                                                           .id = turn_id(r->turn),
                                                           .conversation = r->args->conversation,
                                                           .agent = r->agent,
                                                           .dialect = r->dialect,
                                                           .askers = askers,
                                                           .n_askers = 1,
                                                           .language = spec.language,
                                                           .answer = cmd_run_answer_agent,
                                                           .waits = cmd_run_agent_waits,
                                                           .takes_args = cmd_run_agent_takes_args,
                                                           .ctx = r,
                                                       });
    request_turn_attach(r->requests, r->turn);
    run_loop(r);
    run_output_append(result, r->form, turn_get_result(r->turn), turn_elapsed_ms(r->turn));
    const int status = cmd_run_status_of(r);
    turn_free(r->turn);
    request_turn_end(r->requests);
    return status;
}

static int start_recording(struct cmd_run_state *r)
{
    struct tc_err err = {0};
    const int rc = recorder_open(&r->recorder, r->args->record, r->agent->name, r->agent->dialect,
                                 (size_t)r->agent->max_line, &err);
    if (rc < 0)
        command_conf_print_error(&err);
    return rc;
}

static int start_and_run(struct cmd_run_state *r)
{
    CLEANUP_BUF struct buf result = {0};
    if (oneshot_host_apply_plugins(r->conf, r->args, &cmd_run) < 0 ||
        run_output_choose(&r->form, r->args, r->conf, &cmd_run) < 0 || start_recording(r) < 0)
        return EXIT_USAGE;
    if (oneshot_host_start(&r->host, r->conf, r->args, true) < 0)
        return EXIT_USAGE;
    open_sessions(r);
    const int status = run_turn(r, &result);
    if (r->settings)
        settings_worker_free(r->settings);
    oneshot_host_stop(&r->host);
    session_store_free(r->sessions);
    buf_fini(&r->session);
    recorder_close(&r->recorder);
    fwrite(result.p ? result.p : "", 1, result.len, stdout);
    return status;
}

/* Removes slash tokens from the message. True: the message has nothing else. */
static bool apply_tokens(struct cmd_run_state *r)
{
    CLEANUP_BUF struct buf text = {0};
    struct visibility_store *const store = visibility_store_new(r->conf);
    const struct visibility before = oneshot_host_load_visibility(store, r->agent->name);
    r->visibility = before;
    const struct slash_tokens_result found =
        slash_tokens_parse(r->message.p, r->message.len, &r->visibility, &text);
    if (found.toggled)
        visibility_args_save(store, r->agent->name, &before, &r->visibility);
    visibility_store_free(store);
    buf_reset(&r->message);
    buf_add(&r->message, text.p ? text.p : "", text.len);
    return found.empty;
}

static int prepare_and_run(struct cmd_run_state *r)
{
    int status = cmd_run_find_agent(r);
    if (status == 0)
        status = message_input_read(&r->message, r->args->operands[0], &cmd_run);
    if (status)
        return status;
    if (!apply_tokens(r))
        return start_and_run(r);
    visibility_args_print(r->visibility);
    return 0;
}

static int cmd_run_run(const struct args *args)
{
    struct cmd_run_state r = {.args = args};
    /* Memory contains secrets, and the agent may run as the same user: disables core dumps and
     * debuggers. */
    prctl(PR_SET_DUMPABLE, 0);
    if (!(r.conf = command_conf_load(args)))
        return EXIT_USAGE;
    const int status = prepare_and_run(&r);
    buf_fini(&r.message);
    conf_unref(r.conf);
    return status;
}

const struct cli_command cmd_run = {
    .name = "run",
    .operands = "MESSAGE|-",
    .summary = "Run one turn of an agent",
    .about =
        "The message, or standard input for -, is given to the agent. Connectors show the\n"
        "progress; the answer is printed on a terminal, and one line of JSON elsewhere. Tokens in\n"
        "the message (/show-tools, /hide-all, /stream-status...) change the visibility settings\n"
        "and are not given to the agent; see turncast visibility --help. Ctrl-C interrupts the\n"
        "agent, a second one kills it.",
    .args = rows,
    .min = 1,
    .max = 1,
    .run = cmd_run_run,
};
