/* SPDX-License-Identifier: MIT
 * `turncast check`: validates a configuration or a plugin without running it. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/plural.h"
#include "cli/command_table.h"
#include "cli/inspect/conf_check.h"
#include "cli/inspect/finding_report.h"
#include "cli/inspect/plugin_describe.h"
#include "core/host/host_sharing.h"

static const struct args_option rows[] = {
    ARG_CONFIG,
    {0, ARG_FLAG, "json", NULL, offsetof(struct args, json), "print one JSON object"},
    {0}};

static int cmd_check_print(struct findings *findings, const struct conf *conf, const char *file,
                           bool json)
{
    findings_sort(findings);
    if (json)
        finding_report_print_json(findings, file);
    else
        finding_report_print_lines(findings);
    if (!json && conf && !findings->errors) {
        CLEANUP_BUF struct buf shared = {0};
        printf("%s: OK (%zu agent%s, %zu instance%s)\n", conf->file, conf->n_agents,
               PLURAL(conf->n_agents, "", "s"), conf->n_instances,
               PLURAL(conf->n_instances, "", "s"));
        if (host_sharing_describe(conf, &shared))
            printf("%s: hosts share %s\n", conf->file, shared.p);
    }
    return findings->errors ? EXIT_USAGE : 0;
}

static int check_conf(const char *path, bool json)
{
    struct findings findings = {0};
    struct conf *const conf = conf_check_file(path, &findings);
    const int status = cmd_check_print(&findings, conf, conf ? conf->file : path, json);
    conf_unref(conf);
    findings_fini(&findings);
    return status;
}

static int check_plugin(const char *path, bool json)
{
    struct findings findings = {0};
    struct tc_err err = {0};
    struct loaded_plugin *const l = loader_probe_file(path, &err);
    if (!l)
        findings_add_err(&findings, FINDING_ERROR, &err);
    else if (!json)
        plugin_describe_print(stdout, l);
    const int status = cmd_check_print(&findings, NULL, path, json);
    loader_unref_plugin(l);
    findings_fini(&findings);
    return status;
}

static int cmd_check_run(const struct args *args)
{
    const char *const file = args->config ? args->config : args->operands[0];
    if (args->config && args->operands[0])
        return args_usage_error(&cmd_check, "name one file: as an operand, or with --config");
    const size_t len = file && !args->config ? strlen(file) : 0;
    if (len > 3 && strcmp(file + len - 3, ".so") == 0)
        return check_plugin(file, args->json);
    CLEANUP_FREE char *found = file ? NULL : conf_default_path();
    return check_conf(file ? file : found, args->json);
}

const struct cli_command cmd_check = {
    .name = "check",
    .operands = "[CONFIG|FILE.so]",
    .summary = "Checks a configuration or a plugin",
    .about =
        "Without a file, checks the configuration that the other commands use. All errors are\n"
        "reported at once. No function of a plugin is called. Exit status: 2 there are errors.",
    .args = rows,
    .max = 1,
    .run = cmd_check_run,
};
