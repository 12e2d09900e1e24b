/* SPDX-License-Identifier: MIT
 * `turncast dead`: lists, retries and drops dead letters. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/cleanup.h"
#include "base/sys/clock.h"
#include "base/sys/log.h"
#include "cli/command_table.h"
#include "cli/control_client.h"
#include "cli/oneshot_host.h"
#include "conf/options/plugin_options.h"
#include "event/json/json_reader.h"
#include "event/json/json_redact.h"
#include "io/journal/journal.h"
#include "plugin/abi/loader.h"
#include "text/text_clean.h"

static const struct args_option rows[] = {ARG_CONFIG, {0}};

/* ---- text of services and models on a terminal: masked and without control sequences */

static void cmd_dead_print_text(struct str text)
{
    CLEANUP_BUF struct buf clean = {0};
    CLEANUP_BUF struct buf masked = {0};
    text_clean_append(&clean, text.p, text.len);
    const struct str s = {clean.p ? clean.p : "", clean.len};
    (json_reader_is_valid(s) ? json_redact : log_redact)(&masked, s);
    fwrite(masked.p ? masked.p : "", 1, masked.len, stdout);
}

static void cmd_dead_print_word(const char *word)
{
    cmd_dead_print_text((struct str){word, strlen(word)});
}

/* A request is a line of JSON and its body; an outcome or an event is a line of JSON. */
static void print_body(struct str body)
{
    const char *const end = body.len ? memchr(body.p, '\n', body.len) : NULL;
    const size_t line = end ? (size_t)(end - body.p) : body.len;
    cmd_dead_print_text((struct str){body.p, line});
    putchar('\n');
    if (line + 1 >= body.len)
        return;
    cmd_dead_print_text((struct str){body.p + line + 1, body.len - line - 1});
    putchar('\n');
}

/* ---- secrets of the configuration, registered for masking */

/* If the plugin accepts the options, its table registers them. Otherwise each secret option is
 * registered by the table, or, without the plugin, every option. */
static void mask_all_options(const struct conf_instance *inst, const struct loaded_plugin *l,
                             struct arena *arena)
{
    const struct tc_option *const table = l ? l->plugin.options : NULL;
    for (const struct conf_option *o = inst->options; o && o->key; o++) {
        struct tc_err err = {0};
        if (o->resolved)
            log_add_secret(o->value);
        else if (o->value)
            plugin_options_resolve_secrets(plugin_options_find_row(table, o->key), o, arena, &err);
    }
}

static void mask_secrets(const struct conf *conf)
{
    struct arena arena = {0};
    for (size_t i = 0; i < conf->n_instances; i++) {
        const struct conf_instance *const inst = &conf->instances[i];
        struct tc_err err = {0};
        struct loaded_plugin *const l =
            loader_probe_by_name(inst->plugin, (const char *const *)conf->plugin_dirs, &err);
        if (!l || loader_check_options(l, inst, conf->file, &err) < 0)
            mask_all_options(inst, l, &arena);
        loader_unref_plugin(l);
    }
    arena_fini(&arena);
}

/* ---- the actions; they return the exit status */

static int cmd_dead_print_failure(void)
{
    fputs("turncast: cannot read or change the dead letters; see the log\n", stderr);
    return EXIT_USAGE;
}

static int cmd_dead_print_missing(const char *id)
{
    fprintf(stderr, "turncast: no dead letter %s\n", id);
    return EXIT_TURN_ERROR;
}

static int cmd_dead_print_event(const char *id)
{
    fprintf(stderr,
            "turncast: dead letter %s is an event of a finished turn and cannot be retried; use "
            "show or drop\n",
            id);
    return EXIT_TURN_ERROR;
}

static void cmd_dead_print_row(void *ctx, const struct journal_dead *d)
{
    char when[32];
    (void)ctx;
    clock_format_rfc3339((double)d->at / 1000, when);
    printf("%" PRId64 "  %.19sZ  ", d->id, when);
    cmd_dead_print_word(d->conn);
    printf("  %s of turn ", d->kind);
    cmd_dead_print_word(d->turn);
    if (*d->lane)
        fputs(" for ", stdout);
    cmd_dead_print_word(d->lane);
    printf(", attempts: %" PRId64 ": ", d->attempts);
    cmd_dead_print_word(d->reason);
    putchar('\n');
}

/* name: of the instance, or NULL; dead letters of a removed instance may remain. */
static int cmd_dead_print_none(const struct conf *conf, const char *name)
{
    CLEANUP_BUF struct buf hint = {0};
    puts("No dead letters.");
    if (!name || conf_instance_find(conf, name))
        return 0;
    conf_add_instance_hint(conf, name, &hint);
    fprintf(stderr, "turncast: unknown instance \"%s\"%s\n", name, hint.p ? hint.p : "");
    return 0;
}

static void cmd_dead_print_listed(void *ctx, const struct journal_dead *d)
{
    *(bool *)ctx = true;
    cmd_dead_print_row(NULL, d);
}

static int cmd_dead_list(const struct conf *conf, struct journal *j, const char *name)
{
    bool any = false;
    if (journal_dead_list(j, name, cmd_dead_print_listed, &any) != JOURNAL_DONE)
        return cmd_dead_print_failure();
    return any ? 0 : cmd_dead_print_none(conf, name);
}

static void cmd_dead_print_all(void *ctx, const struct journal_dead *d)
{
    cmd_dead_print_row(ctx, d);
    print_body(d->body);
}

static enum journal_status cmd_dead_show_one(struct journal *j, int64_t id)
{
    return journal_dead_get(j, id, cmd_dead_print_all, NULL);
}

static enum journal_status cmd_dead_retry_one(struct journal *j, int64_t id)
{
    const int64_t last = journal_last_seq(j);
    return last < 0 ? JOURNAL_FAILED : journal_dead_retry(j, id, last + 1);
}

/* Applies the action to each id; an unknown id does not stop the others. */
static int cmd_dead_apply_to_each(struct journal *j, char *const *ids, int n,
                                  enum journal_status (*act)(struct journal *j, int64_t id))
{
    int exit_status = 0;
    for (int i = 0; i < n; i++) {
        const enum journal_status status = act(j, strtoll(ids[i], NULL, 10));
        if (status == JOURNAL_NO_CHANGE)
            exit_status = cmd_dead_print_missing(ids[i]);
        else if (status == JOURNAL_REFUSED)
            exit_status = cmd_dead_print_event(ids[i]);
        else if (status != JOURNAL_DONE)
            return cmd_dead_print_failure();
    }
    return exit_status;
}

static const struct action {
    const char *name;
    enum journal_status (*act)(struct journal *j, int64_t id); /* NULL: list */
} actions[] = {
    {"list", NULL},
    {"show", cmd_dead_show_one},
    {"retry", cmd_dead_retry_one},
    {"drop", journal_dead_delete},
};

static const struct action *cmd_dead_find_action(const char *name)
{
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
        if (strcmp(actions[i].name, name) == 0)
            return &actions[i];
    return NULL;
}

static bool cmd_dead_is_id(const char *word)
{
    const size_t n = strlen(word);
    return n > 0 && n < 19 && strspn(word, "0123456789") == n;
}

/* Checks the operands of the action. 0, or the exit status. */
static int cmd_dead_check_operands(const struct action *a, char *const *words, int n)
{
    if (!a->act)
        return n < 2 ? 0 : args_usage_error(&cmd_dead, "list takes at most one instance name");
    if (n == 0)
        return args_usage_error(&cmd_dead, "%s requires the number of a dead letter", a->name);
    for (int i = 0; i < n; i++)
        if (!cmd_dead_is_id(words[i]))
            return args_usage_error(&cmd_dead, "invalid dead letter number \"%s\"", words[i]);
    return 0;
}

/* A missing state has no dead letters, and none is created. */
static bool cmd_dead_has_journal(const struct conf *conf)
{
    CLEANUP_FREE char *file = xasprintf("%s/state.db", conf->state_dir);
    return access(file, F_OK) == 0 || (errno != ENOENT && errno != ENOTDIR);
}

/* Asks the running host, because the host numbers outbound requests. -1: no host runs. */
static int cmd_dead_retry_on_host(const struct conf *conf, char *const *ids, int n)
{
    int exit_status = 0;
    for (int i = 0; i < n; i++) {
        CLEANUP_FREE char *path = xasprintf("/dead/%s/retry", ids[i]);
        struct control_response c;
        if (control_client_call(&c, conf, "POST", path, NULL) < 0)
            return EXIT_TURN_ERROR;
        const int answered = c.status;
        control_client_fini(&c);
        if (!answered)
            return -1;
        if (answered == 404)
            exit_status = cmd_dead_print_missing(ids[i]);
        else if (answered == 409)
            exit_status = cmd_dead_print_event(ids[i]);
        else if (answered != 202)
            return cmd_dead_print_failure();
    }
    return exit_status;
}

static int cmd_dead_run_action(const struct conf *conf, const struct action *a, char *const *words,
                               int n)
{
    if (!cmd_dead_has_journal(conf))
        return a->act ? cmd_dead_print_missing(words[0])
                      : cmd_dead_print_none(conf, n ? words[0] : NULL);
    struct tc_err err = {0};
    const int by_host = a->act == cmd_dead_retry_one ? cmd_dead_retry_on_host(conf, words, n) : -1;
    if (by_host >= 0)
        return by_host;
    const bool beside = a->act != cmd_dead_retry_one; /* a retry inserts an outbound request, whose
                                                       * number the host assigns */
    struct journal *const j =
        journal_open(&(struct journal_spec){.dir = conf->state_dir, .beside = beside}, &err);
    if (!j) {
        command_conf_print_error(&err);
        return EXIT_USAGE;
    }
    const int status = a->act ? cmd_dead_apply_to_each(j, words, n, a->act)
                              : cmd_dead_list(conf, j, n ? words[0] : NULL);
    journal_close(j);
    return status;
}

static int cmd_dead_run(const struct args *args)
{
    const struct action *const a = cmd_dead_find_action(args->operands[0]);
    char *const *const words = args->operands + 1;
    const int n = args->n_operands - 1;
    if (!a)
        return args_usage_error(&cmd_dead,
                                "unknown subcommand \"%s\"; use list, show, retry or drop",
                                args->operands[0]);
    int status = cmd_dead_check_operands(a, words, n);
    if (status)
        return status;
    struct conf *conf = command_conf_load(args);
    if (!conf)
        return EXIT_USAGE;
    if (!a->act || a->act == cmd_dead_show_one)
        mask_secrets(conf);
    status = cmd_dead_run_action(conf, a, words, n);
    conf_unref(conf);
    return status;
}

const struct cli_command cmd_dead = {
    .name = "dead",
    .operands = "list [INSTANCE] | show ID... | retry ID... | drop ID...",
    .summary = "Lists, resends or deletes undeliverable messages (dead letters)",
    .about = "After retry, the running host sends the message at once, else the next one. Exit\n"
             "status: 1 the dead letter does not exist.",
    .args = rows,
    .min = 1,
    .max = 1000,
    .run = cmd_dead_run,
};
