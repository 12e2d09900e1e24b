/* SPDX-License-Identifier: MIT
 * `turncast init`: writes a first configuration for the installed agents, checks it, tests the
 * credentials of a connector, and runs a first turn. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/language.h"
#include "cli/command_table.h"
#include "cli/init/init_ask.h"
#include "cli/init/init_plan.h"
#include "cli/inspect/conf_check.h"
#include "cli/inspect/finding_report.h"
#include "cli/inspect/probe/service_probe.h"
#include "cli/oneshot_host.h"
#include "conf/default_paths.h"

#define GREETING "Say hello in one short sentence."
#define TRIES 3 /* attempts to enter options that the service accepts */

static const struct args_option rows[] = {
    {'c', ARG_TEXT, "config", "FILE", offsetof(struct args, config),
     "file to write; default: $TURNCAST_CONFIG or\n~/.config/turncast/turncast.conf"},
    {'a', ARG_TEXT, "agent", "AGENT", offsetof(struct args, agent),
     "claude, codex, gemini, opencode, qwen or copilot;\ndefault: all that are installed"},
    {0, ARG_TEXT, "connector", "NAME", offsetof(struct args, init.connector),
     "also set up this connector for a service"},
    {0, ARG_REPEATED, "set", "OPTION=VALUE", 0,
     "option of the connector; can be repeated. A secret is\nenv:NAME or file:PATH"},
    {0, ARG_TEXT, "allow", "ID[,ID]...", offsetof(struct args, init.allow),
     "people who may write to the connector; default: those\nwith a pairing code"},
    {0, ARG_TEXT, "language", "LANGUAGE", offsetof(struct args, language),
     "what people read is in this language: en (default) or de"},
    {0, ARG_FLAG, "no-turn", NULL, offsetof(struct args, init.no_turn), "run no first turn"},
    {0, ARG_FLAG, "force", NULL, offsetof(struct args, init.force),
     "replace an existing file, and keep it as FILE.old"},
    {'y', ARG_FLAG, "yes", NULL, offsetof(struct args, init.yes), "ask nothing"},
    {0},
};

/* Written files, the configuration last. */
struct init_written {
    struct init_file files[INIT_SETTINGS_MAX + 1];
    size_t n;
};

/* ---- directory ---- */

static int cmd_init_choose_file(struct init_plan *plan)
{
    CLEANUP_FREE char *usual = plan->args->config ? NULL : conf_user_path();
    plan->file = arena_strdup(&plan->arena, plan->args->config ? plan->args->config : usual);
    if (access(plan->file, F_OK) < 0 || plan->args->init.force)
        return 0;
    fprintf(stderr, "turncast: %s: exists; use --force to replace it\n", plan->file);
    return EXIT_USAGE;
}

static int cmd_init_check_language(const struct init_plan *plan)
{
    const char *const name = plan->args->language;
    enum language unused;
    if (!name || language_find(name, &unused))
        return 0;
    CLEANUP_BUF struct buf known = {0};
    for (int i = 0; i < LANGUAGE_COUNT; i++)
        buf_printf(&known, "%s%s", i ? ", " : "", language_name((enum language)i));
    return args_usage_error(&cmd_init, "--language: invalid value \"%s\"; valid values: %s", name,
                            known.p);
}

/* ---- files ---- */

static void cmd_init_remove_written(struct init_written *written)
{
    while (written->n > 0) {
        init_file_undo(&written->files[--written->n]);
        init_file_fini(&written->files[written->n]);
    }
}

/* An old secret is not kept as a backup. */
static void cmd_init_remove_old_files(struct init_written *written)
{
    for (size_t i = 0; i < written->n; i++) {
        struct init_file *const file = &written->files[i];
        if (file->old && i + 1 < written->n)
            unlink(file->old);
        else if (file->old)
            printf("The old file is %s.\n", file->old);
        init_file_fini(file);
    }
    written->n = 0;
}

static int cmd_init_write_file(struct init_plan *plan, struct init_written *written,
                               const char *path, const char *text)
{
    struct tc_err err = {0};
    if (init_file_write(&written->files[written->n], path, text, strlen(text),
                        plan->args->init.force, &err) == 0) {
        written->n++;
        return 0;
    }
    command_conf_print_error(&err);
    return EXIT_USAGE;
}

static int cmd_init_write_secrets(struct init_plan *plan, struct init_written *written)
{
    int status = 0;
    for (size_t i = 0; i < plan->n_settings && status == 0; i++) {
        const struct init_setting *const s = &plan->settings[i];
        if (!s->secret)
            continue;
        CLEANUP_FREE char *line = xasprintf("%s\n", s->secret);
        status = cmd_init_write_file(plan, written, s->value + strlen("file:"), line);
        explicit_bzero(line, strlen(line));
    }
    return status;
}

static int cmd_init_write(struct init_plan *plan, struct init_written *written)
{
    CLEANUP_BUF struct buf text = {0};
    struct tc_err err = {0};
    if (init_file_make_directory(plan->file, &err) < 0) {
        command_conf_print_error(&err);
        return EXIT_USAGE;
    }
    const int status = cmd_init_write_secrets(plan, written);
    if (status)
        return status;
    init_text_write(plan, &text);
    return cmd_init_write_file(plan, written, plan->file, text.p);
}

/* ---- tests ---- */

static int cmd_init_ask_service(const struct init_plan *plan, const struct conf *conf)
{
    struct service_probes *const probes = service_probes_new(conf);
    const char *const name = plan->connector->plugin.name;
    struct service_probe *const probe =
        service_probes_add(probes, conf_instance_find(conf, name), plan->connector);
    int status = 0;
    if (probe) {
        service_probes_run(probes);
        const struct finding found = service_probe_get_finding(probe);
        printf("%s: %s%s%s\n", name, found.text, found.remedy ? "; " : "",
               found.remedy ? found.remedy : "");
        status = found.level == FINDING_ERROR ? EXIT_TURN_ERROR : 0;
    }
    service_probes_free(probes);
    return status;
}

static int cmd_init_check(const struct init_plan *plan)
{
    struct findings findings = {0};
    struct conf *const conf = conf_check_file(plan->file, &findings);
    int status = findings.errors ? EXIT_USAGE : 0;
    findings_sort(&findings);
    finding_report_print_lines(&findings);
    findings_fini(&findings);
    if (conf && status == 0 && plan->connector)
        status = cmd_init_ask_service(plan, conf);
    conf_unref(conf);
    return status;
}

static int cmd_init_apply_plan(struct init_plan *plan)
{
    struct init_written written = {.n = 0};
    int status = init_connector_set_options(plan);
    init_connector_apply_rules(plan);
    if (status == 0)
        status = init_connector_set_people(plan);
    if (status == 0)
        status = cmd_init_write(plan, &written);
    if (status == 0)
        status = cmd_init_check(plan);
    if (status)
        cmd_init_remove_written(&written);
    cmd_init_remove_old_files(&written);
    return status;
}

/* On a terminal, asks again for credentials that the service refused. */
static int cmd_init_configure(struct init_plan *plan)
{
    int status = EXIT_USAGE;
    for (int i = 0; i < TRIES; i++) {
        plan->n_settings = 0;
        status = cmd_init_apply_plan(plan);
        if (status != EXIT_TURN_ERROR || !plan->asks || plan->args->n_repeated)
            break;
    }
    if (status == 0)
        printf("Wrote %s.\n", plan->file);
    else
        fprintf(stderr, "turncast: no configuration was written\n");
    return status;
}

/* ---- the first turn ---- */

static int cmd_init_run_turn(const struct init_plan *plan)
{
    char connector[] = "cli", message[] = GREETING;
    char *connectors[] = {connector}, *operands[] = {message, NULL};
    const struct args turn = {.config = plan->file,
                              .agent = plan->chosen->kind->name,
                              .plugins = connectors,
                              .n_plugins = 1,
                              .operands = operands,
                              .n_operands = 1};
    CLEANUP_FREE char *question = xasprintf("Run a first turn with %s now?", turn.agent);
    if (plan->args->init.no_turn || (plan->asks && !init_ask_yes_no(question, true)))
        return 0;
    printf("Running a first turn: %s\n", message);
    fflush(stdout);
    const int status = cmd_run.run(&turn);
    if (status)
        fprintf(stderr, "turncast: the first turn failed; %s; or run: turncast doctor\n",
                plan->chosen->login ? "see above" : plan->chosen->kind->login);
    return status;
}

static void cmd_init_print_next(const struct init_plan *plan)
{
    CLEANUP_FREE char *usual = conf_user_path();
    const bool named = strcmp(usual, plan->file) != 0;
    CLEANUP_FREE char *option = named ? xasprintf(" -c %s", plan->file) : xstrdup("");
    if (plan->connector)
        printf("Next, run: turncast serve%s\n", option);
    else
        printf("Next, run: turncast run%s MESSAGE\n"
               "or, after adding a connector or http.listen: turncast serve%s\n",
               option, option);
}

static int cmd_init_run_plan(struct init_plan *plan)
{
    int status = cmd_init_check_language(plan);
    if (status == 0)
        status = cmd_init_choose_file(plan);
    if (status == 0)
        status = init_agents_find(plan);
    if (status == 0)
        status = init_connector_choose(plan);
    if (status == 0)
        status = cmd_init_configure(plan);
    if (status)
        return status;
    status = cmd_init_run_turn(plan);
    cmd_init_print_next(plan);
    return status;
}

static int cmd_init_run(const struct args *args)
{
    struct init_plan plan = {.args = args, .asks = !args->init.yes && init_ask_is_possible()};
    const int status = cmd_init_run_plan(&plan);
    for (size_t i = 0; i < plan.n_settings; i++)
        if (plan.settings[i].secret)
            explicit_bzero(plan.settings[i].secret, strlen(plan.settings[i].secret));
    loader_unref_plugin(plan.connector);
    arena_fini(&plan.arena);
    return status;
}

const struct cli_command cmd_init = {
    .name = "init",
    .operands = "",
    .summary = "Writes a first configuration",
    .about =
        "Finds the agents that are installed and whether they are logged in, writes a\n"
        "configuration of mode 0600, asks the service of the connector whether it accepts the\n"
        "token, and has the agent say hello. On a terminal it asks; a token is read without echo\n"
        "and stored in a file of its own. Exit status: 1 the service does not accept the token or\n"
        "the turn failed, 2 nothing can be written, 3 the agent could not be started.",
    .args = rows,
    .run = cmd_init_run,
};
