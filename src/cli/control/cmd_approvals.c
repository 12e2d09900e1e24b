/* SPDX-License-Identifier: MIT
 * `turncast approvals`: lists and revokes remembered approvals. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/sys/clock.h"
#include "cli/command_table.h"
#include "cli/control_client.h"
#include "cli/oneshot_host.h"
#include "event/json/json_writer.h"
#include "io/journal/journal.h"
#include "text/text_clean.h"

static const struct args_option rows[] = {
    ARG_CONFIG,
    ARG_AGENT("only approvals of this agent"),
    {0, ARG_FLAG, "all", NULL, offsetof(struct args, all), "delete all approvals"},
    {0, ARG_FLAG, "json", NULL, offsetof(struct args, json), "print the list as one JSON object"},
    {0}};

/* Arguments of the command and the opened state. */
struct approvals_call {
    const struct conf *conf;
    const struct args *args;
    struct journal *journal; /* NULL: there is no state directory */
};

/* ---- list ---- */

/* Prints text as one line, without control characters. */
static void cmd_approvals_print_word(const char *word)
{
    CLEANUP_BUF struct buf clean = {0};
    text_clean_append(&clean, word, strlen(word));
    for (size_t i = 0; i < clean.len; i++)
        if (clean.p[i] == '\n')
            fputs("\\n", stdout);
        else
            putchar(clean.p[i] == '\t' ? ' ' : clean.p[i]);
}

static void cmd_approvals_print_row(void *ctx, const struct journal_approval *a)
{
    char when[32];
    (void)ctx;
    clock_format_rfc3339((double)a->at / 1000, when);
    printf("%" PRId64 "  %.19sZ  ", a->id, when);
    cmd_approvals_print_word(a->agent);
    fputs("  ", stdout);
    cmd_approvals_print_word(a->tool);
    fputs(*a->conv ? "  session " : "  always", stdout);
    cmd_approvals_print_word(a->conv);
    if (*a->by)
        fputs("  by ", stdout);
    cmd_approvals_print_word(a->by);
    fputs(": ", stdout);
    cmd_approvals_print_word(a->shown);
    putchar('\n');
}

static void cmd_approvals_add_row(void *ctx, const struct journal_approval *a)
{
    struct buf *const out = ctx;
    buf_add_str(out, out->p[out->len - 1] == '[' ? "{" : ",{");
    jsonw_member_int(out, "id", a->id);
    jsonw_member_int(out, "at_ms", a->at);
    jsonw_member_str(out, "agent", a->agent);
    jsonw_member_str(out, "tool", a->tool);
    jsonw_member_str(out, "scope", *a->conv ? "session" : "always");
    jsonw_member_str(out, "conversation", *a->conv ? a->conv : NULL);
    jsonw_member_str(out, "by", a->by);
    jsonw_member_str(out, "argument", a->shown);
    buf_add_char(out, '}');
}

static int cmd_approvals_print_failure(void)
{
    fputs("turncast: cannot read or change the stored approvals; see the log\n", stderr);
    return EXIT_USAGE;
}

static int cmd_approvals_list(const struct approvals_call *c)
{
    const struct journal_approval_filter which = {.agent = c->args->agent};
    CLEANUP_BUF struct buf out = {0};
    enum journal_status status = JOURNAL_DONE;
    buf_add_str(&out, "{\"approvals\":[");
    if (c->journal)
        status = journal_approval_list(
            c->journal, &which, c->args->json ? cmd_approvals_add_row : cmd_approvals_print_row,
            c->args->json ? &out : NULL);
    if (status != JOURNAL_DONE)
        return cmd_approvals_print_failure();
    buf_add_str(&out, "]}");
    if (c->args->json)
        puts(out.p);
    return 0;
}

/* ---- history ---- */

static void print_time(int64_t at_ms)
{
    char when[32];
    clock_format_rfc3339((double)at_ms / 1000, when);
    printf("%.19sZ  ", when);
}

static void cmd_approvals_print_question(void *ctx, const struct journal_question *q)
{
    (void)ctx;
    print_time(q->asked_at);
    cmd_approvals_print_word(q->agent);
    fputs("  ", stdout);
    cmd_approvals_print_word(q->tool);
    fputs("  ", stdout);
    cmd_approvals_print_word(q->decision ? q->decision : "open");
    if (q->by) {
        fputs(" by ", stdout);
        cmd_approvals_print_word(q->by);
    }
    fputs(": ", stdout);
    cmd_approvals_print_word(q->shown);
    putchar('\n');
}

static void cmd_approvals_add_question(void *ctx, const struct journal_question *q)
{
    struct buf *const out = ctx;
    buf_add_str(out, out->p[out->len - 1] == '[' ? "{" : ",{");
    jsonw_member_str(out, "turn", q->turn);
    jsonw_member_str(out, "id", q->id);
    jsonw_member_str(out, "agent", q->agent);
    jsonw_member_str(out, "tool", q->tool);
    jsonw_member_str(out, "argument", q->shown);
    jsonw_member_int(out, "asked_ms", q->asked_at);
    if (q->decision) {
        jsonw_member_str(out, "decision", q->decision);
        jsonw_member_str(out, "by", q->by);
        jsonw_member_int(out, "decided_ms", q->decided_at);
    }
    buf_add_char(out, '}');
}

static int cmd_approvals_print_history(const struct approvals_call *c)
{
    CLEANUP_BUF struct buf out = {0};
    buf_add_str(&out, "{\"questions\":[");
    if (c->journal && journal_list_questions(c->journal,
                                             c->args->json ? cmd_approvals_add_question
                                                           : cmd_approvals_print_question,
                                             c->args->json ? &out : NULL) != JOURNAL_DONE)
        return cmd_approvals_print_failure();
    buf_add_str(&out, "]}");
    if (c->args->json)
        puts(out.p);
    return 0;
}

/* ---- forget ---- */

static int cmd_approvals_print_missing(const char *id)
{
    fprintf(stderr, "turncast: no stored approval %s\n", id);
    return EXIT_TURN_ERROR;
}

/* Sends the request with that path: 0, or the exit status. */
static int cmd_approvals_print_answer(int answered, const char *id)
{
    if (answered == 404 && id)
        return cmd_approvals_print_missing(id);
    return answered == 200 ? 0 : cmd_approvals_print_failure();
}

static int cmd_approvals_delete_stored(const struct approvals_call *c,
                                       const struct journal_approval_filter *which, const char *id)
{
    if (!c->journal)
        return id ? cmd_approvals_print_missing(id) : 0;
    const enum journal_status status = journal_approval_delete(c->journal, which);
    if (status == JOURNAL_NO_CHANGE && id)
        return cmd_approvals_print_missing(id);
    return status == JOURNAL_DONE || status == JOURNAL_NO_CHANGE ? 0
                                                                 : cmd_approvals_print_failure();
}

/* Revokes through the running host, which has approvals in memory; otherwise in the state
 * directory. `id` NULL: all. */
static int cmd_approvals_delete(const struct approvals_call *c, const char *id)
{
    CLEANUP_BUF struct buf path = {0};
    struct control_response call;
    buf_add_str(&path, "/approvals/");
    if (id)
        buf_printf(&path, "%s/", id);
    buf_add_str(&path, "forget");
    if (!id && c->args->agent)
        buf_printf(&path, "?agent=%s", c->args->agent);
    if (control_client_call(&call, c->conf, "POST", path.p, NULL) < 0)
        return EXIT_TURN_ERROR;
    const int answered = call.status;
    control_client_fini(&call);
    if (answered)
        return cmd_approvals_print_answer(answered, id);
    return cmd_approvals_delete_stored(
        c,
        &(struct journal_approval_filter){.id = id ? strtoll(id, NULL, 10) : 0,
                                          .agent = id ? NULL : c->args->agent},
        id);
}

/* An unknown id does not stop the others from being revoked. */
static int cmd_approvals_delete_each(const struct approvals_call *c)
{
    int exit_status = 0;
    if (c->args->all)
        return cmd_approvals_delete(c, NULL);
    for (int i = 1; i < c->args->n_operands; i++) {
        const int status = cmd_approvals_delete(c, c->args->operands[i]);
        if (status > exit_status)
            exit_status = status;
    }
    return exit_status;
}

/* ---- the command ---- */

static bool cmd_approvals_is_id(const char *word)
{
    const size_t n = strlen(word);
    return n > 0 && n < 19 && *word != '0' && strspn(word, "0123456789") == n;
}

static bool cmd_approvals_is_name(const char *word)
{
    return *word && !word[strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                       "0123456789_-")];
}

/* 0, or the exit status. */
static int cmd_approvals_check_list(const struct args *args)
{
    return args->n_operands > 1 || args->all
               ? args_usage_error(&cmd_approvals, "list does not take an approval number")
               : 0;
}

static int cmd_approvals_check_delete_args(const struct args *args)
{
    if (args->json)
        return args_usage_error(&cmd_approvals, "--json is only valid with list and history");
    if (args->all == (args->n_operands > 1))
        return args_usage_error(&cmd_approvals, "forget requires approval numbers or --all");
    if (args->agent && !args->all)
        return args_usage_error(&cmd_approvals, "--agent is only valid with list and --all");
    for (int i = 1; i < args->n_operands; i++)
        if (!cmd_approvals_is_id(args->operands[i]))
            return args_usage_error(&cmd_approvals, "invalid approval number \"%s\"",
                                    args->operands[i]);
    return 0;
}

static int cmd_approvals_run_action(const struct args *args, const struct conf *conf,
                                    int (*action)(const struct approvals_call *c))
{
    CLEANUP_FREE char *file = xasprintf("%s/state.db", conf->state_dir);
    struct approvals_call c = {.conf = conf, .args = args};
    struct tc_err err = {0};
    if (access(file, F_OK) < 0 && (errno == ENOENT || errno == ENOTDIR))
        return action(&c); /* a missing state has no approvals, and none is created */
    c.journal = journal_open(&(struct journal_spec){.dir = conf->state_dir, .beside = true}, &err);
    if (!c.journal) {
        command_conf_print_error(&err);
        return EXIT_USAGE;
    }
    const int status = action(&c);
    journal_close(c.journal);
    return status;
}

static int cmd_approvals_check_history_args(const struct args *args)
{
    return args->n_operands > 1 || args->all || args->agent
               ? args_usage_error(&cmd_approvals, "history accepts only --json")
               : 0;
}

static const struct verb {
    const char *name;
    int (*check)(const struct args *args); /* 0, or the exit status */
    int (*act)(const struct approvals_call *c);
} verbs[] = {
    {"list", cmd_approvals_check_list, cmd_approvals_list},
    {"forget", cmd_approvals_check_delete_args, cmd_approvals_delete_each},
    {"history", cmd_approvals_check_history_args, cmd_approvals_print_history},
};

static const struct verb *cmd_approvals_find_verb(const char *name)
{
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        if (strcmp(verbs[i].name, name) == 0)
            return &verbs[i];
    return NULL;
}

static int cmd_approvals_run(const struct args *args)
{
    const struct verb *const verb = cmd_approvals_find_verb(args->operands[0]);
    if (!verb)
        return args_usage_error(&cmd_approvals,
                                "unknown subcommand \"%s\"; use list, forget or history",
                                args->operands[0]);
    int status = verb->check(args);
    if (!status && args->agent && !cmd_approvals_is_name(args->agent))
        status = args_usage_error(&cmd_approvals, "invalid agent name \"%s\"", args->agent);
    if (status)
        return status;
    struct conf *const conf = command_conf_load(args);
    if (!conf)
        return EXIT_USAGE;
    status = cmd_approvals_run_action(args, conf, verb->act);
    conf_unref(conf);
    return status;
}

const struct cli_command cmd_approvals = {
    .name = "approvals",
    .operands = "list | forget ID... | forget --all | history",
    .summary = "Lists or deletes stored approvals of tool calls",
    .about = "After forget, the agent asks again. history prints past requests and decisions.\n"
             "Exit status: 1 the approval does not exist.",
    .args = rows,
    .min = 1,
    .max = 1000,
    .run = cmd_approvals_run,
};
