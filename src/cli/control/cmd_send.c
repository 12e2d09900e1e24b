/* SPDX-License-Identifier: MIT
 * `turncast send`: gives a message to an agent of the running host. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/bytes/utf8.h"
#include "base/cleanup.h"
#include "cli/command_table.h"
#include "cli/control/turn_client.h"
#include "cli/control_client.h"
#include "cli/oneshot_host.h"
#include "cli/run/message_input.h"
#include "cli/run/run_output.h"
#include "cli/run/stop_signal.h"
#include "event/json/json_value.h"
#include "text/text_reveal.h"

static const struct args_option rows[] = {
    ARG_AGENT("agent; default: default_agent"),
    {'C', ARG_TEXT, "conversation", "NAME", offsetof(struct args, conversation),
     "conversation of the turn; default: one of its own"},
    {'o', ARG_TEXT, "output", "FORM", offsetof(struct args, output),
     "print the answer (text), the turn (json), or its\nevents (stream-json); default: show the "
     "turn "
     "on a\nterminal, else json"},
    {'d', ARG_FLAG, "detach", NULL, offsetof(struct args, detach),
     "print the ID of the turn, and do not wait"},
    ARG_CONFIG,
    {0},
};

/* Returns the id of the new turn; owned. NULL: failed, and the error was printed. */
static char *submit(const struct args *args, const struct conf *conf, const struct buf *message)
{
    struct control_response c;
    char *id = NULL;
    json_t *const body = json_pack("{s:s%, s:s*, s:s*}", "prompt", message->p, message->len,
                                   "agent", args->agent, "conversation", args->conversation);
    const int rc = control_client_call(&c, conf, "POST", "/turns", body);
    json_decref(body);
    if (rc < 0)
        return NULL;
    const char *const text = json_string_value(json_object_get(c.body, "id"));
    if (c.status == 202 && text)
        id = strdup(text);
    else if (c.status == 200)
        puts("Changed the visibility settings; nothing is left for the agent.");
    else if (c.status)
        fprintf(stderr, "turncast: %s\n", control_client_error_text(&c));
    else
        control_client_print_no_host(conf);
    control_client_fini(&c);
    return id;
}

static int cmd_send_status_of(const json_t *turn)
{
    const char *const state = json_string_value(json_object_get(turn, "state"));
    if (state && strcmp(state, "cancelled") == 0)
        return EXIT_CANCELLED;
    return state && strcmp(state, "final") == 0 ? 0 : EXIT_TURN_ERROR;
}

static bool ignore_line(void *ctx, const char *line, size_t len)
{
    (void)ctx;
    (void)line;
    (void)len;
    return true;
}

static int cmd_send_wait(const struct conf *conf, const char *id)
{
    struct tc_err err = {0};
    char path[128];
    snprintf(path, sizeof path, "/turns/%s/events", id);
    const int rc = control_client_follow(conf, path, ignore_line, NULL, &err);
    if (rc < 0)
        command_conf_print_error(&err);
    return rc;
}

/* Prints the ended turn as the host reports it. */
static int print_outcome(const struct conf *conf, const char *id, bool text)
{
    CLEANUP_BUF struct buf shown = {0};
    json_t *const turn = turn_client_get(conf, id);
    const char *const answer = json_string_value(json_object_get(turn, "answer"));
    const char *const error = json_string_value(json_object_get(turn, "error"));
    if (turn && !text) {
        json_value_print(turn);
    } else if (answer) {
        run_output_append_text(&shown, (struct str){answer, strlen(answer)});
        fwrite(shown.p ? shown.p : "", 1, shown.len, stdout);
    } else if (error) {
        text_reveal_line(&shown, error, strlen(error));
        fprintf(stderr, "turncast: turn %s: %s\n", id, shown.p ? shown.p : "");
    }
    const int status = turn ? cmd_send_status_of(turn) : EXIT_TURN_ERROR;
    json_decref(turn);
    return status;
}

static int cmd_send_await(const struct args *args, const struct conf *conf, const char *id)
{
    const char *const form = args->output ? args->output : "";
    if (!*form && isatty(STDOUT_FILENO) && isatty(STDERR_FILENO))
        return turn_client_show(args, conf, id, false, NULL, 0);
    if (strcmp(form, "stream-json") == 0)
        return turn_client_write_events(conf, id, false, STDOUT_FILENO) < 0 ? EXIT_TURN_ERROR : 0;
    if (cmd_send_wait(conf, id) < 0)
        return EXIT_TURN_ERROR;
    return print_outcome(conf, id, strcmp(form, "text") == 0);
}

/* ---- signals ---- */

/* Waits for the process that follows the turn. True: a signal arrived first. */
static bool cmd_send_wait_for(pid_t follower, const struct stop_signal *stop)
{
    CLEANUP_FD const int end = pidfd_open(follower, 0);
    return stop_signal_wait(stop, end, -1);
}

static void cmd_send_print_continues(const struct conf *conf, const char *id)
{
    json_t *const turn = turn_client_get(conf, id);
    if (turn && !turn_client_is_over(turn))
        fprintf(stderr,
                "turncast: turn %s continues in turncast serve; to cancel it, run: "
                "turncast cancel %.8s\n",
                id, id);
    json_decref(turn);
}

/* The turn belongs to the host; a signal ends only the process that follows it. */
static int cmd_send_follow(const struct args *args, const struct conf *conf, const char *id)
{
    struct stop_signal stop;
    int how = 0;
    stop_signal_init(&stop);
    const pid_t follower = fork();
    if (follower == 0) {
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        stop_signal_fini(&stop);
        const int status = cmd_send_await(args, conf, id);
        fflush(stdout);
        _exit(status);
    }
    const bool stopped = follower > 0 && cmd_send_wait_for(follower, &stop);
    stop_signal_fini(&stop);
    if (follower < 0)
        return cmd_send_await(args, conf, id);
    if (stopped)
        kill(follower, SIGTERM);
    while (waitpid(follower, &how, 0) < 0 && errno == EINTR)
        ;
    if (stopped)
        cmd_send_print_continues(conf, id);
    return stopped ? EXIT_CANCELLED : WIFEXITED(how) ? WEXITSTATUS(how) : EXIT_TURN_ERROR;
}

static int cmd_send_run_with_conf(const struct args *args, const struct conf *conf)
{
    CLEANUP_BUF struct buf message = {0};
    const int status = message_input_read(&message, args->operands[0], &cmd_send);
    if (status)
        return status;
    char *const id = submit(args, conf, &message);
    int result = EXIT_TURN_ERROR;
    if (id && args->detach)
        result = puts(id) < 0;
    else if (id)
        result = cmd_send_follow(args, conf, id);
    free(id);
    return result;
}

static int cmd_send_run(const struct args *args)
{
    static const char *const forms[] = {"text", "json", "stream-json"};
    bool known = !args->output;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        known |= args->output && strcmp(args->output, forms[i]) == 0;
    if (!known)
        return args_usage_error(
            &cmd_send, "--output: invalid value \"%s\"; valid values: text, json, stream-json",
            args->output);
    struct conf *const conf = command_conf_load(args);
    if (!conf)
        return EXIT_USAGE;
    const int status = cmd_send_run_with_conf(args, conf);
    conf_unref(conf);
    return status;
}

const struct cli_command cmd_send = {
    .name = "send",
    .operands = "MESSAGE|-",
    .summary = "Gives a message to an agent of the running host",
    .about =
        "The message, or standard input for -, becomes a turn of the host, whose connectors see\n"
        "it if their scope permits. Ctrl-C ends the command, but not the turn, which\n"
        "turncast cancel cancels. Exit status: as of turncast run; after Ctrl-C, 130.",
    .args = rows,
    .min = 1,
    .max = 1,
    .run = cmd_send_run,
};
